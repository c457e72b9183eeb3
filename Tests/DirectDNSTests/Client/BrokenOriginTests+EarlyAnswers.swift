// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS

/// Responses that are complete before the request's body is (RFC 9113 §8.1).
extension BrokenOriginTests {
  @Test(arguments: [OriginResponse(.contentTooLarge, fields: [.contentLength: "0"]), OriginResponse(.notModified)])
  func `an early answer without a body ends an upload that the server does not read`(
    _ answer: OriginResponse
  ) async throws {
    try await staged(.http2, firstStreamWindow: 0, admit: { _ in .answer(answer) }) { fixture in
      let response = try await fixture.client.execute(
        fixture.request(.put), body: .bytes([UInt8](repeating: 1, count: 400_000)))
      #expect(response.status == answer.status)
      #expect(try await response.body.text() == "")
    }
  }

  @Test(arguments: [HTTPRequest.Method.post, .put], [false, true])
  func `an answer that ends the stream before the body came is read, or its loss told with what helps`(
    _ method: HTTPRequest.Method, _ isUsed: Bool
  ) async throws {
    var answer = OriginResponse(.contentTooLarge)
    answer.resetsStream = true
    let refusal = answer
    try await staged(.http2, admit: { $0.path == "/" ? .answer(refusal) : .read }) { fixture in
      if isUsed { try await fixture.warm() }
      let (pieces, source) = AsyncStream.makeStream(of: [UInt8].self)
      let outcome = Task { try await fixture.client.execute(fixture.request(method), body: .stream(pieces)) }
      // Behind the answer on the same connection, so that libcurl has read both when the body comes.
      await fixture.origin.waitForRequests(isUsed ? 2 : 1)
      _ = try await fixture.client.execute(fixture.request(.get, "/behind")).body.text()
      source.yield(Array("pay".utf8))
      source.finish()
      switch await outcome.result {
      case .success(let response): #expect(response.status == .contentTooLarge)
      case .failure(let error):
        let error = error as? DirectDNSError
        #expect(!Self.isCurl(atLeast: [8, 1]) && error?.code == .connectionLost, "\(String(describing: error))")
        #expect(error?.message.contains("(httpVersion)") == true)
      }
    }
  }

  @Test(arguments: [OriginResponse(.accepted, fields: [.contentLength: "0"]), OriginResponse(.ok, body: "done")])
  func `success before the body was sent whole, and nobody takes the rest, ends the upload`(
    _ answer: OriginResponse
  ) async throws {
    try await staged(.http2, firstStreamWindow: 65_535, admit: { _ in .answer(answer) }) { fixture in
      // Nobody reads the rest, so that the window stays shut.
      let response = try await fixture.client.execute(
        fixture.request(.put), body: .bytes([UInt8](repeating: 1, count: 4_000_000)))
      #expect(response.status == answer.status)
      #expect(try await response.body.text() == (answer.status == .ok ? "done" : ""))
    }
  }

  @Test(arguments: [
    (OriginResponse(.ok, body: "done"), "done"), (OriginResponse(.ok, body: "done").gzipped(), "done"),
    (OriginResponse(.ok).gzipped(), ""), (OriginResponse(.ok, fields: [.contentLength: "0"]), ""),
  ])
  func `success ends such an upload too if bodies are decompressed`(
    _ answer: OriginResponse, _ text: String
  ) async throws {
    try await staged(.http2, firstStreamWindow: 65_535, admit: { _ in .answer(answer) }) { fixture in
      let response = try await fixture.client.execute(
        fixture.request(.put), body: .bytes([UInt8](repeating: 1, count: 4_000_000)),
        options: RequestOptions(timeouts: RequestTimeouts(total: .seconds(20)), decompresses: true))
      #expect(try await response.body.text() == text)
    }
  }

  /// It has come whole before its reader has taken any of it: 100,000 times `a` in 133 bytes.
  @Test(arguments: [HTTPResponse.Status.ok, .contentTooLarge])
  func `what such a response decodes to is read to its end, however late`(_ status: HTTPResponse.Status) async throws {
    let packed = try #require(Data(base64Encoded: Self.packed))
    let answer = OriginResponse(status, fields: [.contentEncoding: "gzip"], body: Array(packed))
    try await staged(
      .http2, firstStreamWindow: 65_535, admit: { $0.path == "/" ? .answer(answer) : .read },
      changing: { $0.bufferSize = 1024 }
    ) { fixture in
      let response = try await fixture.client.execute(
        fixture.request(.put), body: .bytes([UInt8](repeating: 1, count: 4_000_000)),
        options: RequestOptions(timeouts: RequestTimeouts(total: .seconds(20)), decompresses: true))
      // Longer than the pool waits before it looks at the upload.
      let late = ContinuousClock.now + .milliseconds(3 * TransferState.answeredLook)
      while ContinuousClock.now < late {
        _ = try await fixture.client.execute(fixture.request(.get, "/beside")).body.text()
      }
      #expect(try await response.body.text() == String(repeating: "a", count: 100_000))
    }
  }

  private static let packed =
    """
    H4sIAAAAAAACA+3BMQEAAADCoKzrX8IaHkABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\
    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAArwaH+uIboIYBAA==
    """

  @Test(arguments: [OriginResponse(.accepted, fields: [.contentLength: "0"]), OriginResponse(.noContent)])
  func `success before the body ends with the body, once that was sent whole`(_ answer: OriginResponse) async throws {
    try await staged(.http2, admit: { _ in .answer(answer) }) { fixture in
      for size in [3, 100_000] {
        let (pieces, source) = AsyncStream.makeStream(of: [UInt8].self)
        let response = try await fixture.client.execute(fixture.request(.put), body: .stream(pieces))
        source.yield([UInt8](repeating: 1, count: size))
        source.finish()
        #expect(response.status == answer.status)
        #expect(try await response.body.text() == "")
        let other = try await fixture.client.execute(
          fixture.request(.post), body: .bytes([UInt8](repeating: 1, count: size)))
        #expect(try await other.body.text() == "")
      }
    }
  }

  @Test(arguments: ["200 OK", "413 Content Too Large"])
  func `over HTTP/1.1 a connection that ends before it took the body is an error behind success alone`(
    _ status: String
  ) async throws {
    let server = try #require(TalkativeServer("HTTP/1.1 \(status)\r\nContent-Length: 2\r\n\r\nno", then: ""))
    let client = try ClientSample.client()
    let request = HTTPRequest(method: .put, url: try WebURL("http://shop.test:\(server.port)/"))
    let response = try await client.execute(request, body: .bytes([UInt8](repeating: 1, count: 32 << 20)))
    server.stop()
    do {
      let text = try await response.body.text()
      #expect(text == "no" && response.status == .contentTooLarge)
    } catch {
      #expect(response.status == .ok && error.code == .connectionLost, "\(error)")
      #expect(error.message.contains("may have kept a part"), "\(error)")
    }
    await client.shutdown()
  }

  private static func isCurl(atLeast version: [Int]) -> Bool {
    let parts = CurlVersion().number.split { !$0.isNumber }.compactMap { Int($0) }
    return !parts.lexicographicallyPrecedes(version)
  }
}
