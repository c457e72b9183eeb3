// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct MessageFormatTests {
  /// RFC 8484 §4.1.1: A of www.example.com, id 0.
  private static let vector = "AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB"

  private func query(_ name: String, _ type: DNSRecordType = .a, id: UInt16 = 0) throws -> [UInt8] {
    DNSMessage(id: id, questions: [DNSQuestion(name: try #require(DNSName(name)), type: type)]).encoded()
  }

  private func post(_ bytes: [UInt8], to server: FakeProvider, type: String) async throws -> Curl.Reply {
    try await Curl.run(
      "--data-binary", "@-", "-H", "Content-Type: \(type)", server.url("/dns-query"), input: bytes)
  }

  @Test func `the GET of RFC 8484 is answered`() async throws {
    try await withProvider { server async throws in
      let reply = try await Curl.run(server.url("/dns-query?dns=\(Self.vector)"))
      let message = try DNSMessage(decoding: reply.body)
      #expect(reply.field("Content-Type") == "application/dns-message")
      #expect(reply.field("Cache-Control") == "max-age=60")
      #expect(message.id == 0 && message.isResponse && message.recursionAvailable)
      #expect(message.questions == server.requests.first?.questions)
      #expect(message.answers.map(\.data) == [.address(.ipv4(0xC000_0201)), .address(.ipv4(0xC000_0202))])
    }
  }

  @Test func `a POST is answered, with its id`() async throws {
    try await withProvider { server async throws in
      let bytes = try query("six.example.com", .aaaa, id: 77)
      let reply = try await post(bytes, to: server, type: "application/dns-message")
      let message = try DNSMessage(decoding: reply.body)
      #expect(message.id == 77 && message.answers.first?.ttl == 90)
      #expect(server.requests.first?.name == "six.example.com" && server.requests.first?.body == bytes)
    }
  }

  @Test func `any response code is HTTP 200, and max-age follows the SOA`() async throws {
    try await withProvider { server async throws in
      let broken = try await post(
        query("broken.example.com"), to: server, type: "application/dns-message")
      #expect(broken.status == 200)
      #expect(try DNSMessage(decoding: broken.body).responseCode == .serverFailure)
      #expect(broken.field("Cache-Control") == nil)
      let empty = try await post(query("empty.example.com"), to: server, type: "application/dns-message")
      #expect(empty.field("Cache-Control") == "max-age=30")
      let message = try DNSMessage(decoding: empty.body)
      #expect(message.answers.isEmpty && message.authorities.first?.type == .soa)
    }
  }

  @Test(arguments: ["application/x-www-form-urlencoded", "application/json"])
  func `a POST of another type is 415`(type: String) async throws {
    try await withProvider { server async throws in
      #expect(try await post(query("www.example.com"), to: server, type: type).status == 415)
    }
  }

  @Test(arguments: [vector + "==", vector.dropLast(), "AAAA", "", "%2B%2B"].map { String($0) })
  func `a GET that holds no query is 400`(parameter: String) async throws {
    try await withProvider { server async throws in
      #expect(try await Curl.run(server.url("/dns-query?dns=\(parameter)")).status == 400)
    }
  }

  @Test func `another method is 405`() async throws {
    try await withProvider { server async throws in
      let reply = try await Curl.run("-X", "PUT", server.url("/dns-query?dns=\(Self.vector)"))
      #expect(reply.status == 405 && reply.field("Allow") == "GET, POST")
    }
  }
}
