// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct FormBodyTests {
  @Test
  func `a form goes out with its type, its fields encoded and in their order, and again where a redirect wants it`()
    async throws
  {
    let origin = try await FakeOrigin.start { request in
      request.path == "/" ? OriginResponse(.temporaryRedirect, fields: [.location: "/there"]) : OriginResponse()
    }
    let client = try ClientSample.client()
    let fields: [(String, String)] = [("note", "a b+c&d=ü"), ("b", ""), ("a", "~*"), ("a", "2")]
    let response = try await client.post(origin.url("/", host: "shop.test"), body: .form(fields))
    #expect(response.status == .ok && response.hops.count == 1)
    let sent = Array("note=a+b%2Bc%26d%3D%C3%BC&b=&a=~%2A&a=2".utf8)
    #expect(origin.requests.map(\.body) == [sent, sent])
    #expect(
      origin.requests.map { $0.field("Content-Type") }
        == Array(repeating: "application/x-www-form-urlencoded", count: 2))
    await client.shutdown()
    await origin.stop()
  }

  @Test func `a form without fields is an empty body of its type`() async throws {
    let origin = try await FakeOrigin.start()
    let client = try ClientSample.client()
    _ = try await client.post(origin.url("/", host: "shop.test"), body: .form([]))
    #expect(origin.requests.map(\.body) == [[]])
    #expect(origin.requests.first?.field("Content-Type") == "application/x-www-form-urlencoded")
    #expect(origin.requests.first?.field("Content-Length") == "0")
    await client.shutdown()
    await origin.stop()
  }
}
