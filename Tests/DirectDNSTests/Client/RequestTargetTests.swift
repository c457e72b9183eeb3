// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct ClientRequestTests {
  @Test(arguments: [
    "http://shop.test/", "https://user:word@shop.test:8443/a/b?c=d#e", "http://[2001:db8::1]:81/?#",
    "http://shop.test/#x",
  ])
  func `a request comes back from its parts`(_ text: String) throws {
    let url = try WebURL(text)
    let request = HTTPRequest(method: .put, url: url, headerFields: [.server: "x"])
    let parts = try ClientRequest(request)
    #expect(parts.method == .put && parts.url == url && parts.fields == [.server: "x"])
    #expect(parts.request == request)
  }

  @Test func `a request without a URL is refused`() {
    let request = HTTPRequest(method: .get, scheme: nil, authority: "shop.test", path: "/")
    #expect { _ = try ClientRequest(request) } throws: { ($0 as? DirectDNSError)?.code == .invalidURL }
  }

  @Test func `a redirect's request has the URL that it leads to`() throws {
    let url = try WebURL("http://shop.test/a")
    let response = HTTPResponse(status: .found, headerFields: [.location: "https://pay.test/b#c"])
    let redirect = try #require(
      try Redirect.next(after: response, to: HTTPRequest(method: .post, url: url), body: .none, hops: 0))
    let next = ClientRequest(redirect)
    #expect(next.method == .get && next.url.href == "https://pay.test/b#c")
  }
}
