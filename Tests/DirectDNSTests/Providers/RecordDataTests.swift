// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct RecordDataTests {
  @Test func `a zone's authority has all of its numbers`() throws {
    let zone = RecordData.Authority(
      primary: .root, mailbox: .root, serial: 1, refresh: 2, retry: 3, expire: 4, minimum: 5)
    #expect(RecordData.startOfAuthority(zone).description == ". . 1 2 3 4 5")
  }

  @Test(arguments: [
    ("mx", DNSRecordType.mx), ("TYPE15", .mx), ("15", .mx), ("caa", .caa), ("TYPE65280", .init(rawValue: 65280)),
    ("ds", .init(rawValue: 43)), ("any", .any),
  ])
  func `a type is its name or its number`(_ text: String, _ type: DNSRecordType) {
    #expect(DNSRecordType(text) == type)
  }

  @Test(arguments: ["", "MXX", "TYPE", "TYPE65536", "-1", "TYPEMX"])
  func `what is neither is no type`(_ text: String) { #expect(DNSRecordType(text) == nil) }

  @Test(arguments: [
    (0, false), (1, true), (41, false), (127, true), (128, false), (250, false), (252, false), (255, true), (257, true),
    (65535, true),
  ])
  func `types of messages and transfers are not asked for`(_ number: UInt16, _ isAsked: Bool) {
    #expect(DNSRecordType(rawValue: number).isQueryable == isAsked)
  }
}

struct RecordDataTextTests {
  @Test(arguments: RecordSample.good)
  func `what is written can be read again`(_ sample: RecordSample) {
    let expected = RecordData(sample.data, type: sample.type)
    #expect(RecordData(sample.text, type: sample.type) == expected)
    // As Cloudflare spells types that it does not know.
    #expect(RecordData(PresentationText.generic(sample.data), type: sample.type) == expected)
  }

  @Test(
    arguments: [
      (.txt, "v=spf1 -all", #""v=spf1 -all""#), (.txt, #"a "b" c\d"#, #""a \"b\" c\\d""#), (.txt, "", #""""#),
      (.txt, #""a" "b""#, #""a" "b""#), (.txt, #""a""b""#, #""a" "b""#), (.txt, #""open"#, #""\"open""#),
      (.txt, "\"\u{301}a\"", #""\204\129a""#),
      (.cname, "Web.Example.COM", "web.example.com."), (.ns, ".", "."), (.mx, "10  Mail.Example.", "10 mail.example."),
      (.caa, #"0 issue letsencrypt.org"#, #"0 issue "letsencrypt.org""#),
      (.https, "1 . alpn=h3,h2 ipv4hint=192.0.2.1", #"1 . alpn="h3,h2" ipv4hint=192.0.2.1"#),
      (.https, #"1 . ipv4hint="192.0.2.1" alpn="h2""#, #"1 . alpn="h2" ipv4hint=192.0.2.1"#),
      (.aaaa, "2001:DB8:0::1", "2001:db8::1"), (.init(rawValue: 43), "12345 8 2 ABCD", "12345 8 2 ABCD"),
      (.init(rawValue: 43), "\u{1b}[31m", "\\u{1B}[31m"), (.a, ##"\# 4 c0 00 02 01"##, "192.0.2.1"),
      (.a, ##"\# 3 c00002"##, ##"\# 3 C00002"##),
    ] as [(DNSRecordType, String, String)])
  func `each provider's spelling becomes one`(_ type: DNSRecordType, _ text: String, _ expected: String) {
    #expect(RecordData(text, type: type)?.description == expected)
  }

  @Test func `a text of a provider that leaves quotes out is cut into strings of 255 bytes`() {
    let text = String(repeating: "x", count: 600)
    guard case .text(let strings)? = RecordData(text, type: .txt) else { return #expect(Bool(false)) }
    #expect(strings.map(\.count) == [255, 255, 90])
  }

  @Test func `so is each string in quotes, and the quotes are no part of it`() {
    let long = String(repeating: "x", count: 300)
    guard case .text(let strings)? = RecordData("\"\(long)\" \"y\"", type: .txt) else { return #expect(Bool(false)) }
    #expect(strings.map(\.count) == [255, 45, 1])
    #expect(strings.joined().allSatisfy { $0 != UInt8(ascii: "\"") })
  }

  @Test(
    arguments: [
      (.a, "2001:db8::1"), (.a, "192.0.2.1 1"), (.a, ""), (.aaaa, "192.0.2.1"), (.cname, "a b"), (.cname, ""),
      (.cname, "a..b"), (.mx, "mail.example."), (.mx, "65536 mail."), (.mx, "-1 mail."), (.mx, "10 a..b"),
      (.srv, "1 2 3"), (.srv, "1 2 65536 a."), (.soa, "ns. host. 1 2 3 4"), (.soa, "ns. host. 1 2 3 4 4294967296"),
      (.caa, "0 issue"), (.caa, "256 issue x"), (.caa, #"0 i! x"#), (.https, "1"), (.https, "x ."),
      (.https, "1 . port=x"), (.https, "1 . alpn="), (.https, "1 . port=1 port=2"), (.https, "1 . nonsense=1"),
      (.https, "1 . ipv4hint=2001:db8::1"), (.https, "1 . key01=x"), (.https, "1 . ech=***"), (.a, ##"\# 4 c00002"##),
      (.mx, #""open"#), (.cname, #""""#), (.mx, #"10 """#),
    ] as [(DNSRecordType, String)])
  func `what is no data of its type is none`(_ type: DNSRecordType, _ text: String) {
    #expect(RecordData(text, type: type) == nil)
  }
}
