// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct AddressFamiliesTests {
  @Test(
    arguments: [
      (AddressFamilies.any, "any", [IPAddress.Family.ipv6, .ipv4]), (.ipv4, "ipv4", [.ipv4]),
      (.ipv6, "ipv6", [.ipv6]),
      ([], "none", []),
    ] as [(AddressFamilies, String, [IPAddress.Family])])
  func `a set names itself and lists its families, IPv6 first`(
    _ families: AddressFamilies, _ text: String, _ members: [IPAddress.Family]
  ) {
    #expect(families.description == text)
    #expect(families.members == members)
    for family in IPAddress.Family.allCases { #expect(families.contains(family) == members.contains(family)) }
    #expect(AddressFamilies.any.filter { members.contains($0) } == families)
    #expect(families.filter { $0 == .ipv4 } == families.intersection(.ipv4))
  }

  @Test func `one family is a set`() {
    #expect(AddressFamilies(IPAddress.Family.ipv4) == .ipv4)
    #expect(AddressFamilies(IPAddress.Family.ipv6) == .ipv6)
    #expect(AddressFamilies.ipv4.union(.ipv6) == .any)
  }
}
