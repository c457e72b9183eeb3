// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSFoundation
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("Redirects of URLSession")
struct RedirectURLRequestTests {
  private func request(_ change: (inout URLRequest) -> Void = { _ in }) throws -> URLRequest {
    var request = URLRequest(url: try #require(URL(string: "https://shop.test/start")), timeoutInterval: 7)
    request.httpMethod = "POST"
    request.httpBody = Data("order".utf8)
    request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
    request.setValue("Bearer x", forHTTPHeaderField: "Authorization")
    request.setValue("1", forHTTPHeaderField: "X-Key")
    change(&request)
    return request
  }

  private func response(_ status: Int, _ location: String?) throws -> HTTPURLResponse {
    let url = try #require(URL(string: "https://shop.test/start"))
    let fields = location.map { ["Location": $0] }
    return try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields))
  }

  @Test func `a POST goes on as GET, without its body and what is about it`() throws {
    let next = try #require(try Redirect.next(after: response(302, "/next"), to: request(), hops: 0))
    #expect(next.url?.absoluteString == "https://shop.test/next" && next.httpMethod == "GET" && next.httpBody == nil)
    #expect(next.allHTTPHeaderFields == ["Authorization": "Bearer x", "X-Key": "1"] && next.timeoutInterval == 7)
  }

  @Test func `a body that is kept goes to another origin without credentials`() throws {
    let next = try #require(try Redirect.next(after: response(307, "https://other.test/"), to: request(), hops: 0))
    #expect(next.httpMethod == "POST" && next.httpBody == Data("order".utf8))
    #expect(next.allHTTPHeaderFields == ["Content-Type": "text/plain", "X-Key": "1"])
  }

  @Test(arguments: [
    ("/a|b%20c", "https://shop.test/a%7Cb%20c"), ("/ä|b", "https://shop.test/%C3%A4%7Cb"),
    ("/x?f=Open+Sans:400|Roboto%20Mono", "https://shop.test/x?f=Open+Sans:400%7CRoboto%20Mono"),
    ("/100%#[x]", "https://shop.test/100%25#%5Bx%5D"),
  ])
  func `what a browser leaves as it is gets encoded once, and the rest of the URL not again`(
    _ location: String, _ expected: String
  ) throws {
    let next = try #require(try Redirect.next(after: response(302, location), to: request(), hops: 0))
    #expect(next.url?.absoluteString == expected)
  }

  @Test func `a target that Foundation has no URL for is an error`() throws {
    let error = #expect(throws: DirectDNSError.self) {
      try Redirect.next(after: response(302, "http://a{b.test/"), to: request(), hops: 0)
    }
    #expect(error?.code == .invalidURL)
  }

  @Test func `what does not redirect is the caller's`() throws {
    #expect(try Redirect.next(after: response(200, "/next"), to: request(), hops: 0) == nil)
    #expect(try Redirect.next(after: response(302, nil), to: request(), hops: 0) == nil)
    for blank in ["", " ", "\t "] {
      let came = try response(307, blank)
      let restorer = try ResponseRestorer(originalURL: WebURL("https://shop.test/start"), addresses: [])
      let restored = try #require(restorer.restore(came))
      #expect(try Redirect.next(after: came, to: request(), hops: 0) == nil)
      #expect(try Redirect.next(after: restored, to: request(), hops: 0) == nil)
    }
  }

  @Test func `a stream that is needed again is an error`() throws {
    let streamed = try request { $0.httpBodyStream = InputStream(data: Data("order".utf8)) }
    let error = #expect(throws: DirectDNSError.self) {
      try Redirect.next(after: response(307, "/next"), to: streamed, hops: 0)
    }
    #expect(error?.code == .bodyNotReplayable)
  }
}
