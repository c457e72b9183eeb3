// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct SystemPackagesTests {
  @Test func `the libraries tell their versions`() {
    let packages = SystemPackages()
    for version in [packages.curl, packages.cares, packages.idn, packages.psl] {
      #expect(version.first?.isNumber == true && version.contains("."))
    }
    #expect(packages.tls?.contains("/") == true)
  }

  @Test func `a route is there or not, as the resolver sees it`() {
    #expect(SystemPackages.hasRoute(for: .ipv6) == Routes.exists(for: .ipv6))
  }
}
