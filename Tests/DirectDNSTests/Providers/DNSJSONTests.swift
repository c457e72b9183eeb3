// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// What `JSONProviderTests` says of replies as a provider gets them is not said again.
struct DNSJSONTests {
  private func answer(_ text: String, _ family: IPAddress.Family = .ipv4) throws -> Answer {
    try DNSJSON.answer(from: Array(text.utf8), to: AddressQuestion("www.shop.test", family))
  }

  private func reply(_ members: String) -> String {
    #"{"Question":{"name":"www.shop.test","type":1},\#(members)}"#
  }

  @Test(arguments: [
    #""Status":2,"Status":0,"Answer":[{"name":"www.shop.test","type":1,"TTL":9,"data":"192.0.2.1"}]"#,
    #""Answer":7,"Answer":[{"name":"www.shop.test","type":1,"TTL":9,"data":"192.0.2.1"}],"Status":0"#,
    #""S\u0074atus":0,"Answer":[{"n\u0061me":"www.sh\u006fp.test","type":1,"TTL":9,"data":"192.0.2.\u0031"}]"#,
    #""Status":0,"Answer":[{"name":"x.test","name":"WWW.shop.test.","type":1,"TTL":9,"data":"192.0.2.1","x":[{}]}]"#,
  ])
  func `members come in any order and spelling, and the last of one name counts`(_ members: String) throws {
    #expect(try answer(reply(members)) == .addresses("192.0.2.1", ttl: 9))
  }

  @Test func `names of a chain may be spelled in several ways`() throws {
    let members =
      #""Status":0,"Answer":["#
      + #"{"name":"www.shop.test.","type":5,"TTL":9,"data":"Edge.shop.test"},"#
      + #"{"name":"other.test","type":1,"TTL":1,"data":"192.0.2.9"},"#
      + #"{"name":"\\101dge.shop.test","type":1,"TTL":1,"data":"192.0.2.9"},"#
      + #"{"name":"edge.SHOP.test.","type":1,"TTL":9,"data":"192.0.2.1"}]"#
    // \101 is the letter e.
    #expect(try answer(reply(members)).addresses == [Sample.address("192.0.2.9"), Sample.address("192.0.2.1")])
    #expect(try answer(reply(members)).canonicalName == Sample.name("edge.shop.test"))
  }

  @Test func `a referral is no negative answer`() throws {
    let referral = #""Status":0,"Authority":[{"name":"shop.test","type":2,"data":"ns.shop.test."}]"#
    #expect(throws: ProviderFailure.self) { try answer(reply(referral)) }
  }

  @Test func `an escaped dot is no dot`() throws {
    let members = #""Status":0,"Answer":[{"name":"www\\.shop.test","type":1,"TTL":9,"data":"192.0.2.1"}]"#
    #expect(throws: ProviderFailure.foreignRecords(.a)) { try answer(reply(members)) }
  }

  @Test(arguments: [
    #"{"name":"x.test","type":1,"TTL":9,"data":"localhost"}"#, #"{"name":"x.test","type":28,"TTL":9}"#,
    #"{"name":"x.test","type":5,"TTL":9,"data":"a..b"}"#, #"{"name":"a..b","type":1,"TTL":9,"data":"192.0.2.9"}"#,
    #"{"name":"www.shop.test","type":28,"TTL":9,"data":"192.0.2.9"}"#,
  ])
  func `a record that does not belong to the answer may hold anything`(_ record: String) throws {
    let good = #"{"name":"www.shop.test","type":1,"TTL":9,"data":"192.0.2.1"}"#
    #expect(try answer(reply(#""Status":0,"Answer":[\#(record),\#(good)]"#)) == .addresses("192.0.2.1", ttl: 9))
  }

  @Test func `an alias for what is no name is a fault of who published it, not of the endpoint`() throws {
    let alias = #"{"name":"www.shop.test","type":5,"TTL":9,"data":"a..b"}"#
    let end = #"{"name":"a..b","type":1,"TTL":9,"data":"192.0.2.9"}"#
    for records in [alias, alias + "," + end, end] {
      let failure = #expect(throws: ProviderFailure.self) { try answer(reply(#""Status":0,"Answer":[\#(records)]"#)) }
      #expect(failure?.kind == .response)
    }
  }

  @Test(arguments: [
    ("true", false), ("1", false), (#""true""#, false), (#""True""#, false), (#""1""#, false), ("false", true),
    ("0", true), (#""false""#, true), (#""0""#, true), ("null", true), (#""""#, true),
  ])
  func `a reply that says that it was cut off is none, in whatever type it says so`(_ flag: String, _ isAnswer: Bool) {
    let record = #"{"name":"www.shop.test","type":1,"TTL":9,"data":"192.0.2.1"}"#
    let text = reply(#""Status":0,"TC":\#(flag),"Answer":[\#(record)]"#)
    #expect(((try? answer(text)) != nil) == isAnswer)
    let question = DNSQuestion(name: DNSName(Sample.name("www.shop.test")), type: .a)
    let records = try? RecordAnswer(json: Array(text.utf8), to: question, freshness: HTTPFreshness())
    #expect((records != nil) == isAnswer)
  }

  @Test func `a reply that was cut off says nothing about the endpoint's health`() {
    let failure = #expect(throws: ProviderFailure.self) { try answer(reply(#""Status":0,"TC":true"#)) }
    #expect(failure == ProviderFailure(.response, "a truncated reply"))
  }

  @Test(arguments: [
    (#"{"Status":2,"Comment":"busy"}"#, #"answered SERVFAIL ("busy")"#), (#"{"Status":"5"}"#, "answered REFUSED"),
    (#"{"Status":1,"Question":[]}"#, "answered FORMERR"),
    (#"{"Status":5,"Question":null,"TC":true}"#, "answered REFUSED"),
  ])
  func `an error counts as one where it comes without the question`(_ text: String, _ reason: String) {
    let failure = #expect(throws: ProviderFailure.self) { try answer(text) }
    #expect(failure == ProviderFailure(.response, reason))
  }

  @Test(arguments: ["Status", "TC", "Question", "Answer", "Authority"])
  func `what is not JSON behind the answer spoils it`(_ key: String) throws {
    #expect(throws: ProviderFailure.self) { try answer(reply(#""Status":0,"\#(key)":[1,]"#)) }
  }

  /// The reply that nearly all questions get is read by itself; an authority that says nothing sends it the other way.
  @Test(
    arguments: [
      (#"[{"name":"www.shop.test","type":1,"TTL":9,"data":"192.0.2.1"}]"#, ["192.0.2.1"], 9),
      (
        #"[{"name":"WWW.shop.test.","type":"1","TTL":"9","data":"192.0.2.1"},{"name":"www.shop.test","type":1,"TTL":7,"data":"192.0.2.2"},{"name":"www.shop.test","type":1,"TTL":8,"data":"192.0.2.1"}]"#,
        ["192.0.2.1", "192.0.2.2"], 7
      ),
      (#"[{"name":"www.shop.test","type":1,"TTL":-1,"data":"192.0.2.1"}]"#, ["192.0.2.1"], 0),
      (#"[{"name":"www.shop.test","type":1,"TTL":99999999999,"data":"192.0.2.1"}]"#, ["192.0.2.1"], 604_800),
      (
        #"[{"name":"www.shop.test","type":1,"TTL":9,"data":"192.0.2.1"},{"name":"x.test","type":1,"TTL":1,"data":"192.0.2.9"}]"#,
        ["192.0.2.1"], 9
      ),
      (
        #"[{"name":"www.shop.test","type":1,"TTL":9,"data":"192.0.2.1"},{"name":"www.shop.test","type":16,"TTL":1,"data":"x"}]"#,
        ["192.0.2.1"], 9
      ),
    ] as [(String, [String], UInt32)])
  func `both ways of reading addresses say the same`(_ section: String, _ addresses: [String], _ ttl: UInt32) throws {
    let expected = Answer(.addresses(try addresses.map { try #require(IPAddress($0)) }), ttl: ttl)
    for authority in ["", #","Authority":[]"#, #","Authority":null"#] {
      #expect(try answer(reply(#""Status":0,"Answer":"# + section + authority)) == expected, "\(authority)")
    }
  }

  @Test(arguments: [
    (#""Status":3"#, "NXDOMAIN with an address"), (#""Status":2"#, "a failure"), (#""Status":0,"TC":true"#, "cut off"),
    (#""Status":"x""#, "no status"),
  ])
  func `an address of the name is no answer where the reply is none`(_ members: String, _ what: String) {
    let text = reply(members + #","Answer":[{"name":"www.shop.test","type":1,"TTL":9,"data":"192.0.2.1"}]"#)
    if let answer = try? answer(text) { #expect(answer.content == .negative(.nameNotFound), "\(what)") }
  }

  @Test(arguments: [
    #"{"name":"www.shop.test","type":1,"TTL":9,"data":"2001:db8::1"}"#,
    #"{"name":"www.shop.test","type":1,"TTL":9,"data":"192.0.2.256"}"#,
    #"{"name":"www.shop.test","type":1,"TTL":1.5,"data":"192.0.2.1"}"#,
    #"{"name":"www.shop.test","type":1,"data":"192.0.2.1"}"#, #"{"name":"www.shop.test","type":1,"TTL":9}"#,
    #"{"type":1,"TTL":9,"data":"192.0.2.1"}"#, "7",
  ])
  func `one record that is none spoils the answer`(_ record: String) {
    let good = #"{"name":"www.shop.test","type":1,"TTL":9,"data":"192.0.2.1"}"#
    #expect(throws: ProviderFailure.self) { try answer(reply(#""Status":0,"Answer":[\#(good),\#(record)]"#)) }
  }
}
