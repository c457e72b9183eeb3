// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

/// Records of any type, asked for by the same messages as addresses.
struct MessageProviderRecordsTests {
  private static let question = DNSQuestion(name: DNSName("example.") ?? .root, type: .mx)

  private func provider(_ method: MessageProvider.Method = .get, subnet: String? = nil) throws -> MessageProvider {
    MessageProvider(
      name: "sample", url: try WebURL("https://dns.test/dns-query"), method: method,
      clientSubnet: try subnet.map { try #require(IPNetwork($0)) })
  }

  /// A response: header, question, and what follows.
  private static func response(
    _ flags: String = "8180", answers: String = "0000", others: String = "0000 0000", question: String = "000f 0001",
    id: String = "0000", _ rest: String = ""
  ) -> [UInt8] {
    wire("\(id) \(flags) 0001 \(answers) \(others) 07'example'00 \(question) \(rest)")
  }

  private func read(_ body: [UInt8], type: String = "application/dns-message", fields: HTTPFields = [:]) throws
    -> RecordAnswer
  {
    try provider().records(from: HTTPReply(body, type, fields: fields), to: Self.question)
  }

  @Test func `the question goes as a message with the id 0 that asks for AD and for extended errors, by GET or POST`()
    throws
  {
    let bytes = wire("0000 0120 0001 0000 0000 0001 07'example'00 000f 0001 00 0029 04d0 00000000 0000")
    let get = try provider().request(for: Self.question, at: 0)
    #expect(get.url == "https://dns.test/dns-query?dns=" + Base64.urlEncoded(bytes) && get.body == nil)
    let post = try provider(.post).request(for: Self.question, at: 0)
    #expect(post.url == "https://dns.test/dns-query" && post.body == bytes)
    #expect(post.fields[.contentType] == "application/dns-message" && post.method == .post)
  }

  @Test func `the client's network is told where it was given`() throws {
    let body = try #require(try provider(.post, subnet: "198.51.100.0/24").request(for: Self.question, at: 0).body)
    #expect(body[10...11] == [0, 1] && body.suffix(11) == wire("0008 0007 0001 18 00 c63364")[...])
  }

  @Test func `records are read with their names' pointers, less the reply's age`() throws {
    let body = Self.response(
      answers: "0002",
      "c00c 000f 0001 0000012c 0009 000a 04'mail'c00c" + "c00c 000f 0001 0000012c 0004 0014 c00c")
    let answer = try read(body, fields: [.age: "100"])
    #expect(
      answer.records.map(\.description) == [
        "example. 200 IN MX 10 mail.example.", "example. 200 IN MX 20 example.",
      ])
    #expect(answer.isAuthenticated == false)
  }

  @Test func `a record that is malformed spoils no other`() throws {
    let body = Self.response(
      answers: "0003",
      "c00c 000f 0001 0000012c 0001 00" + "c00c 0001 0001 0000012c 0003 c00002"
        + "c00c 000f 0001 0000012c 0004 000a c00c")
    #expect(try read(body).records.map(\.data.description) == [##"\# 1 00"##, "10 example."])
  }

  @Test func `records of another class are left out, and are no negative answer by themselves`() throws {
    let (other, good) = ("c00c 000f 0003 0000012c 0004 000a c00c", "c00c 000f 0001 0000012c 0004 000a c00c")
    #expect(try read(Self.response(answers: "0002", other + good)).records.count == 1)
    #expect(throws: ProviderFailure.foreignRecords(.mx)) { try read(Self.response(answers: "0001", other)) }
  }

  @Test func `AD is told, and NXDOMAIN from NODATA`() throws {
    #expect(try read(Self.response("81a0")).isAuthenticated == true)
    #expect(try read(Self.response("8183")).isNameMissing)
    #expect(try read(Self.response("8180")).isNameMissing == false)
  }

  @Test func `a large TTL is seven days at most`() throws {
    let body = Self.response(answers: "0001", "c00c 000f 0001 ffffffff 0004 000a c00c")
    #expect(try read(body).records.map(\.ttl) == [604_800])
  }

  @Test func `a failure is told with what the server says of it`() {
    let opt = "00 0029 04d0 00000000 000a 000f 0006 0017 'lame'"
    #expect(throws: ProviderFailure(.response, #"answered SERVFAIL (extended error 23 "lame")"#)) {
      try read(Self.response("8182", others: "0000 0001", opt))
    }
    // The upper bits of the code stand in EDNS: BADVERS is 16.
    #expect(throws: ProviderFailure(.response, "answered RCODE16")) {
      try read(Self.response("8180", others: "0000 0001", "00 0029 04d0 01000000 0000"))
    }
  }

  @Test(arguments: [
    ("not a DNS message: the message ends early at byte 2", wire("0000")),
    ("a DNS message that is not a response", response("0100")), ("a response with another id", response(id: "0001")),
    ("a response to another question", response(question: "0010 0001")),
    ("a response to another question", response(question: "000f 0003")),
    ("not a DNS message: bytes behind the last record at byte 25", response("8180", "00")),
    (
      "not a DNS message: a record's data runs past the end at byte 37",
      response(answers: "0001", "c00c 000f 0001 00000001 0009 00")
    ),
  ])
  func `what is no response to the question is a failure`(_ reason: String, _ body: [UInt8]) {
    #expect(throws: ProviderFailure.malformed(reason)) { try read(body) }
  }

  @Test func `neither a truncated response nor a refusal without the question is the endpoint's failure`() {
    #expect(throws: ProviderFailure(.response, "a truncated response")) { try read(Self.response("8380")) }
    #expect(throws: ProviderFailure(.response, "answered REFUSED")) { try read(wire("0000 8105 0000 0000 0000 0000")) }
  }

  @Test func `a message that is spoilt anywhere is read as something, or refused`() {
    let good = Self.response(
      answers: "0003", others: "0000 0001",
      "c00c 000f 0001 0000012c 0009 000a 04'mail'c00c" + "c00c 0041 0001 0000012c 000a 0001 00 0001 0003 02'h2'"
        + "c00c 0010 0001 0000012c 0003 02'ab'" + "00 0029 04d0 00000000 0000")
    var count = 0
    for place in good.indices {
      for value in [0, 1, 0x3f, 0x40, 0xc0, 0xff] as [UInt8] {
        var bytes = good
        bytes[place] = value
        if let answer = try? read(bytes) { count += answer.records.map(\.description.count).count }
        _ = try? read(Array(bytes.prefix(place)))
      }
    }
    #expect(count > 0)
  }

  @Test func `a captive portal is a failure`() {
    #expect(throws: ProviderFailure.self) { try read(Self.response(), type: "text/html") }
  }
}
