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
