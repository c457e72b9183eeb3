// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct NAT64PrefixTests {
  // The table of RFC 6052 §2.4.
  @Test(arguments: [
    ("2001:db8::/32", "2001:db8:c000:221::"), ("2001:db8:100::/40", "2001:db8:1c0:2:21::"),
    ("2001:db8:122::/48", "2001:db8:122:c000:2:2100::"), ("2001:db8:122:300::/56", "2001:db8:122:3c0:0:221::"),
    ("2001:db8:122:344::/64", "2001:db8:122:344:c0:2:2100::"),
    ("2001:db8:122:344::/96", "2001:db8:122:344::192.0.2.33"), ("64:ff9b::/96", "64:ff9b::192.0.2.33"),
  ])
  func `the IPv4 address is read as RFC 6052 writes it`(_ prefix: String, _ address: String) throws {
    let prefix = try NAT64Prefix(IPNetwork(constant: prefix))
    #expect(prefix.ipv4(in: Sample.address(address)) == Sample.address("192.0.2.33"))
  }

  @Test(arguments: [32, 40, 48, 56, 64, 96])
  func `every bit of the IPv4 address is read, and none besides`(length: Int) throws {
    let base: UInt128 = 0x2001_0db8_0000_0000_0000_0000_0000_0000
    func address(_ value: UInt128) -> IPAddress {
      .ipv6(high: UInt64(truncatingIfNeeded: value >> 64), low: UInt64(truncatingIfNeeded: value))
    }
    let prefix = try NAT64Prefix(#require(IPNetwork(address: address(base), prefixLength: length)))
    var bits = (length..<128).filter { length == 96 || !(64..<72).contains($0) }
    for (place, bit) in bits.prefix(32).enumerated() {
      #expect(prefix.ipv4(in: address(base | 1 << UInt128(127 - bit))) == .ipv4(1 << UInt32(31 - place)))
    }
    bits.removeFirst(32)
    for bit in bits + (length < 96 ? Array(64..<72) : []) {
      #expect(prefix.ipv4(in: address(base | 1 << UInt128(127 - bit))) == .ipv4(0))
    }
  }

  @Test func `an address elsewhere holds none`() {
    #expect(NAT64Prefix.wellKnown.ipv4(in: Sample.address("64:ff9b:1::1")) == nil)
    #expect(NAT64Prefix.wellKnown.ipv4(in: Sample.address("192.0.2.1")) == nil)
    #expect(NAT64Prefix.wellKnown.description == "64:ff9b::/96")
  }

  @Test(arguments: [
    ("10.0.0.0/8", "length 32, 40, 48, 56, 64 or 96"), ("192.0.2.1/32", "length 32"),
    ("2001:db8::/33", "length 32, 40, 48, 56, 64 or 96"), ("::/0", "length 32"), ("2001:db8::/128", "length 32"),
    ("2001:db8:0:0:ff00::/96", "bits 64 to 71"), ("2001:db8:0:0:100::/96", "bits 64 to 71"),
  ])
  func `a prefix that no translator can have is refused, and says why`(_ text: String, _ part: String) {
    let network = IPNetwork(constant: text)
    let error = #expect(throws: DirectDNSError.self) { try NAT64Prefix(network) }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message.contains("\(network) is not a NAT64 prefix") == true)
    #expect(error?.message.contains(part) == true)
  }

  @Test func `bits 64 to 71 are free of rules below the prefix alone`() throws {
    #expect(try NAT64Prefix(IPNetwork(constant: "2001:db8:0:0:ff:ffff::/96")).network.prefixLength == 96)
  }
}

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
