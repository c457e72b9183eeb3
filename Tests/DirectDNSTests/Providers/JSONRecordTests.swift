// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// Replies as both readers get them: the one for addresses, and the one for records of any type.
struct JSONRecordTests {
  private static let good = #"{"name":"a.test","type":1,"TTL":9,"data":"192.0.2.1"}"#

  private func reply(_ members: String, type: Int = 1) -> HTTPReply {
    HTTPReply(#"{"Status":0,"Question":{"name":"a.test","type":\#(type)},\#(members)}"#)
  }

  private func provider() throws -> JSONProvider {
    JSONProvider(name: "sample", url: try WebURL("https://json.test/resolve"))
  }

  /// What both readers say.
  private func reading(_ members: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
    let (addresses, records) = try provider().readings(of: reply(members), AddressQuestion("a.test"))
    #expect(addresses == records, sourceLocation: sourceLocation)
    return records
  }

  /// Records that cannot belong to the answer, whatever else they say.
  private static let strangers = [
    // What is no name belongs to no chain.
    #"{"name":"bad..owner.example.","type":1,"TTL":9,"data":"192.0.2.9"}"#,
    #"{"name":"bad..owner.example.","type":15,"TTL":9,"data":"10 m."}"#,
    #"{"name":"","type":1,"TTL":9,"data":"192.0.2.9"}"#, #"{"name":"b.test"}"#,
    #"{"name":"b.test","type":1,"data":"192.0.2.9"}"#, #"{"name":"b.test","type":1,"TTL":"x","data":"192.0.2.9"}"#,
    #"{"name":"b.test","type":1,"TTL":9}"#, #"{"name":"b.test","type":1,"TTL":9,"data":7}"#,
    #"{"name":"b.test","type":1,"TTL":9,"data":"localhost"}"#, #"{"name":"b.test","type":5,"TTL":9,"data":"a..b"}"#,
    #"{"name":"b.test","type":65536,"TTL":9,"data":"x"}"#, #"{"name":"b.test","type":[],"TTL":9,"data":"x"}"#,
    #"{"name":"b.test","type":"LOCK","TTL":9,"data":"x"}"#,
    // Of the name, and of another type than that which is asked for.
    #"{"name":"a.test","type":"LOCK","TTL":9,"data":"x"}"#, #"{"name":"a.test","type":28,"TTL":9,"data":"192.0.2.9"}"#,
    #"{"name":"a.test","type":46}"#, #"{"name":"a.test","type":5,"TTL":9,"data":"a..b"}"#,
    #"{"type":46,"TTL":9,"data":"x"}"#,
  ]

  @Test(arguments: strangers)
  func `a record that does not belong to the answer may hold anything, for either reader`(_ stranger: String) throws {
    #expect(try reading(#""Answer":[\#(stranger),\#(Self.good)]"#) == "192.0.2.1")
    #expect(try reading(#""Answer":[\#(Self.good),\#(stranger)]"#) == "192.0.2.1")
    let mail = #"{"name":"a.test","type":16,"TTL":9,"data":"x"}"#
    let found = try provider().records(
      from: reply(#""Answer":[\#(stranger),\#(mail)]"#, type: 16),
      to: DNSQuestion(name: try #require(DNSName("a.test")), type: .txt))
    #expect(found.records.map(\.data.description) == [#""x""#])
  }

  @Test(arguments: [
    ("7", "transport"), ("{}", "transport"), (#"{"type":1,"TTL":9,"data":"192.0.2.1"}"#, "transport"),
    (#"{"name":7,"type":1,"TTL":9,"data":"192.0.2.1"}"#, "transport"),
    (#"{"name":"a.test","TTL":9,"data":"192.0.2.1"}"#, "transport"),
    (#"{"name":"a.test","type":65536,"TTL":9,"data":"192.0.2.1"}"#, "transport"),
    (#"{"name":"a.test","type":1,"data":"192.0.2.1"}"#, "transport"),
    (#"{"name":"a.test","type":1,"TTL":9}"#, "transport"),
    (#"{"name":"a.test","type":1,"TTL":9,"data":"2001:db8::1"}"#, "transport"),
  ])
  func `a record that may belong to the answer and cannot be read spoils it, for either reader`(
    _ record: String, _ expected: String
  ) throws {
    #expect(try reading(#""Answer":[\#(record)]"#) == expected)
    #expect(try reading(#""Answer":[\#(Self.good),\#(record)]"#) == expected)
  }

  @Test(arguments: [
    (#""type":5,"TTL":9,"data":"b.test""#, "NODATA"), (#""type":5,"TTL":9,"data":"a..b""#, "response"),
    (#""type":5,"TTL":9,"data":"a b""#, "response"), (#""type":5,"TTL":9,"data":"a.test""#, "response"),
    (#""type":5,"TTL":9,"data":".""#, "NODATA"), (#""type":5,"TTL":9,"data":"""#, "response"),
    (#""type":5,"TTL":9,"data":"\"\"""#, "response"),
    // These are no data that anybody can have published.
    (#""type":5,"TTL":9,"data":7"#, "transport"), (#""type":5,"TTL":9"#, "transport"),
    (#""type":5,"data":"b.test""#, "transport"),
  ])
  func `an alias leads both readers the same way`(_ members: String, _ expected: String) throws {
    #expect(try reading(#""Answer":[{"name":"a.test",\#(members)}]"#) == expected)
  }

  @Test(arguments: [
    ("192.0.2.1", 1), (#"\"192.0.2.1\""#, 1), (" 192.0.2.1", 1), (##"\\# 4 C0000201"##, 1), ("b.test.", 5),
    ("b.test. ", 5), (##"\\# 8 01 62 04 74 65 73 74 00"##, 5), (#"\\098.test"#, 5),
  ])
  func `data is read in every form of its type, by either reader`(_ data: String, _ type: Int) throws {
    let end = #"{"name":"b.test","type":1,"TTL":9,"data":"192.0.2.1"}"#
    let record = #"{"name":"a.test","type":\#(type),"TTL":9,"data":"\#(data)"}"#
    #expect(try reading(#""Answer":[\#(record),\#(end)]"#) == "192.0.2.1")
  }

  @Test(arguments: [
    ("[7]", "NODATA"), ("[{}]", "NODATA"), (#"[{"name":"test","type":6}]"#, "NODATA"), (#"[{"type":2}]"#, "NODATA"),
    (#"[{"name":"test","type":2}]"#, "response"), (#"[{"name":"test","type":2},{"name":"test","type":6}]"#, "NODATA"),
    ("7", "transport"), ("{}", "transport"),
  ])
  func `records of the authority section may hold anything, and only those of a known kind count`(
    _ section: String, _ expected: String
  ) throws {
    #expect(try reading(#""Authority":\#(section)"#) == expected)
    #expect(
      try reading(#""Answer":[\#(Self.good)],"Authority":\#(section)"#)
        == (expected == "transport" ? expected : "192.0.2.1"))
  }

  @Test(arguments: 0..<6 as Range<UInt64>)
  func `addresses and records are read out of the same reply by the same rules`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let alias = #"{"name":"a.test","type":5,"TTL":9,"data":"b.test"}"#
    let (end, soa) = (
      #"{"name":"b.test","type":1,"TTL":9,"data":"192.0.2.1"}"#,
      #"{"name":"test","type":6,"TTL":9,"data":". . 1 2 3 4 5"}"#
    )
    let provider = try provider()
    for answers in ["\(alias),\(end),\(Self.good.replacing("a.test", with: "c.test"))", Self.good, alias] {
      let good = Array(
        #"{"Status":0,"TC":false,"Question":[{"name":"a.test","type":1}],"Answer":[\#(answers)],"Authority":[\#(soa)]}"#
          .utf8)
      for _ in 0..<400 {
        var bytes = good
        bytes.mutate(using: &random)
        let (addresses, records) = provider.readings(
          of: HTTPReply(bytes, "application/json"), AddressQuestion("a.test"))
        #expect(addresses == records, "\(String(decoding: bytes, as: UTF8.self))")
      }
    }
  }
}
