// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct CookieTests {
  private func cookie(
    _ name: String = "a", _ value: String = "b", domain: String = "www.a.example", isHostOnly: Bool = true,
    path: String = "/", expires: CookieTime? = nil, isSecure: Bool = false
  ) throws(CookieRejection) -> Cookie {
    try Cookie(
      name: name, value: value, domain: Sample.domain(domain), isHostOnly: isHostOnly, path: path, expires: expires,
      isSecure: isSecure, now: Sample.now)
  }

  @Test func `a cookie made by hand is like one that was received`() throws {
    #expect(try cookie() == Sample.cookie("a=b"))
    #expect(try cookie("", "b") == Sample.cookie("b"))
    let all = try Cookie(
      name: "a", value: "", domain: Sample.domain("a.example"), isHostOnly: false, path: "/x", expires: Sample.now + 9,
      isSecure: true, isHTTPOnly: true, sameSite: .strict, now: Sample.now)
    #expect(
      all == Sample.cookie("a=; domain=a.example; path=/x; max-age=9; secure; httponly; samesite=strict"))
  }

  @Test(arguments: [
    ("", "", "/"), ("a\n", "b", "/"), ("a", "b\u{0}", "/"), ("a", "b", "/\u{7F}"), ("a;", "b", "/"), ("a", "b;c", "/"),
    ("a=", "b", "/"), (" a", "b", "/"), ("a", "b\t", "/"), ("a", "b", ""), ("a", "b", "x"),
  ])
  func `a cookie that no field could have set is refused`(_ name: String, _ value: String, _ path: String) {
    #expect(throws: CookieRejection.self) { try cookie(name, value, path: path) }
  }

  @Test func `name and value have at most 4096 octets together`() throws {
    let long = String(repeating: "é", count: 2_048)
    #expect(throws: Never.self) { try cookie("", long) }
    #expect(throws: CookieRejection.tooLong(octets: 4_097)) { try cookie("a", long) }
    #expect(Sample.cookie("a=" + String(repeating: "x", count: 4_095)) != nil)
    #expect(Sample.cookie("a=" + String(repeating: "x", count: 4_096)) == nil)
  }

  @Test func `no cookie lasts longer than 400 days`() throws {
    let end = Sample.now + 400 * 86_400
    #expect(try cookie(expires: end).expires == end)
    #expect(try cookie(expires: end + 1).expires == end)
  }

  @Test func `a cookie for an address is for that host alone`() throws {
    #expect(try cookie(domain: "192.0.2.1", isHostOnly: false).isHostOnly)
  }

  @Test func `a public suffix may have a cookie of its own, and none for those below it`() throws {
    #expect(try cookie(domain: "co.uk").isHostOnly)
    #expect(throws: CookieRejection.publicSuffix("co.uk")) { try cookie(domain: "co.uk", isHostOnly: false) }
  }

  @Test(arguments: [
    ("__Secure-a", true, false, "/x", true), ("__SECURE-a", false, true, "/", false),
    ("__Host-a", true, true, "/", true),
    ("__hOSt-a", true, false, "/", false), ("__Host-a", false, true, "/", false), ("__Host-a", true, true, "/x", false),
    ("__Hosta", false, false, "/x", true), ("_Host-a", false, false, "/x", true),
  ])
  func `a prefix of the name, in any case, holds what it promises`(
    _ name: String, _ isSecure: Bool, _ isHostOnly: Bool, _ path: String, _ isTaken: Bool
  ) {
    let cookie = try? cookie(name, domain: "a.example.com", isHostOnly: isHostOnly, path: path, isSecure: isSecure)
    #expect((cookie != nil) == isTaken)
  }

  @Test func `a value without a name may not look like a prefixed name`() {
    for value in ["__Host-a=b", "__secure-", "__HOST-"] {
      #expect(throws: CookieRejection.prefix) { try cookie("", value, isSecure: true) }
    }
  }

  @Test(arguments: [
    ("a=b", "http://www.a.example/", true), ("a=b", "http://x.www.a.example/", false),
    ("a=b; domain=a.example", "http://x.a.example/", true), ("a=b; domain=a.example", "http://a.example/", true),
    ("a=b; secure", "http://www.a.example/", false), ("a=b; secure", "wss://www.a.example/", true),
    ("a=b; path=/x", "http://www.a.example/x/y", true), ("a=b; path=/x", "http://www.a.example/", false),
    ("a=b; samesite=strict", "http://www.a.example/", true), ("a=b", "http://www.a.example.:81/?q", true),
    ("a=b; httponly", "ws://www.a.example/", true),
  ])
  func `a request carries a cookie of its host, path and kind of connection`(
    _ field: String, _ url: String, _ isSent: Bool
  ) {
    #expect(Sample.cookie(field)?.isSent(with: Sample.request(url), at: Sample.now) == isSent)
  }

  @Test func `an expired cookie is not sent`() {
    let cookie = Sample.cookie("a=b; max-age=60")
    let request = Sample.request("https://www.a.example/")
    #expect(cookie?.isSent(with: request, at: Sample.now + 59) == true)
    #expect(cookie?.isSent(with: request, at: Sample.now + 60) == false)
  }

  @Test func `a cookie that is held back is not sent`() {
    var cookie = Sample.cookie("a=b")
    cookie?.isHeld = true
    #expect(cookie?.isSent(with: Sample.request("https://www.a.example/"), at: Sample.now) == false)
  }

  @Test func `a cookie takes the place of one with its name, domain, path and reach`() throws {
    #expect(try cookie("a", "new").replaces(cookie()))
    for other in try [cookie("A"), cookie(domain: "a.example"), cookie(isHostOnly: false), cookie(path: "/x")] {
      #expect(try !other.replaces(cookie()))
    }
  }

  @Test func `a cookie is its host's alone, of every path and any connection, unless it is said otherwise`() throws {
    let cookie = try Cookie(name: "a", value: "b", domain: Sample.domain("a.example"), now: Sample.now)
    #expect(cookie.isHostOnly)
    #expect(cookie.path == "/")
    #expect(cookie.expires == nil)
    #expect(!cookie.isSecure)
    #expect(!cookie.isHTTPOnly)
    #expect(cookie.sameSite == nil)
  }

  @Test func `a description shows no value`() throws {
    #expect(try cookie("a\tb", "secret", path: "/x").description == #""a\tb" of www.a.example/x"#)
  }
}

struct CookiePathTests {
  @Test func `a folder with a semicolon is a default path as any other`() throws {
    let url = try WebURL("http://www.a.example/map/color;lat=50/view")
    let cookie = try Cookie(setCookie: "a=b", for: url, now: .init(secondsSince1970: 0))
    #expect(cookie.path == "/map/color;lat=50")
  }

  @Test(arguments: [
    ("/", "/"), ("/a", "/"), ("/a/", "/a"), ("/a/b", "/a"), ("/a/b/", "/a/b"), ("//", "/"), ("/é/x", "/é"),
    ("/%2F/x", "/%2F"), ("", "/"), ("a/b", "/"), ("a", "/"),
  ])
  func `the default path is the folder of the URL's path`(_ path: String, _ expected: String) {
    #expect(CookiePath.defaultPath(of: path) == expected)
  }

  @Test(arguments: [
    ("/a", "/a", true), ("/a/", "/a", true), ("/a/b", "/a", true), ("/a/b", "/a/", true), ("/ab", "/a", false),
    ("/a", "/a/", false), ("/A", "/a", false), ("/", "/", true), ("/a", "/", true), ("/", "/a", false),
    ("/%61", "/a", false), ("/a?x", "/a", false),
  ])
  func `a path matches itself and what lies below it`(_ request: String, _ path: String, _ matches: Bool) {
    #expect(CookiePath.matches(request, path) == matches)
  }
}
