// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import HTTPTypes
import Testing

/// What goes wrong in a reply that arrives.
@Suite(.timeLimit(.minutes(1)))
struct ReplyMisbehaviourTests {
  private let path = "/resolve?name=shop.example.com"

  private func reply(
    _ misbehaviours: Misbehaviour..., vendor: FakeProviderConfiguration.Vendor = .alidns,
    path: String? = nil, arguments: String = "-4"
  ) async throws -> Curl.Reply {
    let configuration = FakeProviderConfiguration(vendor: vendor, clock: ManualClock())
    return try await withProvider(configuration) { server async throws in
      for misbehaviour in misbehaviours { server.misbehave(misbehaviour) }
      return try await Curl.run(arguments, server.url(path ?? self.path))
    }
  }

  /// The message that `/dns-query` answers to an A query for `www.example.com`.
  private func message(_ misbehaviour: Misbehaviour) async throws -> DNSMessage {
    let path = "/dns-query?dns=AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB"
    return try DNSMessage(decoding: await reply(misbehaviour, path: path).body)
  }

  // MARK: HTTP

  @Test func `a status carries its fields`() async throws {
    let limited = try await reply(.status(429, retryAfter: 7))
    #expect(limited.status == 429 && limited.field("Retry-After") == "7" && limited.body.isEmpty)
    let moved = try await reply(.redirect(to: "https://other.test/"))
    #expect(moved.status == 301 && moved.field("Location") == "https://other.test/")
    let failed = try await reply(.status(500, fields: [.server: "fake"], body: "broken"))
    #expect(failed.status == 500 && failed.field("Server") == "fake" && failed.text == "broken")
  }

  @Test func `a captive portal answers 200 with HTML`() async throws {
    let portal = try await reply(.html)
    #expect(portal.status == 200 && portal.field("Content-Type")?.hasPrefix("text/html") == true)
    #expect(portal.text.hasPrefix("<!DOCTYPE html>"))
  }

  @Test func `the body can be empty, other bytes, or too long`() async throws {
    #expect(try await reply(.emptyBody).body.isEmpty)
    #expect(try await reply(.body(Array("{".utf8))).text == "{")
    let long = try await reply(.padded(to: 70_000))
    #expect(long.body.count == 70_000 && long.json["Status"] as? Int == 0)
  }

  @Test func `a body without Content-Length is chunked`() async throws {
    let chunked = try await reply(.chunked)
    #expect(chunked.field("Content-Length") == nil && chunked.field("Transfer-Encoding") == "chunked")
    #expect(chunked.json["Status"] as? Int == 0)
  }

  @Test func `a gzip'ed body is one that curl unpacks`() async throws {
    let raw = try await reply(.gzip)
    #expect(raw.field("Content-Encoding") == "gzip" && raw.body.starts(with: [0x1f, 0x8b]))
    #expect(try await reply(.gzip, arguments: "--compressed").json["Status"] as? Int == 0)
    let long = try await withProvider { server async throws in
      server.misbehave(.padded(to: 200_000), .gzip)
      return try await Curl.run("--compressed", server.url(path))
    }
    #expect(long.exit == 0 && long.body.count == 200_000)
  }

  @Test func `the fields of a cache can be set and left out`() async throws {
    #expect(try await reply(.age(30)).field("Age") == "30")
    #expect(try await reply(.cacheControl("no-store"), vendor: .google).field("Cache-Control") == "no-store")
    #expect(try await reply(.cacheControl(nil), vendor: .google).field("Cache-Control") == nil)
    #expect(try await reply(.fields([.eTag: "x"])).field("ETag") == "x")
  }

  @Test(arguments: ["text/html", nil])
  func `the content type can be another one, or none`(type: String?) async throws {
    #expect(try await reply(.contentType(type)).field("Content-Type") == type)
  }

  @Test func `Date follows the server's clock, and can be off`() async throws {
    #expect(try await reply(.age(0)).field("Date") == "Tue, 14 Nov 2023 22:13:20 GMT")
    #expect(try await reply(.dateOff(by: 3600)).field("Date") == "Tue, 14 Nov 2023 23:13:20 GMT")
    #expect(try await reply(.dateOff(by: 107 * 86_400)).field("Date") == "Thu, 29 Feb 2024 22:13:20 GMT")
  }

  // MARK: Accounts

  @Test func `bad credentials are refused as each format does it`() async throws {
    #expect(try await reply(.badKey).status == 401)
    let emas = try await reply(.badKey, path: "/1/d?host=a.test")
    #expect(emas.status == 403 && emas.json["code"] as? String == "InvalidSignature")
    let second = try await reply(.badKey, path: "/v2/d?dn=a.test")
    #expect(second.status == 200 && second.json["code"] as? String == "InvalidSignature")
    let dnspod = try await reply(.badKey, path: "/d?dn=www.example.com")
    #expect(dnspod.status == 200 && !dnspod.text.contains("."))
  }

  // MARK: JSON

  @Test(arguments: [
    (Misbehaviour.missingAnswer, "]", false), (.emptyAnswer, #""Answer":[]}"#, true),
    (.nullAnswer, #""Answer":null}"#, true),
  ])
  func `Answer can be missing, empty or null`(what: Misbehaviour, end: String, isThere: Bool) async throws {
    let text = try await reply(what).text
    #expect(text.contains("\"Answer\"") == isThere)
    #expect(!isThere || text.hasSuffix(end))
  }

  @Test func `Status can be missing, and numbers can be text`() async throws {
    #expect(try await reply(.missingStatus).text.hasPrefix(#"{"TC":"#))
    let text = try await reply(.textNumbers).text
    #expect(text.hasPrefix(#"{"Status":"0","#) && text.contains(#""type":"5","TTL":"20""#))
  }

  @Test func `an answer can be short unasked`() async throws {
    #expect(try await reply(.short).text == #"["192.0.2.1","192.0.2.2"]"#)
  }

  @Test func `an answer can hold the aliases only`() async throws {
    let rows = try #require(try await reply(.aliasOnly).json["Answer"] as? [[String: Any]])
    #expect(rows.map { $0["type"] as? Int } == [5])
  }

  @Test func `TC, the response code and the question can be set in JSON`() async throws {
    #expect(try await reply(.truncated).json["TC"] as? Bool == true)
    let failed = try await reply(.responseCode(.refused))
    #expect(failed.json["Status"] as? Int == 5 && failed.json["Answer"] == nil)
    #expect(try await reply(.wrongQuestion).text.contains(#""Question":{"name":"wrong.test.""#))
  }

  // MARK: DNS

  @Test func `a message can have the wrong id and question`() async throws {
    #expect(try await message(.wrongID).id == 0x5555)
    #expect(try await message(.wrongQuestion).questions.map(\.description) == ["wrong.test. A"])
  }

  @Test func `a message can have TC, another code and another TTL`() async throws {
    #expect(try await message(.truncated).isTruncated)
    let failed = try await message(.responseCode(.serverFailure))
    #expect(failed.responseCode == .serverFailure && failed.answers.isEmpty)
    #expect(try await message(.ttl(0)).answers.map(\.ttl) == [0, 0])
  }

  @Test func `a message can be longer than 64 KiB`() async throws {
    let path = "/dns-query?dns=AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB"
    #expect(try await reply(.padded(to: 65_537), path: path).body.count == 65_537)
  }

  @Test func `a poisoned answer holds a name that was not asked for`() async throws {
    let records = try await message(.poisoned(.ipv4(0xCB00_7142))).answers
    #expect(records.map(\.owner.description) == ["poisoned.test.", "www.example.com.", "www.example.com."])
    let line = try await reply(.poisoned(.ipv4(0xCB00_7142)), path: "/d?dn=www.example.com&query=1")
    #expect(line.text == "poisoned.test.:203.0.113.66\nwww.example.com.:192.0.2.1;192.0.2.2")
  }

  @Test func `an answer can be any records`() async throws {
    let loop = DNSRecord.address("www.example.com", .ipv4(0x0A00_0001), ttl: 1)
    #expect(try await message(.answers([loop])).answers == [loop])
  }
}
