// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS

struct IPNetworkTests {
  @Test(arguments: [
    ("10.0.0.0/8", "10.255.255.255", true), ("10.0.0.0/8", "11.0.0.0", false),
    ("0.0.0.0/0", "203.0.113.9", true),
    ("192.0.2.128/25", "192.0.2.127", false), ("192.0.2.128/25", "192.0.2.128", true),
    ("192.0.2.5/32", "192.0.2.5", true), ("192.0.2.5/32", "192.0.2.4", false), ("fe80::/10", "febf::1", true),
    ("fe80::/10", "fec0::1", false), ("2001:db8::/64", "2001:db8::ffff", true),
    ("2001:db8::/64", "2001:db8:0:1::", false), ("2001:db8::/65", "2001:db8::8000:0:0:0", false),
    ("::/0", "ffff::", true), ("::1/128", "::1", true), ("::1/128", "::", false),
  ])
  func `a network contains the addresses that share its first bits`(
    _ network: String, _ address: String, _ expected: Bool
  ) throws {
    #expect(try #require(IPNetwork(network)).contains(#require(IPAddress(address))) == expected)
  }

  @Test(arguments: [
    ("0.0.0.0/0", "::"), ("::/0", "0.0.0.0"), ("::/96", "1.2.3.4"), ("::ffff:0:0/96", "1.2.3.4"),
  ])
  func `a network never contains an address of the other family`(_ network: String, _ address: String) throws {
    #expect(try !#require(IPNetwork(network)).contains(#require(IPAddress(address))))
  }

  @Test(arguments: [
    ("10.1.2.3/8", "10.0.0.0/8"), ("192.0.2.255/31", "192.0.2.254/31"), ("203.0.113.9/0", "0.0.0.0/0"),
    ("2001:db8:ffff::1/33", "2001:db8:8000::/33"), ("2001:db8::ffff/112", "2001:db8::/112"),
    ("::1/0", "::/0"),
  ])
  func `bits beyond the prefix are cleared`(_ text: String, _ canonical: String) throws {
    let network = try #require(IPNetwork(text))
    #expect(network.description == canonical)
    #expect(network == IPNetwork(canonical))
  }

  @Test(arguments: [
    "", "/", "10.0.0.0", "10.0.0.0/", "/8", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0.0/+8",
    "10.0.0.0/08",
    "10.0.0.0/8/8", "10.0.0.0 /8", "10.0.0.0/ 8", "10/8", "10.0.0.0/255.0.0.0", "[::]/0",
    "10.0.0.0/99999999999999999999",
  ])
  func `an address without a decimal length that its family has is not a network`(_ text: String) {
    #expect(IPNetwork(text) == nil)
  }

  @Test func `a network of someone's configuration is read, or refused with the text shown`() throws {
    #expect(try IPNetwork(parsing: "10.1.2.3/8") == IPNetwork("10.0.0.0/8"))
    let error = #expect(throws: DirectDNSError.self) { try IPNetwork(parsing: "10.0.0.1") }
    #expect(error?.code == .invalidConfiguration)
    #expect(
      error?.message == "\"10.0.0.1\" is not a network: write 10.0.0.0/8, or 10.0.0.1/32 for one address.")
  }

  @Test func `a prefix length must fit the family`() {
    #expect(IPNetwork(address: .ipv4(0), prefixLength: 33) == nil)
    #expect(IPNetwork(address: .ipv4(0), prefixLength: -1) == nil)
    #expect(IPNetwork(address: .ipv6(high: 0, low: 0), prefixLength: 128) != nil)
    #expect(IPNetwork(address: .ipv6(high: 0, low: 0), prefixLength: 129) == nil)
  }

  @Test(arguments: [
    ("10.0.0.0/8", "10.255.255.255"), ("192.0.2.1/32", "192.0.2.1"), ("0.0.0.0/0", "255.255.255.255"),
    ("2001:db8::/33", "2001:db8:7fff:ffff:ffff:ffff:ffff:ffff"), ("::/0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("::1:0/112", "::1:ffff"), ("fe80::/64", "fe80::ffff:ffff:ffff:ffff"),
  ])
  func `the last address has every bit beyond the prefix`(_ network: String, _ last: String) throws {
    #expect(try #require(IPNetwork(network)).lastAddress == IPAddress(last))
  }

  @Test(arguments: [("192.0.2.1", "192.0.2.1/32"), ("2001:db8::1", "2001:db8::1/128"), ("0.0.0.0", "0.0.0.0/32")])
  func `an address alone is a network`(_ address: String, _ network: String) throws {
    let address = try #require(IPAddress(address))
    #expect(IPNetwork(address) == IPNetwork(network))
    #expect(IPNetwork(address).description == network)
    #expect(IPNetwork(address).contains(address))
    #expect(IPNetwork(address).lastAddress == address)
  }

  @Test func `a network is coded as its text`() throws {
    let network = try #require(IPNetwork("192.0.2.0/24"))
    let json = try JSONEncoder().encode([network])
    #expect(try JSONDecoder().decode([String].self, from: json) == ["192.0.2.0/24"])
    #expect(try JSONDecoder().decode([IPNetwork].self, from: json) == [network])
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([IPNetwork].self, from: Data(#"["x"]"#.utf8))
    }
  }
}
