// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct FamilyRouteTests {
  @Test(arguments: IPAddress.Family.allCases)
  func `a route is there or not, as the resolver sees it`(_ family: IPAddress.Family) {
    #expect(family.hasRoute == Routes.exists(for: family))
  }
}
