// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct BodyLengthTests {
  private func check(
    _ method: HTTPRequest.Method, _ fields: HTTPFields, _ body: RequestBody
  ) throws(DirectDNSError) -> Int64? {
    try BodyLength.check(ClientRequest(method, try WebURL("http://a.test/"), fields), body)
  }

  private let stream = RequestBody.stream(Pieces(bytes: [1, 2]))

  @Test func `a body's own length counts, and the field's where it knows none`() throws {
    #expect(try check(.post, [:], .bytes([1, 2])) == 2)
    #expect(try check(.post, [.contentLength: "2"], .bytes([1, 2])) == 2)
    #expect(try check(.post, [.contentLength: "2"], stream) == 2)
    #expect(try check(.post, [:], stream) == nil)
    #expect(try check(.post, [.transferEncoding: "chunked"], stream) == nil)
    #expect(try check(.get, [.contentLength: "0"], .none) == 0)
  }

  @Test func `what a request says of its body has to be true`() {
    let lies: [(HTTPRequest.Method, HTTPFields, RequestBody, String)] = [
      (.post, [.contentLength: "3"], .bytes([1, 2]), "says 3, and the body has 2 bytes"),
      (.get, [.contentLength: "5"], .none, "says 5, and the body has 0 bytes"),
      (.post, [.contentLength: "-1"], stream, "not a number"), (.post, [.contentLength: "+2"], stream, "not a number"),
      (.post, [.contentLength: ""], stream, "not a number"), (.post, [.contentLength: "two"], stream, "not a number"),
      (.post, [.transferEncoding: "gzip, chunked"], stream, "Transfer-Encoding is the client's"),
      (.get, [.transferEncoding: "chunked"], .none, "Transfer-Encoding is the client's"),
      (.head, [:], .bytes([1]), "A HEAD request has no body"), (.trace, [:], stream, "A TRACE request has no body"),
      (.connect, [:], .none, "CONNECT is for proxies"),
      (.post, [:], .stream(Pieces(bytes: [1]), length: -1), "length is given as -1"),
      (.post, [:], .replayable(length: Int64.min) { Pieces(bytes: [1]) }, "length is given as -9223372036854775808"),
    ]
    for (method, fields, body, reason) in lies {
      let error = #expect(throws: DirectDNSError.self) { try check(method, fields, body) }
      #expect(error?.code == .invalidRequest && error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }
  }
}
