// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct AnswerSectionTests {
  /// `OWNER TTL TYPE DATA`; a SOA's data is its MINIMUM.
  private static func record(_ text: String) throws -> DNSRecord {
    let parts = text.split(separator: " ").map(String.init)
    let owner = try #require(DNSName(parts[0]))
    let ttl = try #require(UInt32(parts[1]))
    let type = try #require(DNSRecordType(parts[2]))
    let data: DNSRecord.Data
    switch type {
    case .cname: data = .name(try #require(DNSName(parts[3])))
    case .soa:
      data = try #require(RecordData(". . 1 2 3 4 \(parts[3])", type: .soa))
    case .a, .aaaa: data = .address(try #require(IPAddress(parts[3])))
    default: data = .opaque([])
    }
    return DNSRecord(owner: owner, type: type, ttl: ttl, data: data)
  }

  private func outcome(
    _ answers: [String], _ authorities: [String] = [], _ type: DNSRecordType = .a,
    code: DNSMessage.ResponseCode = .noError, freshness: HTTPFreshness = .init()
  ) throws -> Result<Answer, ProviderFailure> {
    let question = DNSQuestion(name: try #require(DNSName("www.shop.test")), type: type)
    let records = (try answers.map(Self.record), try authorities.map(Self.record))
    do throws(ProviderFailure) {
      return .success(
        try AnswerSection.answer(
          to: question, responseCode: code, answers: records.0, authorities: records.1, freshness: freshness))
    } catch {
      return .failure(error)
    }
  }

  @Test(arguments: [
    ("www.shop.test", DNSRecordType.a, true), ("www.shop.test", .cname, true), ("www.shop.test", .aaaa, false),
    ("evil.test", .a, false), ("evil.test", .cname, false),
  ])
  func `a record whose data is malformed fails the answer that it belongs to, and no other`(
    _ owner: String, _ type: DNSRecordType, _ fails: Bool
  ) throws {
    let good = try Self.record("edge.test 60 A 192.0.2.1")
    let alias = try Self.record("www.shop.test 60 CNAME edge.test")
    let bad = DNSRecord(owner: try #require(DNSName(owner)), type: type, ttl: 60, data: .opaque([192, 0, 2]))
    let question = DNSQuestion(name: try #require(DNSName("www.shop.test")), type: .a)
    let answer = Result { () throws(ProviderFailure) in
      try AnswerSection.answer(
        to: question, responseCode: .noError, answers: [bad, alias, good], authorities: [bad], freshness: .init())
    }
    #expect((try? answer.get())?.addresses.isEmpty == (fails ? nil : false))
    if fails, case .failure(let failure) = answer {
      #expect(failure.reason.contains("a \(type) record of the answer"))
      // An alias is published by anybody, an address is written by the endpoint.
      #expect(failure.kind == (type == .cname ? .response : .transport))
    }
  }

  @Test(arguments: [
    (["www.shop.test 60 A 192.0.2.1"], "192.0.2.1 60"),
    (["WWW.shop.TEST 60 A 192.0.2.1", "www.shop.test 50 A 192.0.2.2"], "192.0.2.1,192.0.2.2 50"),
    (["www.shop.test 60 A 192.0.2.1", "www.shop.test 60 A 192.0.2.1"], "192.0.2.1 60"),
    (["www.shop.test 20 CNAME edge.test", "edge.test 90 A 192.0.2.1"], "192.0.2.1 20"),
    (["www.shop.test 90 CNAME edge.test", "edge.test 20 A 192.0.2.1"], "192.0.2.1 20"),
    (
      ["edge.test 90 A 192.0.2.1", "mid.test 10 CNAME edge.test", "www.shop.test 90 CNAME mid.test"],
      "192.0.2.1 10"
    ),
    (["www.shop.test 4294967295 A 192.0.2.1"], "192.0.2.1 604800"),
    (["www.shop.test 0 A 192.0.2.1"], "192.0.2.1 0"),
  ])
  func `addresses are those at the chain's end, and live as long as its shortest link`(
    _ answers: [String], _ expected: String
  ) throws {
    #expect(try outcome(answers).summary == expected)
  }

  @Test(arguments: [
    ["evil.test 600 A 203.0.113.66"], ["evil.test 1 A 203.0.113.66", "shop.test 1 A 203.0.113.67"],
    ["other.test 1 CNAME www.shop.test"], ["www.shop.test 1 AAAA 2001:db8::66"],
    ["a.www.shop.test 1 A 203.0.113.66"],
    ["evil.test 1 CNAME evil.test"],
  ])
  func `a record that does not belong to the chain changes nothing`(_ poison: [String]) throws {
    let good = ["www.shop.test 60 CNAME edge.test", "edge.test 60 A 192.0.2.1"]
    #expect(try outcome(poison + good).summary == "192.0.2.1 60")
    #expect(try outcome(good + poison).summary == "192.0.2.1 60")
    // By itself it is no negative answer either, which would replace a known one.
    let isOfTheType = poison.contains { $0.contains(" A ") }
    #expect(try outcome(poison).summary == (isOfTheType ? "response" : "NODATA -"))
    #expect(try outcome(poison, code: .nameError).summary == "NXDOMAIN -")
  }

  @Test func `an alias beside addresses of other names alone is no negative answer`() throws {
    let alias = "www.shop.test 60 CNAME edge.test"
    #expect(try outcome([alias, "evil.test 60 A 203.0.113.66"], ["edge.test 60 SOA 30"]).summary == "response")
    #expect(try outcome([alias, "evil.test 60 AAAA 2001:db8::66"], ["edge.test 60 SOA 30"]).summary == "NODATA 30")
  }

  @Test func `a record of another class is no answer`() throws {
    var record = try Self.record("www.shop.test 60 A 192.0.2.1")
    record.recordClass = 3
    let question = DNSQuestion(name: record.owner, type: .a)
    #expect(throws: ProviderFailure.foreignRecords(.a)) {
      try AnswerSection.answer(
        to: question, responseCode: .noError, answers: [record], authorities: [], freshness: .init())
    }
    // Nor does it say how long there is none, or where else to look.
    var others = [try Self.record("shop.test 60 SOA 30"), try Self.record("www.shop.test 60 CNAME edge.test")]
    for index in others.indices { others[index].recordClass = 3 }
    let none = try AnswerSection.answer(
      to: question, responseCode: .noError, answers: [others[1], try Self.record("edge.test 60 AAAA 2001:db8::1")],
      authorities: [others[0]], freshness: .init())
    #expect(none.content == .negative(.noAddress) && none.ttl == nil && none.canonicalName == nil)
  }

  @Test func `the end of the chain is the canonical name`() throws {
    let chain = [
      "www.shop.test 60 CNAME mid.test", "mid.test 60 CNAME edge.test", "edge.test 60 A 192.0.2.1",
    ]
    #expect(try outcome(chain).get().canonicalName?.text == "edge.test")
    #expect(try outcome(["www.shop.test 60 A 192.0.2.1"]).get().canonicalName == nil)
    #expect(
      try outcome([#"www.shop.test 60 CNAME a\032b.test"#, #"a\032b.test 60 A 192.0.2.1"#]).get()
        .canonicalName == nil)
  }

  private func links(_ count: Int) -> [String] {
    (0..<count).map { "\($0 == 0 ? "www.shop.test" : "n\($0).test") 60 CNAME n\($0 + 1).test" }
  }

  @Test func `sixteen links are followed, and no more`() throws {
    #expect(try outcome(links(16) + ["n16.test 60 A 192.0.2.1"]).summary == "192.0.2.1 60")
    #expect(try outcome(links(17) + ["n17.test 60 A 192.0.2.1"]).summary == "response")
  }

  @Test(arguments: [
    ["www.shop.test 60 CNAME www.shop.test"],
    ["www.shop.test 60 CNAME a.test", "a.test 60 CNAME www.shop.test"],
    ["www.shop.test 60 CNAME a.test", "a.test 60 CNAME b.test", "b.test 60 CNAME a.test"],
  ])
  func `a loop is a failure that says nothing of the endpoint's health, since anybody may publish one`(
    _ answers: [String]
  ) throws {
    #expect(try outcome(answers).summary == "response")
  }

  @Test func `a bounded number of addresses is kept`() throws {
    let many = (0..<200).map { "www.shop.test 60 A 192.0.2.\($0)" }
    #expect(try outcome(many).get().addresses.count == Answer.addressLimit)
  }

  @Test(arguments: [
    (["shop.test 100 SOA 30"], "NODATA 30"), (["shop.test 20 SOA 30"], "NODATA 20"), ([], "NODATA -"),
    (["test 100 SOA 30"], "NODATA 30"), ([". 100 SOA 30"], "NODATA 30"),
    (["www.shop.test 9 SOA 30"], "NODATA 9"),
    (["evil.test 100 SOA 30"], "NODATA -"), (["a.www.shop.test 100 SOA 30"], "NODATA -"),
    (["evil.test 1 SOA 1", "shop.test 100 SOA 40"], "NODATA 40"),
    (["shop.test 4294967295 SOA 4294967295"], "NODATA 604800"),
  ])
  func `a negative answer lives by the SOA of a zone that holds the name`(
    _ authorities: [String], _ expected: String
  ) throws {
    #expect(try outcome([], authorities).summary == expected)
    #expect(
      try outcome([], authorities, code: .nameError).summary
        == expected.replacing("NODATA", with: "NXDOMAIN"))
  }

  @Test func `a chain that ends in nothing is negative for its end, and lives no longer than the chain`()
    throws
  {
    let chain = ["www.shop.test 25 CNAME edge.other.test"]
    #expect(try outcome(chain).summary == "NODATA -")
    #expect(try outcome(chain, ["shop.test 100 SOA 60"]).summary == "NODATA -")
    #expect(try outcome(chain, ["other.test 100 SOA 60"]).summary == "NODATA 25")
    #expect(try outcome(chain, ["other.test 100 SOA 60"], code: .nameError).summary == "NXDOMAIN 25")
    #expect(try outcome(chain).get().canonicalName?.text == "edge.other.test")
  }

  @Test func `a server that names others has not said that there is none`() throws {
    let chain = "www.shop.test 25 CNAME edge.other.test"
    #expect(try outcome([], ["shop.test 60 NS -"]).summary == "response")
    #expect(try outcome([chain], ["other.test 60 NS -"]).summary == "response")
    // Who has a zone's SOA speaks for it, and NXDOMAIN needs no more.
    #expect(try outcome([], ["shop.test 60 NS -", "shop.test 60 SOA 30"]).summary == "NODATA 30")
    #expect(try outcome([], ["shop.test 60 NS -"], code: .nameError).summary == "NXDOMAIN -")
    #expect(try outcome(["www.shop.test 60 A 192.0.2.1"], ["shop.test 60 NS -"]).summary == "192.0.2.1 60")
  }

  @Test(arguments: [
    // By AA and RA, whether an empty section, one with an alias, and one with an SOA say that there is none.
    (false, true, [true, true, true]), (true, true, [true, true, true]), (true, false, [true, false, true]),
    (false, false, [false, false, true]),
  ])
  func `who looks nothing up for others speaks for its own zones alone`(
    _ isAuthoritative: Bool, _ recursionAvailable: Bool, _ expected: [Bool]
  ) throws {
    let alias = try Self.record("www.shop.test 25 CNAME edge.other.test")
    let authority = try Self.record("shop.test 60 SOA 30")
    let question = DNSQuestion(name: alias.owner, type: .a)
    let found = [([], []), ([alias], []), ([], [authority])].map { (answers: [DNSRecord], authorities: [DNSRecord]) in
      (try? AnswerSection.answer(
        to: question, responseCode: .noError,
        flags: ResponseFlags(isAuthoritative: isAuthoritative, recursionAvailable: recursionAvailable),
        answers: answers, authorities: authorities, freshness: .init())) != nil
    }
    #expect(found == expected)
  }

  @Test func `NXDOMAIN with addresses is NXDOMAIN`() throws {
    #expect(try outcome(["www.shop.test 60 A 192.0.2.1"], code: .nameError).summary == "NXDOMAIN -")
  }

  @Test(arguments: [1, 2, 4, 5, 6, 9, 23, 4095] as [UInt16])
  func `any other response code is a failure that says nothing of the endpoint's health`(_ code: UInt16)
    throws
  {
    let outcome = try outcome(["www.shop.test 60 A 192.0.2.1"], code: .init(rawValue: code))
    #expect(outcome.summary == "response")
  }

  @Test func `HTTP's age shortens every lifetime`() throws {
    let aged = HTTPFreshness(age: "50", cacheControl: nil)
    #expect(try outcome(["www.shop.test 60 A 192.0.2.1"], freshness: aged).summary == "192.0.2.1 10")
    #expect(try outcome(["www.shop.test 40 A 192.0.2.1"], freshness: aged).summary == "192.0.2.1 1")
    #expect(try outcome(["www.shop.test 0 A 192.0.2.1"], freshness: aged).summary == "192.0.2.1 0")
    #expect(try outcome([], ["shop.test 90 SOA 70"], freshness: aged).summary == "NODATA 20")
  }
}
