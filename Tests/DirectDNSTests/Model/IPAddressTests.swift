// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS

struct IPAddressTests {
  @Test(arguments: ["", "192.0.2.256", "[::1]", "192.0.2.1:53", "fe80::1%eth0", "0x7f.1", "example.com"])
  func `an address of a configuration is read, or refused by its text`(_ text: String) throws {
    #expect(try IPAddress(parsing: "2001:DB8::1") == IPAddress("2001:db8::1"))
    let error = #expect(throws: DirectDNSError.self) { try IPAddress(parsing: text) }
    #expect(error?.code == .invalidConfiguration && error?.message.contains("\"\(text)\" is not an IP address") == true)
  }

  @Test(arguments: [
    ("198.51.100.7", 0xC633_6407), ("0.0.0.0", 0), ("255.255.255.255", UInt32.max),
    ("10.20.30.40", 0x0A14_1E28),
  ])
  func `a dotted quad of four decimal numbers is an IPv4 address`(_ text: String, _ value: UInt32) throws {
    let address = try #require(IPAddress(text))
    #expect(address == .ipv4(value))
    #expect(address.family == .ipv4)
    #expect(address.description == text)
  }

  @Test(arguments: [("192.0.2.1", "192.0.2.1"), ("2001:db8::1", "[2001:db8::1]")])
  func `before a port IPv6 stands in brackets`(_ text: String, _ bracketed: String) throws {
    #expect(try #require(IPAddress(text)).bracketed == bracketed)
  }

  @Test(arguments: [
    "", ".", "1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.04", "1.2.3.256", "1.2.3.1000", "1.2.3.",
    ".1.2.3.4",
    "1..3.4", " 1.2.3.4", "1.2.3.4 ", "1.2.3.-4", "0x1.2.3.4", "1.2.3.4\n", "１.2.3.4", "1.2.3.4/8",
    "4294967295",
  ])
  func `nothing looser than a dotted quad is an IPv4 address`(_ text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test(arguments: [
    ("::", 0, 0), ("::1", 0, 1), ("2001:db8::", 0x2001_0db8_0000_0000, 0),
    ("2001:DB8:0:0:8:800:200C:417A", 0x2001_0db8_0000_0000, 0x0008_0800_200c_417a),
    ("1:2:3:4:5:6:7::", 0x0001_0002_0003_0004, 0x0005_0006_0007_0000),
    ("::2:3:4:5:6:7:8", 0x0000_0002_0003_0004, 0x0005_0006_0007_0008),
    ("fe80::9abc:1", 0xfe80_0000_0000_0000, 0x9abc_0001),
    ("64:ff9b::192.0.2.33", 0x0064_ff9b_0000_0000, 0xC000_0221),
    ("1:2:3:4:5:6:192.0.2.33", 0x0001_0002_0003_0004, 0x0005_0006_C000_0221),
  ])
  func `every form of RFC 4291 is an IPv6 address`(_ text: String, _ high: UInt64, _ low: UInt64) throws {
    let address = try #require(IPAddress(text))
    #expect(address == .ipv6(high: high, low: low))
    #expect(address.family == .ipv6)
  }

  @Test(arguments: [
    ":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:", ":1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "12345::", "g::", "::1%eth0", "::1%25lo", "[::1]", " ::1",
    "::1 ",
    "::1.2.3", "::1.2.3.04", "1.2.3.4::", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3.4:5", "::-1", "::0x1",
  ])
  func `a zone, brackets, spaces or a wrong number of groups make no IPv6 address`(_ text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test(arguments: [
    ("2001:0DB8:0:0:0:0:0:00A1", "2001:db8::a1"), ("0:0:0:0:0:0:0:0", "::"), ("0:0:0:0:0:0:0:1", "::1"),
    ("fd00:0:0:1:0:0:0:1", "fd00:0:0:1::1"), ("fd00:0:0:1:0:0:2:3", "fd00::1:0:0:2:3"),
    ("1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"), ("1:2:3:4:5:6:0:0", "1:2:3:4:5:6::"),
    ("::ffff:c633:6407", "::ffff:198.51.100.7"), ("::c633:6407", "::c633:6407"),
  ])
  func `the text of an IPv6 address follows RFC 5952`(_ text: String, _ canonical: String) throws {
    #expect(try #require(IPAddress(text)).description == canonical)
  }

  @Test func `an IPv4-mapped address stays an IPv6 address`() throws {
    let mapped = try #require(IPAddress("::ffff:198.51.100.7"))
    #expect(mapped.family == .ipv6)
    #expect(mapped != IPAddress("198.51.100.7"))
    #expect(mapped.isIPv4Mapped)
    #expect(mapped.unmapped == IPAddress("198.51.100.7"))
    #expect(try #require(IPAddress("::c633:6407")).unmapped == IPAddress("::c633:6407"))
  }

  @Test func `bytes are in network order, and only 4 or 16 of them are an address`() throws {
    #expect(IPAddress.ipv4(0x7F00_0001).bytes == [127, 0, 0, 1])
    let long = try #require(IPAddress("2001:db8:1:2:3:4:5:60"))
    #expect(long.bytes == [0x20, 1, 0x0d, 0xb8, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 0x60])
    #expect(IPAddress(bytes: long.bytes) == long)
    #expect(IPAddress(bytes: [127, 0, 0, 1]) == .ipv4(0x7F00_0001))
    for count in [0, 3, 5, 15, 17] { #expect(IPAddress(bytes: [UInt8](repeating: 1, count: count)) == nil) }
  }

  @Test func `addresses are ordered by family, then by value`() {
    let texts = ["9.0.0.0", "10.0.0.0", "::", "::2", "1::"]
    let sorted = texts.reversed().compactMap { IPAddress($0) }.sorted()
    #expect(sorted.map(\.description) == texts)
  }

  @Test(arguments: [
    ("127.0.0.1", true), ("127.255.0.9", true), ("128.0.0.1", false), ("126.255.255.255", false),
    ("::1", true),
    ("::2", false), ("1::1", false), ("::ffff:127.0.0.1", true), ("::ffff:128.0.0.1", false),
    ("::127.0.0.1", false),
  ])
  func `loopback is 127.0.0.0-8 in either family's spelling, and one IPv6 address`(
    _ text: String, _ expected: Bool
  ) {
    #expect(IPAddress(text)?.isLoopback == expected)
  }

  @Test func `an address is coded as its text`() throws {
    let addresses = [IPAddress.ipv4(1), .ipv6(high: 1, low: 2)]
    let json = try JSONEncoder().encode(addresses)
    #expect(String(decoding: json, as: UTF8.self) == #"["0.0.0.1","::1:0:0:0:2"]"#)
    #expect(try JSONDecoder().decode([IPAddress].self, from: json) == addresses)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([IPAddress].self, from: Data(#"["1.2"]"#.utf8))
    }
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func `reading the text of any address gives the address`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      // Groups of zeros are made likely, because compression is about them.
      let groups = (0..<16).map { _ in
        Bool.random(using: &random) ? UInt8.random(in: 0...255, using: &random) : 0
      }
      for bytes in [groups, Array(groups.prefix(4))] {
        let address = IPAddress(bytes: bytes)
        #expect(address.flatMap { IPAddress($0.description) } == address)
        #expect(address?.bytes == bytes)
      }
    }
  }
}
