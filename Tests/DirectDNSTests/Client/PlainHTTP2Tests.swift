// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

/// HTTP/2 without TLS (RFC 9113 §3.3).
@Suite(.timeLimit(.minutes(1)))
struct PlainHTTP2Tests {
  @Test func `it serves one request after another, and many at once`() async throws {
    let origin = try await FakeOrigin.start(configuration: FakeOriginConfiguration(httpVersions: [.http2])) { request in
      OriginResponse(body: request.path + String(decoding: request.body, as: UTF8.self))
    }
    let client = try ClientSample.client { $0.httpVersion = .http2 }
    @Sendable func send(_ number: Int) async throws -> String {
      let request = HTTPRequest(method: .post, url: try WebURL(origin.url("/\(number)", host: "shop.test")))
      let response = try await client.execute(request, body: .text("?"))
      #expect(response.connection.httpVersion == .http2)
      return try await response.body.text()
    }
    for number in 0..<3 { #expect(try await send(number) == "/\(number)?") }
    let all = (0..<8).map { number in Task { try await send(number) } }
    for (number, task) in all.enumerated() { #expect(try await task.value == "/\(number)?") }
    await client.shutdown()
    await origin.stop()
  }

  @Test(arguments: [OriginResponse(.created, body: "ok"), OriginResponse(.created, fields: [.contentLength: "0"])])
  func `success before the body was sent whole, and nobody takes the rest, ends the upload`(
    _ answer: OriginResponse
  ) async throws {
    var configuration = FakeOriginConfiguration(httpVersions: [.http2])
    configuration.firstStreamWindow = 65_535
    let origin = try await FakeOrigin.start(configuration: configuration, admit: { _ in .answer(answer) })
    let client = try ClientSample.client { $0.httpVersion = .http2 }
    let request = HTTPRequest(method: .put, url: try WebURL(origin.url("/", host: "shop.test")))
    let response = try await client.execute(
      request, body: .bytes([UInt8](repeating: 1, count: 4_000_000)),
      options: RequestOptions(timeouts: RequestTimeouts(total: .seconds(20))))
    #expect(response.status == .created)
    #expect(try await response.body.text() == (answer.fields.contains(.contentLength) ? "" : "ok"))
    await client.shutdown(within: .zero)
    await origin.stop()
  }

  @Test(arguments: [(0, 16_384), (2_000, 14_400), (8_000, 8_400)])
  func `a response that comes at once ends with its last frame, without a length too`(_ field: Int, _ body: Int)
    async throws
  {
    let server = try #require(FrameServer(FrameServer.response(field: field, body: body)))
    let client = try ClientSample.client { $0.httpVersion = .http2 }
    let response = try await client.get(
      "http://shop.test:\(server.port)/", options: RequestOptions(timeouts: RequestTimeouts(total: .seconds(20))))
    #expect(try await response.body.collect(upTo: 20_000).count == body)
    await client.shutdown(within: .zero)
  }

  /// CANCEL is what HAProxy says, and STREAM_CLOSED what Apache Traffic Server does.
  @Test(arguments: [8, 5] as [UInt8])
  func `a refusal behind which the server ends the stream is read, or its loss told with what helps`(
    _ code: UInt8
  ) async throws {
    let server = try #require(FrameServer(FrameServer.refusal(code)))
    let client = try ClientSample.client { $0.httpVersion = .http2 }
    let body = RequestBody.bytes([UInt8](repeating: 1, count: 4_000_000))
    do throws(DirectDNSError) {
      let response = try await client.post("http://shop.test:\(server.port)/", body: body)
      #expect(response.status == .contentTooLarge)
    } catch {
      #expect(CurlVersion.losesResponses, "\(error)")
      #expect(error.code == .connectionLost && error.message.contains("(httpVersion)"), "\(error)")
    }
    await client.shutdown(within: .zero)
  }
}
