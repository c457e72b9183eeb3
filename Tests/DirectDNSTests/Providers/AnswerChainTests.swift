// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct AnswerChainTests {
  /// `OWNER TTL TYPE DATA`; data that is malformed is none.
  private static func record(_ text: String) throws -> DNSRecord {
    let parts = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
    let type = try #require(DNSRecordType(parts[2]))
    return DNSRecord(
      owner: try #require(DNSName(parts[0])), type: type, ttl: try #require(UInt32(parts[1])),
      data: RecordData(parts[3], type: type) ?? .opaque([]))
  }

  private func chain(_ type: DNSRecordType, _ records: [String]) throws -> String {
    let question = DNSQuestion(name: try #require(DNSName("a.test")), type: type)
    let records = try records.map(Self.record)
    let chain = try AnswerChain(to: question, among: records)
    let own = records.filter { chain.holds($0) }.count
    return "\(chain.end) \(chain.links) \(chain.links > 0 ? "\(chain.lifetime)" : "-") \(own)"
  }

  @Test(
    arguments: [
      (.mx, [], "a.test. 0 - 0"), (.mx, ["a.test 9 MX 1 m.", "b.test 9 MX 1 m."], "a.test. 0 - 1"),
      (.mx, ["a.test 9 CNAME b.test", "b.test 1 MX 1 m."], "b.test. 1 9 1"),
      (.mx, ["b.test 7 CNAME c.test", "a.test 9 CNAME b.test", "c.test 1 MX 1 m."], "c.test. 2 7 1"),
      // A name that has the record is no alias for this question.
      (.mx, ["a.test 9 CNAME b.test", "b.test 1 MX 1 m.", "a.test 1 MX 1 m."], "a.test. 0 - 1"),
      // Of two aliases of a name the first one counts.
      (.mx, ["a.test 9 CNAME b.test", "a.test 1 CNAME c.test"], "b.test. 1 9 0"),
      (.cname, ["a.test 9 CNAME b.test", "b.test 9 CNAME c.test"], "a.test. 0 - 1"),
      (.any, ["a.test 9 CNAME b.test", "a.test 9 MX 1 m.", "b.test 9 MX 1 m."], "a.test. 0 - 2"),
    ] as [(DNSRecordType, [String], String)])
  func `aliases lead to the name that has the records`(
    _ type: DNSRecordType, _ records: [String], _ expected: String
  ) throws {
    #expect(try chain(type, records) == expected)
  }

  @Test(arguments: [
    (["a.test 9 CNAME a.test"], ProviderFailure.endlessChain),
    (["a.test 9 CNAME "], ProviderFailure(.response, "the data of a CNAME record of the answer is malformed")),
  ])
  func `a chain that leads nowhere is a failure that says nothing of the endpoint's health`(
    _ records: [String], _ failure: ProviderFailure
  ) {
    #expect(throws: failure) { try chain(.mx, records) }
  }

  @Test(arguments: [
    [], ["a.test 9 A 192.0.2.1"], ["a.test 9 A "], ["b.test 9 A ", "a.test 9 A 192.0.2.1"], ["b.test 9 A 192.0.2.1"],
    ["a.test 9 CNAME b.test", "b.test 9 A 192.0.2.1"], ["a.test 9 CNAME "], ["b.test 9 CNAME "],
    ["a.test 9 CNAME b.test"], ["a.test 9 CNAME a.test"], ["a.test 9 MX 1 m.", "a.test 9 AAAA "],
  ])
  func `addresses and records are read out of the same answer section by the same rules`(_ records: [String]) throws {
    let records = try records.map(Self.record)
    var answers = [records, records]
    // In any other class than IN they are nobody's.
    for index in records.indices { answers[1][index].recordClass = 3 }
    for answers in answers {
      for code in [DNSMessage.ResponseCode.noError, .nameError, .refused] {
        let question = AddressQuestion("a.test")
        let message = DNSMessage(
          isResponse: true, recursionAvailable: true, responseCode: code, questions: [question.message],
          answers: answers)
        let reply = HTTPReply(message.encoded(), "application/dns-message")
        let provider = MessageProvider(name: "sample", url: try WebURL("https://dns.test/dns-query"))
        let (addresses, found) = provider.readings(of: reply, question)
        #expect(addresses == found, "\(code)")
      }
    }
  }

  @Test(arguments: 0..<6 as Range<UInt64>)
  func `addresses and records are read out of the same message by the same rules`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let question = AddressQuestion("a.test")
    let good = DNSMessage(
      isResponse: true, recursionAvailable: true, questions: [question.message],
      answers: try ["a.test 9 CNAME b.test", "b.test 9 A 192.0.2.1", "b.test 9 A 192.0.2.2"].map(Self.record),
      authorities: try ["test 9 SOA . . 1 2 3 4 5"].map(Self.record),
      edns: DNSMessage.EDNS(options: [.init(code: 15, data: [0, 1])])
    ).encoded()
    let provider = MessageProvider(name: "sample", url: try WebURL("https://dns.test/dns-query"))
    for _ in 0..<1000 {
      var bytes = good
      bytes.mutate(using: &random)
      let (addresses, found) = provider.readings(of: HTTPReply(bytes, "application/dns-message"), question)
      #expect(addresses == found, "\(bytes)")
    }
  }
}
