// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct JSONProviderRecordsTests {
  private func question(_ type: DNSRecordType = .mx, _ name: String = "example.com") throws -> DNSQuestion {
    DNSQuestion(name: try #require(DNSName(name)), type: type)
  }

  private func provider(signature: JSONProvider.Signature? = nil) throws -> JSONProvider {
    JSONProvider(name: "sample", url: try WebURL("https://json.test/resolve"), signature: signature)
  }

  private func read(_ type: DNSRecordType, _ members: String) throws -> RecordAnswer {
    let text = #"{"Status":0,"Question":[{"name":"example.com.","type":\#(type.rawValue)}]\#(members)}"#
    return try provider().records(from: HTTPReply(text), to: question(type))
  }

  private func rows(_ type: DNSRecordType, _ data: String...) -> String {
    let rows = data.map { #"{"name":"Example.COM","type":\#(type.rawValue),"TTL":60,"data":"\#($0)"}"# }
    return #","Answer":["# + rows.joined(separator: ",") + "]"
  }

  @Test(arguments: [
    ("example.com", DNSRecordType.mx, "name=example.com&type=15"), (".", .ns, "name=.&type=2"),
    (#"a\.b.example"#, .init(rawValue: 65280), "name=a%5C.b.example&type=65280"),
  ])
  func `a question stands in the query, its type as a number`(_ name: String, _ type: DNSRecordType, _ query: String)
    throws
  {
    #expect(try provider().request(for: question(type, name), at: 0).url == "https://json.test/resolve?" + query)
  }

  @Test func `AliDNS's signature is over the name as it is sent`() throws {
    let provider = try provider(signature: .init(account: "100", keyID: "AKID", secret: Secret("AKSECRET")))
    let url = provider.request(for: try question(.mx, "www.example.com"), at: 1_700_000_000).url
    #expect(
      url.hasSuffix(
        "name=www.example.com&type=15&uid=100&ak=AKID&ts=1700000000&key=7b0ce017f0b9df9231c91ee319fb906e9974a02aa9cd4174764139914e3955cb"
      ))
  }

  @Test func `the client's network is told with a question for records too`() throws {
    let provider = JSONProvider(
      name: "sample", url: try WebURL("https://json.test/resolve"), clientSubnet: IPNetwork("198.51.100.0/24"))
    #expect(provider.request(for: try question(), at: 0).url.hasSuffix("&type=15&edns_client_subnet=198.51.100.0%2F24"))
  }

  @Test func `data is text, and checked`() throws {
    let mail = try read(.mx, rows(.mx, "10 Mail.example.com.", ##"\\# 5 0014 01 61 00"##))
    #expect(mail.records.map(\.data.description) == ["10 mail.example.com.", "20 a."])
    let text = try read(.txt, rows(.txt, #"\"v=spf1 -all\""#, "v=spf1 -all"))
    #expect(text.records.map(\.data.description) == [#""v=spf1 -all""#, #""v=spf1 -all""#])
    let unknown = DNSRecordType(rawValue: 65280)
    #expect(try read(unknown, rows(unknown, ##"\\# 2 ab cd"##)).records.map(\.data.description) == [##"\# 2 ABCD"##])
  }

  @Test func `AD and negative answers are told`() throws {
    #expect(try read(.mx, #","AD":true"#).isAuthenticated == true && read(.mx, "").isAuthenticated == false)
    #expect(try read(.mx, "").records == [])
    let missing = #"{"Status":3,"Question":{"name":"example.com","type":"MX"}}"#
    #expect(try provider().records(from: HTTPReply(missing), to: question()).isNameMissing)
  }

  @Test func `what anybody published and nobody can read is shown as it came, and spoils no other record`() throws {
    let answers =
      #"{"name":"example.com","type":15,"TTL":1,"data":"mail"},{"name":"example.com","type":15,"TTL":1,"data":"5 a.example."}"#
    let body = #"{"Status":0,"Question":[{"name":"example.com","type":15}],"Answer":[\#(answers)]}"#
    let found = try provider().records(from: HTTPReply(body), to: question()).records
    #expect(found.map { "\($0.data)" } == ["mail", "5 a.example."])
  }

  @Test func `a chain whose target is none is a failure of this answer alone`() {
    let body =
      #"{"Status":0,"Question":[{"name":"example.com","type":15}],"Answer":[{"name":"example.com","type":5,"TTL":1,"data":"a b"}]}"#
    #expect(throws: ProviderFailure(.response, "the data of a CNAME record of the answer is malformed")) {
      try provider().records(from: HTTPReply(body), to: question())
    }
  }

  @Test(arguments: [
    ("not a JSON object", "[]"), ("no DNS status in the JSON", "{}"),
    ("a reply that does not repeat the question", #"{"Status":0}"#),
    ("a reply to another question", #"{"Status":0,"Question":[{"name":"example.com","type":16}]}"#),
    ("a reply to another question", #"{"Status":0,"Question":[{"name":"example.net","type":15}]}"#),
    ("a section that is not a list", #"{"Status":0,"Question":[{"name":"example.com","type":15}],"Answer":1}"#),
    (
      "a record without a name or a type",
      #"{"Status":0,"Question":[{"name":"example.com","type":15}],"Answer":[{"name":"example.com"}]}"#
    ),
    (
      "a record without a TTL",
      #"{"Status":0,"Question":[{"name":"example.com","type":15}],"Answer":[{"name":"example.com","type":15}]}"#
    ),
    (
      "a record of type MX without data",
      #"{"Status":0,"Question":[{"name":"example.com","type":15}],"Answer":[{"name":"example.com","type":15,"TTL":1}]}"#
    ),
  ])
  func `what is no reply to the question is a failure`(_ reason: String, _ body: String) {
    #expect(throws: ProviderFailure.malformed(reason)) {
      try provider().records(from: HTTPReply(body), to: question())
    }
  }

  @Test func `a reply that was cut off says nothing about the endpoint's health`() {
    #expect(throws: ProviderFailure(.response, "a truncated reply")) { try read(.mx, #","TC":true"#) }
  }

  @Test(arguments: [(#""why""#, #" ("why")"#), (#"["a","b"]"#, #" ("a", "b")"#), ("null", ""), ("1", "")])
  func `a failure is told with its comment`(_ comment: String, _ text: String) {
    let body = #"{"Status":2,"Question":[{"name":"example.com","type":15}],"Comment":\#(comment)}"#
    #expect(throws: ProviderFailure(.response, "answered SERVFAIL" + text)) {
      try provider().records(from: HTTPReply(body), to: question())
    }
  }
}
