// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct JSONProviderTests {
  private let question = AddressQuestion("www.shop.test")

  private func provider(
    _ url: String = "https://json.test/resolve", signature: JSONProvider.Signature? = nil,
    subnet: String? = nil
  ) throws -> JSONProvider {
    JSONProvider(
      name: "sample", url: try WebURL(url), signature: signature,
      clientSubnet: try subnet.map { try #require(IPNetwork($0)) })
  }

  private func outcome(_ text: String, _ question: AddressQuestion? = nil) throws -> String {
    try provider().outcome(of: HTTPReply(text), to: question ?? self.question).summary
  }

  /// A reply with this status, question and further members.
  private func reply(
    _ members: String = "", status: String = "0", question: String = #"{"name":"www.shop.test.","type":1}"#
  ) -> String {
    #"{"Status":\#(status),"TC":false,"Question":\#(question)\#(members)}"#
  }

  /// One row of a section.
  private func row(_ name: String, _ type: String, _ ttl: String, _ data: String) -> String {
    #"{"name":"\#(name)","type":\#(type),"TTL":\#(ttl),"data":"\#(data)"}"#
  }

  // MARK: Requests

  @Test(arguments: [
    ("https://json.test/resolve", "https://json.test/resolve?name=www.shop.test&type=A"),
    ("https://json.test/resolve?cd=1", "https://json.test/resolve?cd=1&name=www.shop.test&type=A"),
    ("https://json.test/resolve?", "https://json.test/resolve?name=www.shop.test&type=A"),
    ("https://user:pw@json.test:8443/r#x", "https://json.test:8443/r?name=www.shop.test&type=A"),
    ("https://[2001:db8::1]/r", "https://[2001:db8::1]/r?name=www.shop.test&type=A"),
  ])
  func `a question stands in the query, behind what the URL has`(_ url: String, _ expected: String) throws {
    let message = try provider(url).request(for: question, at: 0)
    #expect(message.url == expected)
    #expect(message.method == .get && message.body == nil)
    #expect(message.fields[.accept] == "application/dns-json" && message.fields.count == 1)
  }

  @Test func `the family decides the type`() throws {
    #expect(
      try provider().request(for: .init("a.test", .ipv6), at: 0).url.hasSuffix("?name=a.test&type=AAAA"))
  }

  @Test func `the client's network is told where it was given`() throws {
    let url = try provider(subnet: "198.51.100.0/24").request(for: question, at: 0).url
    #expect(url.hasSuffix("&edns_client_subnet=198.51.100.0%2F24"))
    #expect(
      try provider(subnet: "2001:db8::/56").request(for: question, at: 0).url.hasSuffix(
        "=2001%3Adb8%3A%3A%2F56"))
  }

  @Test func `a signed request carries uid, ak, ts and key, and never the secret`() throws {
    let signature = JSONProvider.Signature(account: "100", keyID: "AKID", secret: "AKSECRET")
    let url = try provider(signature: signature).request(for: .init("www.example.com"), at: 1_700_000_000).url
    #expect(
      url == "https://json.test/resolve?name=www.example.com&type=A&uid=100&ak=AKID&ts=1700000000"
        + "&key=7b0ce017f0b9df9231c91ee319fb906e9974a02aa9cd4174764139914e3955cb")
    #expect(!url.contains("AKSECRET"))
  }

  // MARK: Good replies

  @Test(arguments: [
    #"{"name":"www.shop.test.","type":1}"#, #"[{"name":"www.shop.test.","type":1}]"#,
    #"[{"name":"WWW.Shop.test","type":"1"}]"#,
    #"{"name":"www.shop.test","type":"A"}"#,
  ])
  func `Question may be an object or a list, with or without the final dot`(_ question: String) throws {
    let text = reply(#","Answer":[\#(row("www.shop.test.", "1", "60", "192.0.2.1"))]"#, question: question)
    #expect(try outcome(text) == "192.0.2.1 60")
  }

  @Test(arguments: [
    ("0", "1", "60"), ("\"0\"", "\"1\"", "\"60\""), ("0", "\"A\"", "60"), ("0", "\"a\"", "60"),
  ])
  func `numbers may be strings, and a type may be a mnemonic`(_ status: String, _ type: String, _ ttl: String)
    throws
  {
    let text = reply(#","Answer":[\#(row("www.shop.test.", type, ttl, "192.0.2.1"))]"#, status: status)
    #expect(try outcome(text) == "192.0.2.1 60")
  }

  @Test func `the chain is followed, other records are passed over, and the smallest TTL counts`() throws {
    let rows = [
      row("evil.test.", "1", "1", "203.0.113.66"), row("www.shop.test.", "5", "45", "Edge.Shop.test."),
      row("edge.shop.test", "46", "30", "A 8 3 60 sig"), row("edge.shop.test", "1", "90", "192.0.2.1"),
      row("edge.shop.test", "1", "70", "192.0.2.2"), #"{"name":"x.test","type":65,"data":"1 . alpn=h2"}"#,
    ]
    #expect(try outcome(reply(#","Answer":[\#(rows.joined(separator: ","))]"#)) == "192.0.2.1,192.0.2.2 45")
  }

  @Test func `AAAA data is an IPv6 address, a mapped one too`() throws {
    let asked = AddressQuestion("six.test", .ipv6)
    let head = #"{"name":"six.test","type":28}"#
    let plain = reply(#","Answer":[\#(row("six.test", "28", "9", "2001:db8::6"))]"#, question: head)
    #expect(try outcome(plain, asked) == "2001:db8::6 9")
    let four = reply(#","Answer":[\#(row("six.test", "28", "9", "192.0.2.1"))]"#, question: head)
    #expect(try outcome(four, asked) == "transport")
  }

  @Test(arguments: [
    "", #","Answer":[]"#, #","Answer":null"#, #","Authority":null,"Comment":"Response from 192.0.2.53.""#,
    #","Comment":["EDE(22): No Reachable Authority"],"Additional":[]"#,
  ])
  func `without records there is no address, and without an SOA no lifetime`(_ members: String) throws {
    #expect(try outcome(reply(members)) == "NODATA -")
    #expect(try outcome(reply(members, status: "3")) == "NXDOMAIN -")
  }

  @Test(arguments: [
    ("900", "ns.test. root.test. 7 1800 900 604800 86400", "900"),
    ("900", "ns.test. root.test. 7 1800 900 604800 60", "60"),
    ("900", "ns.test. root.test. 7 1800 900 604800", "-"), ("900", "", "-"), ("900", "a b c d e f g", "-"),
    ("-5", "ns.test. root.test. 7 1800 900 604800 60", "0"),
    ("99999999999", "ns.test. root.test. 7 1800 900 604800 4294967295", "604800"),
  ])
  func `an SOA is one string, and gives the lifetime of a negative answer`(
    _ ttl: String, _ data: String, _ lifetime: String
  ) throws {
    let authority = #","Authority":[\#(row("shop.test.", "6", ttl, data))]"#
    #expect(try outcome(reply(authority, status: "3")) == "NXDOMAIN \(lifetime)")
    #expect(try outcome(reply(authority)) == "NODATA \(lifetime)")
  }

  @Test(arguments: [
    ("4294967295", "604800"), ("9223372036854775807", "604800"), ("0", "0"), ("-1", "0"),
    ("-9223372036854775808", "0"),
  ])
  func `a TTL beyond all reason is bounded`(_ ttl: String, _ expected: String) throws {
    let text = reply(#","Answer":[\#(row("www.shop.test.", "1", ttl, "192.0.2.1"))]"#)
    #expect(try outcome(text) == "192.0.2.1 \(expected)")
  }

  // MARK: Bad replies

  @Test(arguments: ["1", "2", "4", "5", "6", "16", "4095"])
  func `any other status is a failure, and the next provider's turn`(_ status: String) throws {
    #expect(try outcome(reply(#","Comment":"x""#, status: status)) == "response")
  }

  @Test func `a failure repeats the comment, quoted`() throws {
    let text = reply(#","Comment":["No Reachable\u001b[31m Authority"]"#, status: "2")
    let outcome = try provider().outcome(of: HTTPReply(text), to: question)
    guard case .failure(let failure) = outcome else {
      Issue.record("an answer")
      return
    }
    #expect(failure.reason.hasPrefix("answered SERVFAIL (\"No Reachable"))
    #expect(!failure.reason.contains("\u{1b}"))
  }

  @Test(arguments: [
    "", "x", "[]", #"["192.0.2.1"]"#, "null", "{}", #"{"error":"Invalid name"}"#,
    #"{"Status":null,"Question":{}}"#,
    #"{"Status":"x"}"#, #"{"Status":0}"#, #"{"Status":0,"Question":[]}"#, #"{"Status":0,"Question":null}"#,
    #"{"Status":0,"Question":"www.shop.test"}"#, #"{"Status":0,"Question":{"name":"www.shop.test"}}"#,
    #"{"Status":0,"Question":{"type":1}}"#, #"{"Status":0,"Question":{"name":"www.shop.test","type":28}}"#,
    #"{"Status":0,"Question":{"name":"wrong.test","type":1}}"#,
    #"{"Status":0,"Question":{"name":7,"type":1}}"#,
    #"{"Status":0,"Question":[{"name":"www.shop.test","type":1},{"name":"www.shop.test","type":1}]}"#,
    #"{"Status":4096,"Question":{"name":"www.shop.test","type":1}}"#,
    #"{"Status":-1,"Question":{"name":"www.shop.test","type":1}}"#,
    #"{"Status":65536,"Question":{"name":"www.shop.test","type":1}}"#, #"{"Status":3}"#, #"{"Status":404}"#,
    #"{"Status":2,"Question":{"name":"wrong.test","type":1}}"#,
  ])
  func `a reply that is none of this API's is a failure of the endpoint`(_ text: String) throws {
    #expect(try outcome(text) == "transport")
  }

  @Test(arguments: [
    #""x""#, "{}", "1", "[1]", "[{}]", #"[{"name":"www.shop.test","TTL":1,"data":"192.0.2.1"}]"#,
    #"[{"type":1,"TTL":1,"data":"192.0.2.1"}]"#, #"[{"name":"www.shop.test","type":1,"data":"192.0.2.1"}]"#,
    #"[{"name":"www.shop.test","type":1,"TTL":1}]"#,
    #"[{"name":"www.shop.test","type":1,"TTL":1,"data":"x"}]"#,
    #"[{"name":"www.shop.test","type":1,"TTL":1,"data":"127.1"}]"#,
    #"[{"name":"www.shop.test","type":1,"TTL":1,"data":"2001:db8::1"}]"#,
    #"[{"name":"www.shop.test","type":1,"TTL":1,"data":3221225985}]"#,
    #"[{"name":"www.shop.test","type":1,"TTL":"x","data":"192.0.2.1"}]"#,
    #"[{"name":"www.shop.test","type":65536,"TTL":1,"data":"192.0.2.1"}]"#,
  ])
  func `a section that cannot be read spoils the reply`(_ section: String) throws {
    #expect(try outcome(reply(#","Answer":\#(section)"#)) == "transport")
  }

  @Test(
    arguments: [
      ("application/json", true), ("application/dns-json", true), ("application/json; charset=UTF-8", true),
      ("APPLICATION/JSON", true), ("application/x-javascript", true), ("text/javascript;x", true),
      ("text/html", false),
      ("text/html; charset=json", false), ("text/plain", false), ("application/dns-message", false),
      (nil, false),
    ] as [(String?, Bool)])
  func `the content type must speak of JSON or JavaScript`(_ type: String?, _ isGood: Bool) throws {
    let outcome = try provider().outcome(of: HTTPReply(reply(), type), to: question)
    #expect(outcome.summary == (isGood ? "NODATA -" : "transport"))
  }

  @Test func `a status other than 2xx is never read`() throws {
    let body = reply(#","Answer":[\#(row("www.shop.test.", "1", "60", "192.0.2.1"))]"#)
    for status in [301, 400, 401, 403, 404, 500, 502] {
      #expect(
        try provider().outcome(of: HTTPReply(body, status: status), to: question).summary == "transport")
    }
  }

  @Test func `credentials are named in a refusal only if there are any`() throws {
    let signature = JSONProvider.Signature(account: "100", keyID: "AKID", secret: Secret("AKSECRET"))
    for (asked, reason) in [
      (try provider(), "HTTP 403: refused"),
      (try provider(signature: signature), "HTTP 403: refused; check the credentials and this machine's clock"),
    ] {
      #expect(throws: ProviderFailure.malformed(reason)) {
        try asked.answer(from: HTTPReply("", status: 403), to: question)
      }
    }
  }

  @Test(arguments: 0..<6 as Range<UInt64>)
  func `no reply can crash the reader, or smuggle in an address of the wrong family`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let rows =
      row("www.shop.test.", "5", "45", "edge.test.") + "," + row("edge.test.", "1", "60", "192.0.2.1")
    let good = Array(
      reply(#","Answer":[\#(rows)],"Authority":[\#(row("test.", "6", "9", "a. b. 1 2 3 4 5"))]"#).utf8)
    let provider = try provider()
    var taken = 0
    for _ in 0..<1000 {
      var bytes = good
      bytes.mutate(using: &random)
      guard
        case .success(let answer) = provider.outcome(of: HTTPReply(bytes, "application/json"), to: question)
      else { continue }
      if !answer.addresses.isEmpty { taken += 1 }
      #expect(answer.addresses.allSatisfy { $0.family == .ipv4 })
    }
    #expect(taken > 20, "the mutations must not all be refused at the door")
  }
}
