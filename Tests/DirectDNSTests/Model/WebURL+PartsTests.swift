// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct RequestURLTests {
  @Test(arguments: [
    (
      "https://u:p@DOH.test:443/a/../q?x=1#f", "https://doh.test/q?x=1", "https://doh.test/q?x=1&",
      "https://doh.test"
    ),
    ("https://doh.test", "https://doh.test/", "https://doh.test/?", "https://doh.test"),
    ("https://doh.test/?", "https://doh.test/?", "https://doh.test/?", "https://doh.test"),
    (
      "http://192.0.2.1:8053/d", "http://192.0.2.1:8053/d", "http://192.0.2.1:8053/d?",
      "http://192.0.2.1:8053"
    ),
    (
      "https://[2001:DB8::1]:8443/", "https://[2001:db8::1]:8443/", "https://[2001:db8::1]:8443/?",
      "https://[2001:db8::1]:8443"
    ),
  ])
  func `a URL is requested without user info and fragment`(
    _ text: String, _ request: String, _ prefix: String, _ origin: String
  ) throws {
    let url = try WebURL(text)
    #expect(url.requestText == request && url.queryPrefix == prefix && url.originText == origin)
  }

  @Test(arguments: [
    ("abcXYZ019-._~", "abcXYZ019-._~"), ("a,b", "a,b"), ("a b&c=d#e?f/g", "a%20b%26c%3Dd%23e%3Ff%2Fg"),
    ("\n\u{1}", "%0A%01"), ("ü", "%C3%BC"), ("+%", "%2B%25"), ("", ""),
  ])
  func `a value is escaped, all but unreserved characters and the comma`(_ value: String, _ expected: String) {
    #expect(queryEscaped(value) == expected)
    #expect(queryText(["k": value, "l": "1"]) == "k=\(expected)&l=1")
  }
}

@Suite("URLs for parsers that go by RFC 3986")
struct WebURLRFC3986Tests {
  @Test(arguments: [
    ("http://a.test/a|b%20c", "http://a.test/a%7Cb%20c"),
    ("http://a.test/ä|b", "http://a.test/%C3%A4%7Cb"),
    ("http://a.test/[x]^`{}", "http://a.test/%5Bx%5D%5E%60%7B%7D"),
    ("http://a.test/?[y]^`{}|\\", "http://a.test/?%5By%5D%5E%60%7B%7D%7C%5C"),
    ("http://a.test/#[z]^`{}|\\#w", "http://a.test/#%5Bz%5D%5E%60%7B%7D%7C%5C%23w"),
    ("http://a.test/%zz%2?%#%a", "http://a.test/%25zz%252?%25#%25a"),
    ("http://u%|:p%zz@a.test/", "http://u%25%7C:p%25zz@a.test/"),
    ("http://[2001:db8::1]:8080/[", "http://[2001:db8::1]:8080/%5B"),
  ])
  func `what RFC 3986 has no place for is encoded, and nothing twice`(_ text: String, _ expected: String) throws {
    let url = try WebURL(text)
    #expect(url.rfc3986 == expected)
    let again = try WebURL(expected)
    #expect(again.href == expected && again.rfc3986 == expected)
    #expect(again.host == url.host && again.effectivePort == url.effectivePort)
  }

  @Test(arguments: [
    "http://a.test/", "https://u:p@a.test:8443/a-._~!$&'()*+,;=:@/b?c=/?&d=%20%ff#e?/", "ws://[::1]/",
    "http://a.test/?#",
  ])
  func `what RFC 3986 knows stays as it is`(_ text: String) throws {
    let url = try WebURL(text)
    #expect(url.rfc3986 == url.href)
  }
}
