// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSFoundation
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("Restoring responses of URLSession")
struct ResponseRestorerHTTPURLResponseTests {
  private func restored(_ status: Int, _ fields: [String: String]) throws -> HTTPURLResponse {
    let url = try #require(URL(string: "http://203.0.113.7/start"))
    let response = try #require(
      HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields))
    let restorer = try ResponseRestorer(
      originalURL: WebURL("http://www.example.com/start#part"), addresses: [.ipv4(0xCB00_7107)])
    return try #require(restorer.restore(response))
  }

  @Test func `the response's URL is the one that was asked for, with its fragment`() throws {
    let response = try restored(204, ["X-A": "1"])
    #expect(response.url?.absoluteString == "http://www.example.com/start#part")
    #expect(response.statusCode == 204)
    #expect(response.value(forHTTPHeaderField: "X-A") == "1")
  }

  @Test(arguments: [
    ("Location", "http://203.0.113.7/next", "http://www.example.com/next#part"),
    ("location", "/next", "http://www.example.com/next#part"),
    ("Location", "http://other.example/", "http://other.example/"),
    ("Content-Location", "http://203.0.113.7/x", "http://www.example.com/x"),
    ("Refresh", "5; url=http://203.0.113.7/x", "5; url=http://www.example.com/x"),
  ])
  func `the name comes back into fields with URLs`(_ name: String, _ value: String, _ restored: String) throws {
    #expect(try self.restored(302, [name: value]).value(forHTTPHeaderField: name) == restored)
  }

  @Test func `cookies that were joined with commas are restored one by one`() throws {
    let joined = "a=1; Domain=203.0.113.7; Expires=Wed, 21 Oct 2099 07:28:00 GMT,b=2; domain=[::ffff:203.0.113.7], c=3"
    let response = try restored(200, ["Set-Cookie": joined])
    #expect(
      response.value(forHTTPHeaderField: "Set-Cookie") == "a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT, b=2, c=3")
    let fields = try #require(response.allHeaderFields as? [String: String])
    let cookies = HTTPCookie.cookies(withResponseHeaderFields: fields, for: try #require(response.url))
    #expect(cookies.map(\.name).sorted() == ["a", "b", "c"])
    #expect(Set(cookies.map(\.domain)) == ["www.example.com"])
  }

  @Test(arguments: ["x=1,y=2", "x=1 , y=2;Secure", "x=1, y=2", "x=1", "x=1; Domain=example.com,y=2"])
  func `cookies that need no restoring are as they came`(_ joined: String) throws {
    #expect(try restored(200, ["Set-Cookie": joined]).value(forHTTPHeaderField: "Set-Cookie") == joined)
  }

  @Test(arguments: [
    ("a=1", ["a=1"]), ("a=1,b=2", ["a=1", "b=2"]), ("a=1; Path=/ ,  b=2;Secure", ["a=1; Path=/", "b=2;Secure"]),
    ("a=1; Expires=Wed, 21-Oct-2099 07:28:00 GMT", ["a=1; Expires=Wed, 21-Oct-2099 07:28:00 GMT"]),
    ("a=x,y; Path=/", ["a=x,y; Path=/"]), ("a=\"x,y\"", ["a=\"x,y\""]), ("a=1,", ["a=1,"]), ("", []),
    ("a=1, b =2", ["a=1", "b =2"]), ("a=1, b=\u{301}2", ["a=1", "b=\u{301}2"]),
    ("a=1,\u{301}b=2", ["a=1", "\u{301}b=2"]),
  ])
  func `a comma parts cookies when a name and an equals sign follow`(_ joined: String, _ fields: [String]) throws {
    let url = try #require(URL(string: "http://203.0.113.7/"))
    let response = try #require(
      HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: ["Set-Cookie": joined]))
    let restorer = try ResponseRestorer(originalURL: WebURL("http://www.example.com/"), addresses: [])
    #expect(restorer.setCookies(of: response) == fields)
  }
}
