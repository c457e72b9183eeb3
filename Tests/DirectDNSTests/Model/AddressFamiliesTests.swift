import Testing

@testable import DirectDNS

struct AddressFamiliesTests {
  private static let rows: [(AddressFamilies, String, [IPAddress.Family])] = [
    (.any, "any", [.ipv6, .ipv4]), (.ipv4, "ipv4", [.ipv4]), (.ipv6, "ipv6", [.ipv6]), ([], "none", []),
  ]

  @Test(arguments: rows)
  func `a set tells its name and its families, IPv6 first`(
    _ families: AddressFamilies, _ name: String, _ members: [IPAddress.Family]
  ) {
    #expect(families.description == name)
    #expect(families.members == members)
    #expect(AddressFamilies(members) == families)
    for family in IPAddress.Family.allCases { #expect(families.contains(family) == members.contains(family)) }
  }
}
