// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct EmbeddedIPv4Tests {
  private func embedded(_ text: String, _ prefixes: String...) throws -> [String] {
    let prefixes = try prefixes.map { try NAT64Prefix(IPNetwork(constant: $0)) }
    return EmbeddedIPv4(in: Sample.address(text), prefixes: prefixes).map(\.description)
  }

  @Test(arguments: ["::ffff:10.1.2.3", "::ffff:a01:203", "64:ff9b::10.1.2.3"])
  func `the mapped form and the well-known NAT64 prefix hold one`(_ text: String) throws {
    #expect(try embedded(text) == ["10.1.2.3"])
  }

  @Test(arguments: [
    "10.1.2.3", "::10.1.2.3", "::ffff:0:10.1.2.3", "64:ff9b:1::10.1.2.3", "2002:a01:203::", "2001:db8::10.1.2.3",
    "::1:ffff:10.1.2.3", "64:ff9b::1:10.1.2.3",
  ])
  func `other addresses hold none that traffic would reach`(_ text: String) throws {
    #expect(try embedded(text) == [])
  }

  @Test func `the network's own prefixes hold one each`() throws {
    #expect(try embedded("2001:db8::10.1.2.3", "2001:db8::/96") == ["10.1.2.3"])
    #expect(try embedded("64:ff9b:1::10.1.2.3", "2001:db8::/96", "64:ff9b:1::/96") == ["10.1.2.3"])
    #expect(try embedded("2001:db8:a01:203::192.0.2.1", "2001:db8::/32") == ["10.1.2.3"])
    #expect(
      try embedded("2001:db8:a01:203::c000:201", "2001:db8::/32", "2001:db8:a01:203::/96") == ["10.1.2.3", "192.0.2.1"])
  }

  @Test func `prefixes do not touch IPv4`() throws {
    #expect(try embedded("10.1.2.3", "2001:db8::/96") == [])
  }
}
