// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSFoundation
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(1)))
struct JSONBodyTests {
  private struct Payment: Codable, Equatable, Sendable {
    var id: String
    var cents: Int
  }

  /// Sends a payment's JSON to an origin that says `answer`, or what it was sent.
  private func exchange(
    _ answer: String? = nil, _ body: (DirectResponse) async throws -> Void
  ) async throws {
    let origin = try await FakeOrigin.start { request in
      OriginResponse(body: answer ?? String(decoding: request.body, as: UTF8.self))
    }
    var resolving = ResolverConfiguration()
    resolving.localZones.pins[try HostName("shop.test")] = [.ipv4(0x7F00_0001)]
    var configuration = DirectClientConfiguration()
    configuration.policy = .any
    let client = try DirectClient(configuration, resolver: DirectResolver(resolving))
    try await body(client.post(origin.url("/pay", host: "shop.test"), body: .json(Payment(id: "ü", cents: 5))))
    #expect(origin.requests.map { $0.fields[.contentType] } == ["application/json"])
    await client.shutdown()
    await origin.stop()
  }

  @Test func `a value goes out as JSON and comes back`() async throws {
    try await exchange { response in
      let payment: Payment = try await response.body.decode()
      #expect(payment == Payment(id: "ü", cents: 5))
    }
  }

  @Test(arguments: ["", "{", "[1]", "{\"id\": 1}"]) func `what is another value is told`(_ answer: String) async throws
  {
    try await exchange(answer) { response in
      await #expect(throws: DecodingError.self) { try await response.body.decode(Payment.self) }
    }
  }

  @Test func `more bytes than allowed are not read`() async throws {
    try await exchange { response in
      let error = await #expect(throws: DirectDNSError.self) { try await response.body.decode(Payment.self, upTo: 5) }
      #expect(error?.code == .bodyTooLarge)
    }
  }

  @Test func `a number that JSON has not is told`() {
    #expect(throws: EncodingError.self) { try RequestBody.json([Double.nan]) }
  }
}
