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
