// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct RecordDataTests {
  @Test func `a record is a line of a zone's file`() throws {
    let owner = try #require(DNSName("Example.COM"))
    let mail = try #require(DNSName("mail.example.com."))
    let record = ResourceRecord(
      owner: owner, type: .mx, ttl: 300, data: .mailExchange(preference: 10, exchange: mail))
    #expect(record.description == "example.com. 300 IN MX 10 mail.example.com.")
  }

  @Test func `a zone's authority has all of its numbers`() throws {
    let zone = RecordData.Authority(
      primary: .root, mailbox: .root, serial: 1, refresh: 2, retry: 3, expire: 4, minimum: 5)
    #expect(RecordData.authority(zone).description == ". . 1 2 3 4 5")
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
