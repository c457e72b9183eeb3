// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct MessageProviderTests {
  private let question = AddressQuestion("www.shop.test")

  private func provider(
    _ url: String = "https://doh.test/dns-query", _ method: MessageProvider.Method = .get,
    subnet: String? = nil
  ) throws -> MessageProvider {
    MessageProvider(
      name: "sample", url: try WebURL(url), method: method,
      clientSubnet: try subnet.map { try #require(IPNetwork($0)) })
  }

  /// A good response, changed.
  private func response(_ change: (inout DNSMessage) -> Void = { _ in }) -> [UInt8] {
    var message = DNSMessage(isResponse: true, recursionAvailable: true, questions: [question.message])
    message.answers = [
      DNSRecord(owner: question.message.name, type: .a, ttl: 60, data: .address(.ipv4(0xC000_0201)))
    ]
    change(&message)
    return message.encoded()
  }

  private func outcome(
    _ body: [UInt8], type: String? = "application/dns-message", status: Int = 200, fields: HTTPFields = [:]
  ) throws -> Result<Answer, ProviderFailure> {
    try provider().outcome(of: HTTPReply(body, type, status: status, fields: fields), to: question)
  }

  @Test func `a message without the bit for recursion is no negative answer`() throws {
    let silent = response { ($0.answers, $0.recursionAvailable) = ([], false) }
    #expect(try outcome(silent).summary == "response")
    let own = response { ($0.answers, $0.recursionAvailable, $0.isAuthoritative) = ([], false, true) }
    #expect(try outcome(own).summary == "NODATA -")
  }

  // MARK: Requests

  @Test(arguments: [
    ("https://doh.test/q", "https://doh.test/q?dns="), ("https://doh.test/q?", "https://doh.test/q?dns="),
    ("https://doh.test/q?x=1", "https://doh.test/q?x=1&dns="),
    ("https://192.0.2.1:8443/", "https://192.0.2.1:8443/?dns="),
  ])
  func `GET carries the message in the query, behind what the URL has`(_ url: String, _ prefix: String) throws {
    let message = try provider(url).request(for: .init("www.example.com"), at: 0)
    #expect(message.url == prefix + "AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB")
    #expect(message.method == .get && message.body == nil)
    #expect(message.fields == [.accept: "application/dns-message"])
  }

  @Test func `POST carries the message as its body`() throws {
    let message = try provider("https://doh.test/q?x=1", .post).request(for: .init("a.test", .ipv6), at: 0)
    #expect(message.url == "https://doh.test/q?x=1" && message.method == .post)
    #expect(message.fields[.contentType] == "application/dns-message")
    #expect(message.fields[.accept] == "application/dns-message")
    let query = try DNSMessage(decoding: try #require(message.body))
    #expect(query.questions.map(\.description) == ["a.test. AAAA"] && query.id == 0 && query.recursionDesired)
  }

  @Test(
    arguments: [
      ("198.51.100.0/24", [0, 1, 24, 0, 198, 51, 100]),
      ("198.51.100.128/25", [0, 1, 25, 0, 198, 51, 100, 128]),
      ("0.0.0.0/0", [0, 1, 0, 0]), ("192.0.2.7/32", [0, 1, 32, 0, 192, 0, 2, 7]),
      ("2001:db8::/33", [0, 2, 33, 0, 0x20, 1, 0x0d, 0xb8, 0]), ("::/0", [0, 2, 0, 0]),
    ] as [(String, [UInt8])])
  func `the client's network is an EDNS option of whole bytes`(_ subnet: String, _ data: [UInt8]) throws {
    let body = try #require(
      try provider("https://doh.test/", .post, subnet: subnet).request(for: question, at: 0).body)
    #expect(try DNSMessage(decoding: body).edns?.options == [.init(code: 8, data: data)])
  }

  @Test func `without a network a query has no EDNS, so that equal questions are equal URLs`() throws {
    let body = try #require(try provider("https://doh.test/", .post).request(for: question, at: 0).body)
    #expect(try DNSMessage(decoding: body).edns == nil)
    #expect(
      try provider().request(for: question, at: 1).url == provider().request(for: question, at: 1_000_000).url
    )
  }

  @Test(
    arguments: [
      ([], ""), ([0], "AA"), ([0xff], "_w"), ([0, 0], "AAA"), ([0, 0, 0], "AAAA"), ([0xfb, 0xff], "-_8"),
      ([0xfb, 0xef, 0xbe, 0xff], "----_w"),
    ] as [([UInt8], String)])
  func `base64url has no padding`(_ bytes: [UInt8], _ text: String) {
    #expect(Base64.urlEncoded(bytes) == text)
  }

  // MARK: Replies

  @Test func `a response with the question and the id 0 is an answer`() throws {
    #expect(try outcome(response()).summary == "192.0.2.1 60")
    #expect(try outcome(response { $0.answers = [] }).summary == "NODATA -")
    #expect(try outcome(response { $0.responseCode = .nameError }).summary == "NXDOMAIN -")
  }

  @Test func `a truncated response says nothing about the endpoint's health`() throws {
    #expect(throws: ProviderFailure(.response, "a truncated response")) {
      try outcome(response { $0.isTruncated = true }).get()
    }
  }

  @Test func `an error without the question is an error all the same, and nothing else is`() throws {
    let body = { (code: DNSMessage.ResponseCode) in
      response { ($0.questions, $0.answers, $0.responseCode) = ([], [], code) }
    }
    #expect(throws: ProviderFailure(.response, "answered REFUSED")) { try outcome(body(.refused)).get() }
    #expect(throws: ProviderFailure(.response, "answered RCODE16")) {
      try outcome(
        response {
          ($0.questions, $0.answers, $0.responseCode) = ([], [], .init(rawValue: 16))
          $0.edns = DNSMessage.EDNS()
        }
      ).get()
    }
    for code in [DNSMessage.ResponseCode.noError, .nameError] {
      #expect(try outcome(body(code)).summary == "transport")
    }
  }

  @Test func `a response to something else is a failure of the endpoint`() throws {
    let wrong = DNSQuestion(name: try #require(DNSName("wrong.test")), type: .a)
    let bodies: [(String, [UInt8])] = [
      ("a query", response { $0.isResponse = false }), ("an opcode", response { $0.opcode = 4 }),
      ("an id", response { $0.id = 1 }),
      ("another name", response { $0.questions = [wrong] }), ("no question", response { $0.questions = [] }),
      ("two questions", response { $0.questions.append($0.questions[0]) }),
      ("another type", response { $0.questions[0].type = .aaaa }),
      ("another class", response { $0.questions[0].recordClass = 3 }), ("empty", []),
      ("text", Array("garbage".utf8)),
      ("a byte more", response() + [0]), ("a byte less", response().dropLast()),
      ("zeros", [UInt8](repeating: 0, count: 65_536)),
    ]
    for (what, body) in bodies { #expect(try outcome(body).summary == "transport", "\(what)") }
  }

  @Test(arguments: [1, 2, 4, 5, 9, 15] as [UInt16])
  func `a response code other than 0 and 3 is a failure to answer`(_ code: UInt16) throws {
    #expect(try outcome(response { $0.responseCode = .init(rawValue: code) }).summary == "response")
  }

  @Test func `a response code's upper bits count`() throws {
    let body = response {
      $0.responseCode = .init(rawValue: 16)
      $0.edns = DNSMessage.EDNS()
    }
    #expect(try outcome(body).summary == "response")
  }

  @Test func `extended errors are told, quoted`() throws {
    let body = response {
      $0.responseCode = .serverFailure
      $0.edns = DNSMessage.EDNS(options: [.init(code: 15, data: [0, 22] + Array("no\u{1b} way".utf8))])
    }
    guard case .failure(let failure) = try outcome(body) else {
      Issue.record("an answer")
      return
    }
    #expect(failure.reason.hasPrefix("answered SERVFAIL (extended error 22 \"no"))
    #expect(!failure.reason.contains("\u{1b}"))
  }

  @Test(
    arguments: [
      ("application/dns-message", true), ("Application/DNS-Message; charset=x", true),
      ("application/dns-json", false),
      ("application/octet-stream", false), ("text/html", false), ("", false), (nil, false),
    ] as [(String?, Bool)])
  func `only application/dns-message is read`(_ type: String?, _ isGood: Bool) throws {
    #expect(try outcome(response(), type: type).summary == (isGood ? "192.0.2.1 60" : "transport"))
  }

  @Test(
    arguments: [
      ([:], 60), ([.age: "20"], 40), ([.age: "70"], 1), ([.cacheControl: "max-age=0"], 1),
      ([.cacheControl: "max-age=30"], 30),
      ([.cacheControl: "max-age=30", .age: "20"], 10), ([.cacheControl: "max-age=900"], 60),
      ([.cacheControl: "no-store"], 60),
      ([.cacheControl: "private, Max-Age=5"], 5), ([.age: "x"], 60), ([.age: "-5"], 60),
    ] as [(HTTPFields, UInt32)])
  func `Age and max-age shorten the TTL, and their absence does not lengthen it`(
    _ fields: HTTPFields, _ ttl: UInt32
  ) throws {
    #expect(try outcome(response(), fields: fields).get().ttl == ttl)
  }

  @Test(arguments: 0..<6 as Range<UInt64>)
  func `no reply can crash the reader, or smuggle in an address of the wrong family`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var taken = 0
    for _ in 0..<1000 {
      var bytes = response()
      bytes.mutate(using: &random)
      guard case .success(let answer) = try outcome(bytes) else { continue }
      if !answer.addresses.isEmpty { taken += 1 }
      #expect(answer.addresses.allSatisfy { $0.family == .ipv4 })
    }
    #expect(taken > 5, "the mutations must not all be refused at the door")
  }
}
