// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

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
