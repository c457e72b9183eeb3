// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct RecordAnswerTests {
  private static func name(_ text: String) -> DNSName { DNSName(text) ?? .root }

  private static func record(_ owner: String, _ type: DNSRecordType, _ text: String) -> DNSRecord {
    DNSRecord(owner: name(owner), type: type, ttl: 60, data: RecordData(text, type: type) ?? .opaque([]))
  }

  private func answer(
    _ type: DNSRecordType, _ answers: [DNSRecord], _ code: DNSMessage.ResponseCode = .noError
  ) throws(ProviderFailure) -> RecordAnswer {
    try RecordAnswer(
      to: DNSQuestion(name: Self.name("a.example"), type: type), responseCode: code, answers: answers,
      isAuthenticated: false)
  }

  @Test func `records of the name and the type count, and no others`() throws {
    let found = try answer(
      .mx,
      [
        Self.record("a.example", .mx, "10 one."), Self.record("b.example", .mx, "20 stranger."),
        Self.record("a.example", .txt, "other"), Self.record("A.EXAMPLE", .mx, "30 two."),
      ])
    #expect(found.records.map(\.data.description) == ["10 one.", "30 two."])
    #expect(found.canonicalName == nil && !found.isNameMissing)
  }

  @Test func `an alias is followed to its end`() throws {
    let found = try answer(
      .mx,
      [
        Self.record("c.example", .mx, "10 one."), Self.record("a.example", .cname, "b.example."),
        Self.record("b.example", .cname, "c.example."),
      ])
    #expect(found.records.map(\.owner) == [Self.name("c.example")])
    #expect(found.canonicalName == Self.name("c.example"))
  }

  @Test func `an alias that is asked for is not followed`() throws {
    let found = try answer(
      .cname, [Self.record("a.example", .cname, "b.example."), Self.record("b.example", .cname, "c.example.")])
    #expect(found.records.map(\.data.description) == ["b.example."] && found.canonicalName == nil)
  }

  @Test func `ANY is all of the name's records`() throws {
    let found = try answer(.any, [Self.record("a.example", .mx, "10 one."), Self.record("a.example", .txt, "x")])
    #expect(found.records.count == 2)
  }

  @Test func `nothing of the type is no record, and NXDOMAIN is no name`() throws {
    #expect(try answer(.mx, []).records == [] && answer(.mx, []).isNameMissing == false)
    #expect(try answer(.mx, [], .nameError).isNameMissing)
    // Of an alias, it is the end that does not exist.
    let dangling = try answer(.mx, [Self.record("a.example", .cname, "b.example.")], .nameError)
    #expect(dangling.isNameMissing && dangling.canonicalName == Self.name("b.example"))
  }

  @Test func `records of other names alone are no negative answer`() throws {
    let stranger = Self.record("b.example", .mx, "10 stranger.")
    #expect(throws: ProviderFailure.foreignRecords(.mx)) { try answer(.mx, [stranger]) }
    #expect(throws: ProviderFailure.foreignRecords(.mx)) {
      try answer(.mx, [Self.record("a.example", .cname, "c.example."), stranger])
    }
    #expect(try answer(.mx, [Self.record("b.example", .txt, "other")]).records == [])
    #expect(try answer(.mx, [stranger], .nameError).isNameMissing)
  }

  @Test func `records beside NXDOMAIN do not count`() throws {
    let found = try answer(.mx, [Self.record("a.example", .mx, "10 one.")], .nameError)
    #expect(found.isNameMissing && found.records == [])
  }

  @Test func `a loop is a failure of the question, not of the server`() {
    let loop = [Self.record("a.example", .cname, "b.example."), Self.record("b.example", .cname, "a.example.")]
    #expect(throws: ProviderFailure(.response, "a CNAME chain of more than 16 links, or a loop")) {
      try answer(.mx, loop)
    }
  }

  @Test func `a referral is no negative answer`() throws {
    func read(_ flags: ResponseFlags, _ answers: [DNSRecord] = [], _ authority: [DNSRecordType]) throws -> Int {
      try RecordAnswer(
        to: DNSQuestion(name: Self.name("a.example"), type: .mx), responseCode: .noError, flags: flags,
        answers: answers, authority: authority, isAuthenticated: false
      ).records.count
    }
    #expect(throws: ProviderFailure.self) { try read(ResponseFlags(), [], [.ns]) }
    #expect(try read(ResponseFlags(), [], [.ns, .soa]) == 0)
    #expect(try read(ResponseFlags(), [Self.record("a.example", .mx, "10 one.")], [.ns]) == 1)
  }

  @Test(arguments: [DNSMessage.ResponseCode.serverFailure, .refused, .formatError, .init(rawValue: 16)])
  func `any other response code is a failure of the question, not of the server`(_ code: DNSMessage.ResponseCode) {
    #expect(throws: ProviderFailure(.response, "answered \(code)")) { try answer(.mx, [], code) }
  }
}
