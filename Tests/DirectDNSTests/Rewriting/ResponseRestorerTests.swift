// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct ResponseRestorerTests {
  private func restorer(_ url: String = "https://shop.test:8443/dir/page?x=1#part") throws -> ResponseRestorer {
    ResponseRestorer(
      originalURL: try WebURL(url),
      addresses: ["8.8.8.8", "9.9.9.9", "2606:4700::7"].compactMap { IPAddress($0) })
  }

  // MARK: Location

  @Test(arguments: [
    ("https://8.8.8.8/abs", "https://shop.test/abs#part"),
    ("https://9.9.9.9:8443/any-of-them", "https://shop.test:8443/any-of-them#part"),
    ("http://[2606:4700:0::7]:81/x#own", "http://shop.test:81/x#own"),
    ("https://0x08080808/", "https://shop.test/#part"),
    ("https://[::ffff:8.8.8.8]/", "https://shop.test/#part"),
    ("HTTPS:\\\\8.8.8.8\\x", "https://shop.test/x#part"),
    ("//8.8.8.8/x", "https://shop.test/x#part"),
    ("https://u:p@8.8.8.8/", "https://u:p@shop.test/#part"),
  ])
  func `an address of the answer becomes the name, whatever its spelling and port`(
    _ value: String, _ restored: String
  ) throws {
    #expect(try restorer().location(value) == restored)
  }

  @Test(arguments: [
    ("next", "https://shop.test:8443/dir/next#part"), ("/a/../b", "https://shop.test:8443/b#part"),
    ("?q", "https://shop.test:8443/dir/page?q#part"), ("#own", "https://shop.test:8443/dir/page?x=1#own"),
    ("https:next", "https://shop.test:8443/dir/next#part"),
    ("\\%2e%2e\\up", "https://shop.test:8443/up#part"), ("//other.test/x", "https://other.test/x#part"),
  ])
  func `a relative reference is resolved against the original URL, and inherits its fragment`(
    _ value: String, _ restored: String
  ) throws {
    #expect(try restorer().location(value) == restored)
  }

  @Test(arguments: [
    "https://other.test/x", "HTTP://Other.Test:80/%7e", "https://8.8.8.80/", "https://8.8.8.8.test/",
    "https://8.8.8.8@other.test/", "mailto:a@8.8.8.8", "javascript:alert(1)", "https://8.8.8.8:99999/", "http:///three",
    "https:\t//other.test/x", "https:/\n/other.test/x", "https:\r//other.test/x",
  ])
  func `anything else keeps its bytes`(_ value: String) throws {
    #expect(try restorer().location(value) == value)
  }

  @Test(arguments: ["", " ", "\t", " \t ", "\u{b}", "\u{c}", "\u{1} \u{1f}"])
  func `a blank value stays blank, for the rule that judges it`(_ value: String) throws {
    #expect(try restorer().location(value) == value)
    #expect(try restorer().location(value, isRedirect: false) == value)
    #expect(try restorer().refresh("5; url=\"\(value)\"") == "5; url=\"\(value)\"")
    let fields: HTTPFields = [.location: value, .contentLocation: value]
    let response = HTTPResponse(status: .found, headerFields: fields)
    #expect(try restorer().restore(response).headerFields == fields)
  }

  @Test func `an address in a query stays`() throws {
    #expect(try restorer().location("/p?u=https://8.8.8.8/") == "https://shop.test:8443/p?u=https://8.8.8.8/#part")
  }

  // MARK: Set-Cookie

  @Test(arguments: [
    ("a=1; Domain=8.8.8.8", "a=1"), ("a=1; DOMAIN = 9.9.9.9 ; Secure", "a=1; Secure"),
    ("a=1;domain=.8.8.8.8;Path=/", "a=1;Path=/"), ("a=1; Domain=[2606:4700::7]", "a=1"),
    ("a=1; Domain=2606:4700::7; HttpOnly", "a=1; HttpOnly"), ("a=1; Domain=0x08080808", "a=1"),
    ("a=1; Domain=other.test; Domain=8.8.8.8", "a=1"), ("a=1;; Domain=8.8.8.8;", "a=1;;"),
    ("a=1; Domain=\u{301}x; Domain=8.8.8.8", "a=1"),
    // The longest domain that a jar looks at (RFC 6265bis §5.6).
    ("a=1; Domain=" + String(repeating: "0", count: 1_016) + "10.8.8.8", "a=1"),
  ])
  func `a cookie for an address becomes one for the host alone`(_ value: String, _ restored: String) throws {
    #expect(try restorer().setCookie(value) == restored)
  }

  @Test(arguments: [
    "a=1", "a=Domain=8.8.8.8", "Domain=8.8.8.8", "a=1; Domain=test", "a=1; Domain=shop.test; Path=/8.8.8.8",
    "a=1; Domain=8.8.8.80", "a=1; Domain=8.8.8.8; Domain=shop.test", "a=1; Domain=", "a=1; Domain", "",
    "a=1; X-Domain=8.8.8.8", "a=1; Domain=8.8.8.8=x", "a=1; =Domain=8.8.8.8",
    "a=1; Domain=" + String(repeating: "0", count: 1_017) + "10.8.8.8",
  ])
  func `any other cookie keeps its bytes`(_ value: String) throws {
    #expect(try restorer().setCookie(value) == value)
  }

  @Test(arguments: [
    "__Host-a=1; Secure; Path=/; Domain=8.8.8.8", " __HOST-a=1; Domain=8.8.8.8", "a=1; Domain=x\u{1}; Domain=8.8.8.8",
    "a\u{7f}=1; Domain=8.8.8.8",
    "a=1; Domain=other.test; Domain=" + String(repeating: "0", count: 1_021) + "10.8.8.8",
  ])
  func `what a jar refuses as it came, it gets as it came`(_ value: String) throws {
    #expect(try restorer().setCookie(value) == value)
    let url = try WebURL("https://shop.test/")
    #expect(throws: CookieRejection.self) { try Cookie(setCookie: value, for: url, now: Sample.now) }
  }

  // MARK: The response

  @Test func `all fields of a response are restored, and no other is touched`() throws {
    var response = HTTPResponse(status: .found)
    response.headerFields = [
      .location: "https://8.8.8.8/l", .contentLocation: "c", .server: "https://8.8.8.8/",
      .setCookie: "a=1; Domain=8.8.8.8",
    ]
    response.headerFields.append(HTTPField(name: .setCookie, value: "b=2; Domain=9.9.9.9"))
    response.headerFields.append(HTTPField(name: .refresh, value: "5; url='https://9.9.9.9/r'"))
    let fields = try restorer().restore(response).headerFields
    #expect(
      fields.map(\.value) == [
        "https://shop.test/l#part", "https://shop.test:8443/dir/c", "https://8.8.8.8/", "a=1", "b=2",
        "5; url='https://shop.test/r'",
      ])
  }

  @Test func `only a redirect inherits the fragment`() throws {
    let response = HTTPResponse(status: .created, headerFields: [.location: "/made"])
    #expect(try restorer().restore(response).headerFields[.location] == "https://shop.test:8443/made")
  }

  @Test func `an address that the policy forbade is recognised too`() throws {
    let answer = ["10.0.0.1", "8.8.8.8"].compactMap { IPAddress($0) }
    let request = HTTPRequest(url: try WebURL("http://shop.test/"))
    let direct = try #require(RequestRewriter().rewrite(request, using: answer).direct)
    let response = HTTPResponse(status: .found, headerFields: [.location: "http://10.0.0.1/x"])
    #expect(ResponseRestorer.restore(response, for: direct).headerFields[.location] == "http://shop.test/x")
  }

  // MARK: There and back

  @Test func `rewriting and restoring gives the name back, for every URL`() throws {
    var random = SeededGenerator(seed: 7)
    let parts: [[String]] = [
      ["http", "https", "ws", "wss", "HTTP"], ["", "u@", "u:p@", ":p@", "a%40:b:c@"],
      ["shop.test", "Shop.TEST", "shop.test.", "xn--bcher-kva.test", "bücher.test", "a_b.test", "x"],
      ["", ":80", ":443", ":8443", ":"], ["", "/", "/a/../b", "/%2e/x y", "\\c", "//d", "/8.8.8.8"],
      ["", "?", "?q=1&r=http://8.8.8.8/", "?'"], ["", "#", "#f", "#a b"],
    ]
    var tried = 0
    for _ in 0..<4000 {
      let text = parts.enumerated().map { index, choices in
        (index == 0 ? "" : index == 1 ? "://" : "") + (choices.randomElement(using: &random) ?? "")
      }.joined()
      let url = try WebURL(text)
      let address = [IPAddress.ipv4(0x0808_0808), .ipv6(high: 0x2606_4700_0000_0000, low: 7)].randomElement(
        using: &random)
      let outcome = RequestRewriter().rewrite(HTTPRequest(url: url), using: [try #require(address)])
      let direct = try #require(outcome.direct)
      #expect(direct.url.layout == (try WebURL(direct.url.href)).layout, "\(text)")
      let back = ResponseRestorer(for: direct).location(direct.url.href)
      #expect(back == url.text(userInfo: false), "\(text)")
      tried += 1
    }
    #expect(tried == 4000)
  }
}

struct RefreshURLTests {
  @Test(arguments: [
    ("5; url=/next", "/next"), ("0;URL=https://a.test/", "https://a.test/"), ("5 url = 'x y' rest", "x y"),
    ("1.5, url=\"x\"", "x"), ("5; /bare", "/bare"), ("5;urlish", "urlish"), (" 7 ; Url=x", "x"),
    (".5; url=/x", "/x"), (".;url=/x", "/x"), ("0; url=\"/x\"\u{301}", "/x"), ("0;url=\u{301}x", "\u{301}x"),
    ("5;\u{301}x", "\u{301}x"), ("5;\r\nurl=/x", "/x"),
  ])
  func `the URL is found behind the time`(_ value: String, _ url: String) {
    #expect(RefreshURL.range(in: value).map { String(value[$0]) } == url)
  }

  @Test(arguments: ["", "5", "5;", "5; url=", "url=/x", ".", ".5", "5x; url=/x", "soon; url=/x"])
  func `a value without a time or a URL has none`(_ value: String) {
    #expect(RefreshURL.range(in: value) == nil)
  }
}
