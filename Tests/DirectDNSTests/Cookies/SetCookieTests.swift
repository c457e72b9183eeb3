// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct SetCookieTests {
  @Test(arguments: [
    ("a=b", "a", "b"), ("a=b=c", "a", "b=c"), ("a=", "a", ""), ("=b", "", "b"), ("b", "", "b"), ("", "", ""),
    (" \ta \t= \tb c\t ; x", "a", "b c"), ("a=\"b c\"", "a", "\"b c\""), ("a=b,c=d", "a", "b,c=d"), (";a=b", "", ""),
    ("a==b", "a", "=b"), ("ä=ö", "ä", "ö"), ("a=b;\u{301}x", "a", "b"),
  ])
  func `name and value stand before the first semicolon, around the first equals sign`(
    _ text: String, _ name: String, _ value: String
  ) throws {
    let field = try SetCookie(text)
    #expect(field.name == name)
    #expect(field.value == value)
  }

  @Test(arguments: ["a=b\u{0}", "a\r=b", "a=b; path=/\n", "a=\u{1F}", "a=b\u{7F}"])
  func `a control character anywhere makes the whole field void`(_ text: String) {
    #expect(throws: CookieRejection.controlCharacter) { try SetCookie(text) }
  }

  @Test func `attributes are known in any case and with spaces around them, and the last one counts`() throws {
    let field = try SetCookie(
      "a=b; DOMAIN = .Old.example; domain=.A.Example ;SECURE;HttpOnly=no ; path=/x;Path = /y; SameSite=Lax;samesite=NONE"
    )
    #expect(field.domain == "a.example")
    #expect(field.path == "/y")
    #expect(field.isSecure)
    #expect(field.isHTTPOnly)
    #expect(field.sameSite == Cookie.SameSite.none)
  }

  @Test func `what is not known means nothing`() throws {
    let field = try SetCookie("a=b; version=1; Partitioned; Priority=High; \"Secure\"; Secure x; Max Age=3; ;;=;")
    #expect(!field.isSecure)
    #expect(field.maximumAge == nil)
    #expect(field.domain == nil)
    #expect(field.path == nil)
    #expect(field.sameSite == nil)
  }

  @Test func `an unknown SameSite takes back the one before it`() throws {
    #expect(try SetCookie("a=b; SameSite=Strict; SameSite=Sometimes").sameSite == nil)
  }

  @Test(arguments: [("path=x", ""), ("path", ""), ("path=", ""), ("path=/dog; path=", ""), ("path=; path=/x", "/x")])
  func `a path without its slash stands for the default path`(_ attributes: String, _ path: String) throws {
    #expect(try SetCookie("a=b; " + attributes).path == path)
  }

  @Test(arguments: [
    ("60", 60), ("0", 0), ("-1", 0), ("-999999999999999999999", 0), ("007", 7), ("999999999999999999999", Int64.max),
  ])
  func `Max-Age is a number of seconds, however large`(_ text: String, _ seconds: Int64) throws {
    #expect(try SetCookie("a=b; max-age=\(text)").maximumAge == .seconds(seconds))
  }

  @Test(arguments: ["", "-", "+1", "1.5", "1 0", "1,000", "0x10", "٣"])
  func `another Max-Age is ignored, and an earlier one stays`(_ text: String) throws {
    #expect(try SetCookie("a=b; max-age=\(text)").maximumAge == nil)
    #expect(try SetCookie("a=b; max-age=5; max-age=\(text)").maximumAge == .seconds(5))
  }

  @Test func `an Expires that is no date is ignored`() throws {
    #expect(try SetCookie("a=b; expires=soon").expires == nil)
    let field = try SetCookie("a=b; expires=Sun, 06 Nov 1994 08:49:37 GMT; expires=soon")
    #expect(field.expires == CookieTime(secondsSince1970: 784_111_777))
  }

  @Test func `an attribute's value of more than 1024 octets is ignored`() throws {
    let long = "/" + String(repeating: "x", count: 1_023)
    #expect(try SetCookie("a=b; path=\(long)").path == long)
    #expect(try SetCookie("a=b; path=/y; path=\(long)x").path == "/y")
  }

  @Test func `a domain is lower-cased by ASCII's rules alone`() throws {
    #expect(try SetCookie("a=b; domain=\u{212A}.Example").domain == "\u{212A}.example")
    #expect(try SetCookie("a=b; domain=").domain == "")
    #expect(try SetCookie("a=b; domain=..a").domain == ".a")
  }
}

struct CookieReceivingTests {
  @Test func `a cookie without attributes is the host's, for the folder, until the session ends`() {
    let cookie = Sample.cookie("a=b", from: "https://www.a.example/x/y?/z")
    #expect(cookie?.domain == Sample.domain("www.a.example"))
    #expect(cookie?.isHostOnly == true)
    #expect(cookie?.path == "/x")
    #expect(cookie?.expires == nil)
    #expect(cookie?.creation == Sample.now)
    #expect(cookie?.lastAccess == Sample.now)
  }

  @Test(arguments: [
    ("a.example", "a.example"), (".a.example", "a.example"), ("WWW.A.Example", "www.a.example"),
  ])
  func `Domain widens a cookie to the domain and all below it`(_ attribute: String, _ domain: String) {
    let cookie = Sample.cookie("a=b; domain=\(attribute)")
    #expect(cookie?.domain == Sample.domain(domain))
    #expect(cookie?.isHostOnly == false)
  }

  @Test(arguments: ["", ".", "x.example; domain="])
  func `an empty Domain is none`(_ attribute: String) {
    #expect(Sample.cookie("a=b; domain=\(attribute)")?.isHostOnly == true)
  }

  @Test(arguments: [
    "b.example", "x.www.a.example", "..a.example", "a.example.", "a.example:443", "192.0.2.1", "ä.example",
  ])
  func `a Domain that does not cover the host is foreign`(_ attribute: String) {
    #expect(throws: CookieRejection.foreignDomain(attribute == "..a.example" ? ".a.example" : attribute)) {
      try Cookie(setCookie: "a=b; domain=\(attribute)", for: Sample.url("https://www.a.example/"), now: Sample.now)
    }
  }

  @Test func `a Domain in characters that only look like the host's is foreign`() {
    #expect(Sample.cookie("a=b; domain=\u{212A}.example", from: "https://k.example/") == nil)
  }

  @Test(arguments: ["com", "co.uk", "example"])
  func `a public suffix as the Domain is rejected, but for the suffix itself`(_ suffix: String) {
    #expect(throws: CookieRejection.publicSuffix(suffix)) {
      try Cookie(setCookie: "a=b; domain=\(suffix)", for: Sample.url("https://www.a.\(suffix)/"), now: Sample.now)
    }
    #expect(Sample.cookie("a=b; domain=\(suffix)", from: "https://\(suffix)/")?.isHostOnly == true)
  }

  @Test func `a host without a name may name its address, and stays alone`() {
    for (host, attribute) in [("192.0.2.1", "192.0.2.1"), ("[2001:db8::1]", "2001:db8::1"), ("127.1", "127.0.0.1")] {
      let cookie = Sample.cookie("a=b; domain=\(attribute)", from: "http://\(host)/")
      #expect(cookie?.isHostOnly == true)
    }
    for attribute in ["0.2.1", "2.1", "192.0.2.2", "a.example"] {
      #expect(Sample.cookie("a=b; domain=\(attribute)", from: "http://192.0.2.1/") == nil)
    }
  }

  @Test(arguments: ["192.0.2.1", "0xC0.0.2.1", "3221225985"])
  func `a server that was asked by address for a host may name the address in any spelling`(_ spelling: String) throws {
    let cookie = try Cookie(
      setCookie: "a=b; domain=\(spelling)", for: Sample.url("http://192.0.2.1/"), hostField: "www.a.example",
      now: Sample.now)
    #expect(cookie.domain == Sample.domain("www.a.example"))
    #expect(cookie.isHostOnly)
  }

  @Test func `a request to an address is the Host field's`() throws {
    let url = Sample.url("http://[2001:db8::1]:8080/")
    func cookie(_ field: String) throws -> Cookie {
      try Cookie(setCookie: field, for: url, hostField: "www.a.example:8080", now: Sample.now)
    }
    #expect(try cookie("a=b").domain == Sample.domain("www.a.example"))
    #expect(try cookie("a=b; domain=a.example").domain == Sample.domain("a.example"))
    #expect(try cookie("a=b; domain=2001:db8:0::1").isHostOnly)
    #expect(throws: CookieRejection.self) { try cookie("a=b; domain=2001:db8::2") }
    // By its name the server would have named the host, which the prefix forbids.
    let secure = Sample.url("https://[2001:db8::1]/")
    #expect(throws: CookieRejection.prefix) {
      try Cookie(
        setCookie: "__Host-a=b; secure; path=/; domain=2001:db8::1", for: secure, hostField: "www.a.example",
        now: Sample.now)
    }
  }

  @Test func `Max-Age goes before Expires, wherever it stands`() {
    let date = "Tue, 14 Nov 2023 22:13:30 GMT"
    #expect(Sample.cookie("a=b; expires=\(date)")?.expires == Sample.now + 10)
    #expect(Sample.cookie("a=b; max-age=5; expires=\(date)")?.expires == Sample.now + 5)
    #expect(Sample.cookie("a=b; expires=\(date); max-age=5")?.expires == Sample.now + 5)
    #expect(Sample.cookie("a=b; expires=\(date); max-age=0")?.expires == .distantPast)
  }

  @Test(arguments: ["max-age=99999999999", "expires=Fri, 31 Dec 9999 23:59:59 GMT", "max-age=99999999999999999999999"])
  func `whatever comes later than 400 days ends then`(_ attribute: String) {
    #expect(Sample.cookie("a=b; \(attribute)")?.expires == Sample.now + 400 * 86_400)
  }

  @Test func `a Secure cookie needs a secure connection`() {
    #expect(Sample.cookie("a=b; secure", from: "https://a.example/")?.isSecure == true)
    #expect(Sample.cookie("a=b; secure", from: "http://localhost/")?.isSecure == true)
    #expect(throws: CookieRejection.notSecure) {
      try Cookie(setCookie: "a=b; secure", for: Sample.url("http://a.example/"), now: Sample.now)
    }
  }

  @Test(arguments: [
    ("__Host-a=b; secure; path=/", true), ("__Host-a=b; secure", false),
    ("__host-a=b; secure; path=/; domain=a.example", false),
    ("__Host-a=b; secure; path=", false), ("__Host-a=b; secure; path", false), ("__Host-a=b; secure; path=a", false),
    ("__Host-a=b; secure; path=/; path=", false), ("__Host-a=b; secure; path=/a; path=/", true),
    ("__Secure-a=b; secure", true), ("__Secure-a=b", false),
    ("=__Host-a=b; secure", false),
  ])
  func `a __Host- cookie says its path`(_ field: String, _ isTaken: Bool) {
    #expect((Sample.cookie(field) != nil) == isTaken)
  }

  @Test func `SameSite rejects nothing, since there is no other site`() {
    #expect(Sample.cookie("a=b; samesite=none", from: "http://a.example/")?.sameSite == Cookie.SameSite.none)
    #expect(Sample.cookie("a=b; samesite=strict")?.sameSite == .strict)
  }

  @Test func `a host that cannot be looked up sets no cookies`() {
    #expect(Sample.cookie("a=b", from: "http://a..example/") == nil)
  }
}

struct CookieRejectionTests {
  @Test(arguments: [
    "secret=secret; domain=b.example", "__Host-x=secret", "a=secret\u{1}", "a=secret; domain=com",
    "a=" + String(repeating: "secret", count: 700),
  ])
  func `a reason never shows the cookie's value`(_ field: String) {
    let error = #expect(throws: CookieRejection.self) {
      try Cookie(setCookie: field, for: Sample.url("https://www.a.com/"), now: Sample.now)
    }
    #expect(error.map { "\($0)" }?.contains("secret") == false)
  }

  @Test func `a reason shows the domain with its invisible characters escaped`() {
    #expect("\(CookieRejection.foreignDomain("b\u{202E}.example"))".contains("u{202E}"))
  }
}
