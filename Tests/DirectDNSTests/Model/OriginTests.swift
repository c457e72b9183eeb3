// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct OriginTests {
  @Test(arguments: [
    ("https://a.example/x?y#z", "https://a.example:443/"),
    ("http://u:p@A.example", "http://a.example:80/other"),
    ("https://0x7f.1/", "https://127.0.0.1/"),
  ])
  func `spelling, path and user info do not change the origin`(_ one: String, _ other: String) throws {
    #expect(Origin(try WebURL(one)) == Origin(try WebURL(other)))
  }

  @Test(arguments: [
    ("https://a.example/", "http://a.example/"), ("https://a.example/", "https://a.example:8443/"),
    ("https://a.example/", "https://www.a.example/"), ("https://a.example/", "https://a.example./"),
    ("http://a.example/", "ws://a.example/"),
  ])
  func `scheme, host and port do, a sub-domain and a final dot included`(_ one: String, _ other: String) throws {
    #expect(Origin(try WebURL(one)) != Origin(try WebURL(other)))
  }

  @Test(arguments: [
    ("https://a.example:443/x", "https://a.example"), ("http://[2001:db8::1]:8080/", "http://[2001:db8::1]:8080"),
  ])
  func `the text leaves the default port out`(_ url: String, _ text: String) throws {
    #expect(Origin(try WebURL(url)).description == text)
  }
}
