// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct ServiceBindingTests {
  private func binding(_ parameters: [UInt16: [UInt8]]) -> ServiceBinding {
    ServiceBinding(priority: 1, target: .root, parameters: parameters)
  }

  @Test(
    arguments: [
      ([2, 0x68, 0x32], ["h2"]), ([2, 0x68, 0x33, 2, 0x68, 0x32], ["h3", "h2"]), ([], []),
      ([3, 0x68, 0x32], []), ([2, 0x68, 0x32, 9], []), ([0], []), ([255], []),
    ] as [([UInt8], [String])])
  func `alpn is a list of texts, each behind its length`(_ value: [UInt8], _ expected: [String]) {
    #expect(binding([1: value]).alpn == expected)
  }

  @Test(
    arguments: [([0x20, 0xfb], 8443), ([0, 0], 0), ([1], nil), ([], nil), ([1, 2, 3], nil)]
      as [([UInt8], UInt16?)])
  func `a port is two bytes`(_ value: [UInt8], _ expected: UInt16?) {
    #expect(binding([3: value]).port == expected)
  }

  @Test func `hints are whole addresses of both families, IPv4 first`() throws {
    let four: [UInt8] = [192, 0, 2, 7, 192, 0, 2, 8]
    let six: [UInt8] = [0x20, 1, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [9]
    #expect(
      binding([4: four, 6: six]).hints.map(\.description) == ["192.0.2.7", "192.0.2.8", "2001:db8::9"])
    let malformed = binding([4: [192, 0, 2, 7, 5], 6: [1]])
    #expect(malformed.hints == [] && RecordData.binding(malformed).description == "1 . ipv4hint= ipv6hint=")
    #expect(binding([:]).hints == [])
  }

  @Test func `what is missing is nothing`() {
    #expect(binding([:]).alpn == [] && binding([:]).port == nil)
  }
}

/// The test vectors of RFC 9460, appendix D, and what they leave out.
struct ServiceBindingTextTests {
  /// Data, how it is written here, and how the RFC or others write it.
  private static let vectors: [(data: String, text: String, spelled: String)] = [
    ("0000 03'foo'07'example'03'com'00", "0 foo.example.com.", "0 foo.example.com."),
    ("0001 00", "1 .", "1 ."),
    ("0010 03'foo'07'example'03'com'00 0003 0002 0035", "16 foo.example.com. port=53", "16 foo.example.com. port=53"),
    (
      "0001 03'foo'07'example'03'com'00 029b 0005 'hello'", #"1 foo.example.com. key667="hello""#,
      "1 foo.example.com. key667=hello"
    ),
    (
      "0001 03'foo'07'example'03'com'00 029b 0009 'hello' d2 'qoo'", #"1 foo.example.com. key667="hello\210qoo""#,
      #"1 foo.example.com. key667="hello\210qoo""#
    ),
    (
      "0001 03'foo'07'example'03'com'00 0006 0020 20010db8 00000000 00000000 00000001 20010db8 00000000 00000000 00530001",
      "1 foo.example.com. ipv6hint=2001:db8::1,2001:db8::53:1",
      #"1 foo.example.com. ipv6hint="2001:db8::1,2001:db8::53:1""#
    ),
    (
      "0001 07'example'03'com'00 0006 0010 20010db8 0122 0344 0000 0000 c000 0221",
      "1 example.com. ipv6hint=2001:db8:122:344::c000:221", "1 example.com. ipv6hint=2001:db8:122:344::192.0.2.33"
    ),
    (
      "0010 03'foo'07'example'03'org'00 0000 0004 0001 0004 0001 0009 02'h2'05'h3-19' 0004 0004 c0000201",
      #"16 foo.example.org. mandatory=alpn,ipv4hint alpn="h2,h3-19" ipv4hint=192.0.2.1"#,
      "16 foo.example.org. alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1"
    ),
    (
      "0010 03'foo'07'example'03'org'00 0001 000c 08'f\\oo,bar'02'h2'", #"16 foo.example.org. alpn="f\\\\oo\\,bar,h2""#,
      #"16 foo.example.org. alpn=f\\\092oo\092,bar,h2"#
    ),
    (
      "0001 00 0001 0003 02'h2' 0002 0000 0005 0003 fbff00 0007 0010 '/dns-query{?dns}'",
      #"1 . alpn="h2" no-default-alpn ech=+/8A dohpath="/dns-query{?dns}""#,
      #"1 . alpn=h2 no-default-alpn ech=+/8A dohpath=/dns-query{?dns}"#
    ),
    ("0001 00 ffff 0000", "1 . key65535", "1 . key65535="),
  ]

  @Test(arguments: vectors)
  func `a binding is written as RFC 9460 has it`(_ vector: (data: String, text: String, spelled: String)) {
    #expect(RecordData(wire(vector.data), type: .svcb).description == vector.text)
  }

  @Test(arguments: [
    ("0001 00 0000 0002 0003", "1 . mandatory=port"),
    ("0001 00 0000 0004 0001 0003 0001 0003 02'h2'", #"1 . mandatory=alpn,port alpn="h2""#),
    ("0001 00 0002 0000", "1 . no-default-alpn"),
  ])
  func `a binding that speaks of a parameter that it lacks is malformed`(_ data: String, _ text: String) {
    #expect(RecordData(wire(data), type: .https).description.hasPrefix("\\# "))
    #expect(RecordData(text, type: .https) == nil)
  }

  @Test(arguments: vectors)
  func `and read, however it is spelled`(_ vector: (data: String, text: String, spelled: String)) {
    let expected = RecordData(wire(vector.data), type: .https)
    for text in [vector.text, vector.spelled] { #expect(RecordData(text, type: .https) == expected, "\(text)") }
  }
}
