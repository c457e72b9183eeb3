// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct DNSRecordTests {
  @Test(arguments: [
    ("A", 1 as UInt16), ("aaaa", 28), ("Cname", 5), ("SOA", 6), ("OPT", 41), ("svcb", 64), ("HTTPS", 65),
    ("65", 65), ("TYPE65", 65), ("type1", 1), ("0", 0), ("65535", 65535), ("Loc", 29), ("nsap-ptr", 23),
    ("NSEC3PARAM", 51), ("uri", 256), ("DLV", 32769),
    ("NXNAME", 128), ("axfr", 252),
  ])
  func `a type is read from its mnemonic or number, in any case`(_ text: String, _ number: UInt16) {
    #expect(DNSRecordType(text)?.rawValue == number)
  }

  @Test(arguments: ["", "AA", "TYPE", "-1", "65536", "TYPE65536", "1.0", " A", "A ", "TYPETYPE1"])
  func `a text that names no type is refused`(_ text: String) { #expect(DNSRecordType(text) == nil) }

  @Test(
    arguments: [
      (.a, "A"), (.ns, "NS"), (.cname, "CNAME"), (.soa, "SOA"), (.ptr, "PTR"), (.mx, "MX"), (.txt, "TXT"),
      (.srv, "SRV"), (.dname, "DNAME"), (.aaaa, "AAAA"), (.opt, "OPT"), (.svcb, "SVCB"), (.https, "HTTPS"),
      (.any, "ANY"), (.caa, "CAA"),
    ] as [(DNSRecordType, String)])
  func `a type that has a name in the source is written and read as that`(_ type: DNSRecordType, _ text: String) {
    #expect(type.description == text && DNSRecordType(text) == type)
  }

  @Test func `what a type is written as names it again, and no other`() {
    for number in 0...UInt16(300) {
      let type = DNSRecordType(rawValue: number)
      #expect(DNSRecordType(type.description) == type)
    }
  }

  @Test func `a type is written as its mnemonic, or by its number as RFC 3597 has it`() {
    #expect(
      ["\(DNSRecordType.a)", "\(DNSRecordType.https)", "\(DNSRecordType(rawValue: 65280))"] == [
        "A", "HTTPS", "TYPE65280",
      ])
    #expect(
      (50...53 as ClosedRange<UInt16>).map { "\(DNSRecordType(rawValue: $0))" } == [
        "NSEC3", "NSEC3PARAM", "TLSA", "SMIMEA",
      ])
    #expect(DNSRecordType(.ipv4) == .a && DNSRecordType(.ipv6) == .aaaa)
  }

  @Test(arguments: [
    (0 as UInt32, 0 as UInt32), (1, 1), (604_800, 604_800), (604_801, 604_800), (0x7fff_ffff, 604_800),
    (0x8000_0000, 604_800), (.max, 604_800),
  ])
  func `a lifetime is seven days at most, and a high bit is a large number`(_ ttl: UInt32, _ lifetime: UInt32) {
    let record = DNSRecord(owner: .root, type: .a, ttl: ttl, data: .opaque([]))
    #expect(record.lifetime == lifetime)
    #expect(record.ttl == ttl)
  }

  @Test func `a record is written as a line of a zone's file`() throws {
    let owner = try #require(DNSName("Example.COM"))
    let mail = try #require(DNSName("mail.example.com."))
    var record = DNSRecord(owner: owner, type: .mx, ttl: 300, data: .mailExchange(preference: 10, exchange: mail))
    #expect(record.description == "example.com. 300 IN MX 10 mail.example.com.")
    record.recordClass = 3
    #expect(record.description == "example.com. 300 CLASS3 MX 10 mail.example.com.")
  }

  @Test func `a question is written as its name and type`() throws {
    let name = try #require(DNSName("shop.test"))
    #expect(DNSQuestion(name: name, type: .aaaa).description == "shop.test. AAAA")
    #expect(DNSQuestion(name: name, type: .a).recordClass == 1)
    #expect(DNSQuestion(name: name, type: .a, recordClass: 3).description == "shop.test. CLASS3 A")
  }
}
