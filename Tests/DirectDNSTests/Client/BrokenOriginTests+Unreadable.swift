// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

/// Responses that are none, cannot be decoded, or say more than one should.
extension BrokenOriginTests {
  private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

  private static func encoded(_ coding: String) -> String {
    "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: 9\r\n\r\nno coding"
  }

  @Test(
    arguments: [
      ("nonsense\r\n\r\n", "scheme and port"), ("HTTP/1.1\r\n\r\n", ""), ("HTTP/1.1 99\r\n\r\n", ""),
      ("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", "which the server has to mend"),
      ("HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", "which the server has to mend"),
      (chunked + "many\r\nhalf\r\n0\r\n\r\n", "its chunks are malformed"),
      (encoded("gzip"), "without compression"), (encoded("deflate"), "without compression"),
      (encoded("unheard-of"), "without compression"),
    ], [HTTPRequest.Method.get, .post])
  func `what is no response, or cannot be decoded, is an error, and not asked for again`(
    _ response: (text: String, words: String), _ method: HTTPRequest.Method
  ) async throws {
    try await staged(handler: { _ in throw OriginFault.text(response.text) }) { fixture in
      let error = await #expect(throws: DirectDNSError.self) {
        let options = RequestOptions(decompresses: true)
        let response = try await fixture.client.execute(
          fixture.request(method), body: method == .post ? .text("x") : .none, options: options)
        _ = try await response.body.collect(upTo: 1_000)
      }
      #expect(error?.code == .malformedResponse && error?.isTransient == false, "\(String(describing: error))")
      #expect(error?.message.contains(response.words) == true, "\(error?.message ?? "")")
      #expect(fixture.origin.requests.count == 1)
    }
  }

  @Test func `a body that cannot be decoded is handed on as it is where it need not be`() async throws {
    try await staged(handler: { _ in throw OriginFault.text(Self.encoded("gzip")) }) { fixture in
      let text = try await fixture.client.execute(fixture.request()).body.text()
      #expect(text == "no coding")
    }
  }

  @Test(arguments: ["gzip, chunked", "chunked, gzip", "gzip", "unheard-of"])
  func `a transfer coding that was not asked for is the server's to mend, where nothing is decompressed`(
    _ codings: String
  ) async throws {
    let coded = "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(codings)\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    try await staged(handler: { _ in throw OriginFault.text(coded) }) { fixture in
      let error = await #expect(throws: DirectDNSError.self) {
        try await fixture.client.execute(fixture.request()).body.text()
      }
      #expect(error?.code == .malformedResponse && error?.message.contains("its transfer coding") == true)
    }
  }

  @Test func `a transfer coding that is none bears no length beside it, and needs none`() async throws {
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: identity\r\n"
    try await staged(handler: { _ in throw OriginFault.text(head + "\r\nhello") }) { fixture in
      let text = try await fixture.client.execute(fixture.request()).body.text()
      #expect(text == "hello")
    }
    try await staged(handler: { _ in throw OriginFault.text(head + "Content-Length: 5\r\n\r\nhello") }) { fixture in
      let error = await #expect(throws: DirectDNSError.self) { try await fixture.client.execute(fixture.request()) }
      #expect(error?.code == .malformedResponse && error?.message.contains("its transfer coding") == true)
    }
  }

  @Test func `a response to HEAD has no body, whatever it says of one`() async throws {
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"
    try await staged(handler: { _ in throw OriginFault.text(text) }) { fixture in
      let response = try await fixture.client.execute(fixture.request(.head))
      let body = try await response.body.text()
      #expect(response.status == .ok && body.isEmpty)
    }
  }

  // MARK: More than a response should say

  /// Responses that are as they should be, but for the size of one part.
  private static func talk(_ part: String, _ line: String, count: Int) -> String {
    let lines = String(repeating: line + "\r\n", count: count)
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
    let body = "\r\n4\r\nbody\r\n0\r\n"
    return switch part {
    case "trailers": head + body + lines + "\r\n"
    case "head": head + lines + body + "\r\n"
    case "interim heads":
      String(repeating: "HTTP/1.1 103 Early Hints\r\n\(line)\r\n\r\n", count: count) + head + body + "\r\n"
    default: part
    }
  }

  @Test(
    arguments: ["trailers", "head", "interim heads"],
    [("a: b", 10_000), ("X-Long: " + String(repeating: "v", count: 1_000), 300)])
  func `heads and trailers beyond 256 KiB end the transfer, once`(_ part: String, _ lines: (String, Int)) async throws {
    let text = Self.talk(part, lines.0, count: lines.1)
    try await staged(handler: { _ in throw OriginFault.text(text) }) { fixture in
      let error = await #expect(throws: DirectDNSError.self) {
        try await fixture.client.execute(fixture.request()).body.text()
      }
      #expect(
        error?.code == .fieldsTooLarge && error?.message.contains("262144") == true, "\(String(describing: error))")
      #expect(fixture.origin.requests.count == 1)
    }
  }

  @Test(arguments: ["trailers", "head", "interim heads"])
  func `heads and trailers within 256 KiB are read`(_ part: String) async throws {
    let text = Self.talk(part, "a: b", count: 1_500)
    try await staged(handler: { _ in throw OriginFault.text(text) }) { fixture in
      let response = try await fixture.client.execute(fixture.request())
      #expect(try await response.body.text() == "body" && response.status == .ok)
      let count = response.headerFields.count + response.body.trailerFields.count
      #expect(count >= (part == "interim heads" ? 1 : 1_501))
    }
  }

  @Test func `a line of a head that is longer than libcurl takes is what it is called`() async throws {
    let text = "HTTP/1.1 200 OK\r\nX: " + String(repeating: "v", count: 200_000) + "\r\n\r\n"
    try await staged(handler: { _ in throw OriginFault.text(text) }) { fixture in
      let error = await #expect(throws: DirectDNSError.self) { try await fixture.client.execute(fixture.request()) }
      #expect(error?.code == .fieldsTooLarge && fixture.origin.requests.count == 1, "\(String(describing: error))")
    }
  }
}
