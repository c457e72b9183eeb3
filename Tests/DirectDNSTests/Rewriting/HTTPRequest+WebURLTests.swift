// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

@Suite("A request's URL")
struct HTTPRequestWebURLTests {
  @Test(arguments: [
    "https://a.example/", "http://u:p@a.example:8080/x/y?q=1#part", "wss://[2001:db8::1]:8443/?",
    "http://:p@a.example/#",
  ])
  func `a request made for a URL gives it back`(_ text: String) throws {
    let url = try WebURL(text)
    #expect(try WebURL(HTTPRequest(url: url)) == url)
  }

  @Test func `a request says which part it lacks`() {
    for (request, part) in [
      (HTTPRequest(method: .get, scheme: nil, authority: "a.example", path: "/"), "scheme"),
      (HTTPRequest(method: .get, scheme: "https", authority: nil, path: "/"), "authority"),
      (HTTPRequest(method: .get, scheme: "https", authority: "a.example", path: nil), "path"),
    ] {
      #expect(#expect(throws: DirectDNSError.self) { try WebURL(request) }?.message.contains("no \(part)") == true)
    }
  }

  @Test(arguments: [
    ("a.example", "x"), ("a.example", "@b.example/"), ("a.example/", "/x"), ("a.example\\@b", "/x"),
    ("", "/b.example/"),
    ("\t", "/b.example/"), ("a.example?", "/x"), ("a.example#", "/x"), ("a b", "/x"),
  ])
  func `authority and path cannot run into each other`(_ authority: String, _ path: String) {
    let request = HTTPRequest(method: .get, scheme: "https", authority: authority, path: path)
    #expect(#expect(throws: DirectDNSError.self) { try WebURL(request) }?.code == .invalidURL)
  }

  @Test(arguments: [
    "https://evil.example/?", "https://evil.example", "https:", "ht tps", "", "ftp", "file",
  ])
  func `a scheme cannot name another host`(_ scheme: String) {
    let request = HTTPRequest(method: .get, scheme: scheme, authority: "a.example", path: "/x")
    let error = #expect(throws: DirectDNSError.self) { try WebURL(request) }
    #expect(error?.code == .invalidURL)
    #expect(error?.message.hasSuffix("is not supported: use http or https, or ws or wss for a WebSocket.") == true)
  }

  @Test(arguments: ["http", "HTTPS", "Ws", "wss"])
  func `a scheme may be written in any case`(_ scheme: String) throws {
    let request = HTTPRequest(method: .get, scheme: scheme, authority: "a.example", path: "/x")
    #expect(try WebURL(request).href == "\(scheme.lowercased())://a.example/x")
  }
}
