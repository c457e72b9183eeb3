// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct BodyLengthTests {
  private func check(
    _ method: HTTPRequest.Method, _ fields: HTTPFields, _ body: RequestBody
  ) throws(DirectDNSError) -> Int64? {
    try BodyLength.check(
      HTTPRequest(method: method, scheme: "http", authority: "a.test", path: "/", headerFields: fields), body)
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
    let lies: [(HTTPRequest.Method, HTTPFields, RequestBody)] = [
      (.post, [.contentLength: "3"], .bytes([1, 2])), (.get, [.contentLength: "5"], .none),
      (.post, [.contentLength: "-1"], stream),
      (.post, [.contentLength: "+2"], stream), (.post, [.contentLength: ""], stream),
      (.post, [.contentLength: "two"], stream),
      (.post, [.transferEncoding: "gzip, chunked"], stream), (.get, [.transferEncoding: "chunked"], .none),
      (.head, [:], .bytes([1])), (.connect, [:], .none),
    ]
    for (method, fields, body) in lies {
      let error = #expect(throws: DirectDNSError.self) { try check(method, fields, body) }
      #expect(error?.code == .invalidRequest)
    }
  }
}
