// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct DirectClientMethodsTests {
  private typealias Call = @Sendable (DirectClient, String) async throws -> DirectResponse

  private static let fields: HTTPFields = [.accept: "text/plain"]
  /// Each method with what it is to send behind its target.
  private static let calls: [(String, body: String, Call)] = [
    ("GET", "", { try await $0.get($1, headerFields: fields) }),
    ("HEAD", "", { try await $0.head($1, headerFields: fields) }),
    ("POST", "paid", { try await $0.post($1, body: .text("paid"), headerFields: fields) }),
    ("PUT", "paid", { try await $0.put($1, body: .text("paid"), headerFields: fields) }),
    ("PATCH", "paid", { try await $0.patch($1, body: .text("paid"), headerFields: fields) }),
    ("DELETE", "", { try await $0.delete($1, headerFields: fields) }),
    ("GET", "", { try await $0.get(WebURL($1), headerFields: fields) }),
    ("HEAD", "", { try await $0.head(WebURL($1), headerFields: fields) }),
    ("POST", "paid", { try await $0.post(WebURL($1), body: .text("paid"), headerFields: fields) }),
    ("PUT", "paid", { try await $0.put(WebURL($1), body: .text("paid"), headerFields: fields) }),
    ("PATCH", "paid", { try await $0.patch(WebURL($1), body: .text("paid"), headerFields: fields) }),
    ("DELETE", "", { try await $0.delete(WebURL($1), headerFields: fields) }),
  ]

  @Test(arguments: calls.indices) func `each method sends what it says`(_ index: Int) async throws {
    let (method, body, call) = Self.calls[index]
    let origin = try await FakeOrigin.start()
    let client = try ClientSample.client()
    let response = try await call(client, origin.url("/a?b", host: "shop.test"))
    #expect(response.status == .ok)
    let request = try #require(origin.requests.first)
    #expect(request.method.rawValue == method && request.target == "/a?b")
    #expect(request.fields[.accept] == "text/plain")
    #expect(String(decoding: request.body, as: UTF8.self) == body)
    await client.shutdown()
    await origin.stop()
  }

  @Test(arguments: calls.indices) func `what is no URL is refused before anything is sent`(_ index: Int) async throws {
    let client = try ClientSample.client()
    let error = await #expect(throws: DirectDNSError.self) { try await Self.calls[index].2(client, "shop.test/a") }
    #expect(error?.code == .invalidURL)
    await client.shutdown()
  }

  @Test func `options hold for the request`() async throws {
    let origin = try await FakeOrigin.start { _ in OriginResponse(.found, fields: [.location: "/next"]) }
    let client = try ClientSample.client()
    let response = try await client.get(
      origin.url("/", host: "shop.test"), options: RequestOptions(redirects: .returned))
    #expect(response.status == .found && origin.requests.count == 1)
    await client.shutdown()
    await origin.stop()
  }
}
