// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AliDNSFormatTests {
  /// The vector of the design notes: key = SHA-256("100" + "AKSECRET" + "1700000000" + name + "AKID").
  private static let key = "7b0ce017f0b9df9231c91ee319fb906e9974a02aa9cd4174764139914e3955cb"
  private static let signed = "/resolve?name=www.example.com&uid=100&ak=AKID&ts=1700000000&key=\(key)"

  private func status(_ path: String, clock: ManualClock = ManualClock()) async throws -> Int {
    let account = AliDNSAccount(id: "100", accessKeyID: "AKID", accessKeySecret: "AKSECRET")
    return try await withProvider(.init(alidnsAccount: account, clock: clock)) { server async throws in
      try await Curl.run(server.url(path)).status
    }
  }

  @Test func `an answer has Question as an object and names with their final dot`() async throws {
    try await withProvider { server async throws in
      let reply = try await Curl.run(server.url("/resolve?name=shop.example.com&type=1"))
      #expect(reply.status == 200 && reply.field("Content-Type") == "application/json")
      #expect(
        reply.text == """
          {"Status":0,"TC":false,"RD":true,"RA":true,"AD":false,"CD":false,\
          "Question":{"name":"shop.example.com.","type":1},"Answer":[\
          {"name":"shop.example.com.","type":5,"TTL":20,"data":"www.example.com."},\
          {"name":"www.example.com.","type":1,"TTL":60,"data":"192.0.2.1"},\
          {"name":"www.example.com.","type":1,"TTL":60,"data":"192.0.2.2"}]}
          """)
    }
  }

  @Test(arguments: [
    ("gone.example.com", 3, "\"Status\":3"), ("broken.example.com", 2, "\"Status\":2"),
    ("empty.example.com", 0, "1209600 30\"}]"),
  ])
  func `a negative answer is 200 without Answer`(name: String, code: Int, part: String) async throws {
    try await withProvider { server async throws in
      let reply = try await Curl.run(server.url("/resolve?name=\(name)"))
      #expect(reply.status == 200 && reply.json["Status"] as? Int == code)
      #expect(reply.json["Answer"] == nil && reply.text.contains(part))
    }
  }

  @Test(arguments: ["short=1", "short=true"])
  func `short gives a bare list`(parameter: String) async throws {
    try await withProvider { server async throws in
      let reply = try await Curl.run(server.url("/resolve?name=www.example.com&\(parameter)"))
      #expect(reply.text == #"["192.0.2.1","192.0.2.2"]"#)
    }
  }

  @Test(arguments: ["", "b%C3%BCcher.example", "a..example", "b\u{fc}cher.example"])
  func `a name that is not Punycode is a bad request`(name: String) async throws {
    try await withProvider { server async throws in
      #expect(try await Curl.run(server.url("/resolve?name=\(name)")).status == 400)
      #expect(server.requests.allSatisfy { $0.questions.isEmpty })
    }
  }

  @Test func `the signature's vector is accepted`() async throws {
    #expect(try await status(Self.signed) == 200)
  }

  @Test(arguments: ["uid=100", "ak=AKID", "ts=1700000000", "key=7b0c", "name=www"])
  func `a request with one signed thing changed is 401`(part: String) async throws {
    let changed = Self.signed.replacing(part, with: part.dropLast() + "9")
    #expect(changed != Self.signed)
    #expect(try await status(changed) == 401)
  }

  @Test func `an unsigned request is 401`() async throws {
    #expect(try await status("/resolve?name=www.example.com") == 401)
  }

  @Test(arguments: [(600, 200), (601, 401), (-600, 200), (-601, 401)] as [(Int64, Int)])
  func `a time stamp outside the window is 401`(offset: Int64, expected: Int) async throws {
    let clock = ManualClock(secondsSince1970: 1_700_000_000 + offset)
    #expect(try await status(Self.signed, clock: clock) == expected)
  }
}
