// SPDX-License-Identifier: Apache-2.0
import CDirectDNSCurl
import Testing

@testable import DirectDNS

struct CurlURLTests {
  @Test(arguments: [
    ("http://a.test/", 13), ("https://a.test:8443/b/c?d=/e", 19), ("http://[::1]:1/", 14), ("http://a.test//b", 13),
  ])
  func `a URL's origin ends before its path`(_ url: String, _ length: Int) {
    #expect(CurlURL.originLength(of: url) == length)
  }

  @Test(arguments: [
    "", "http://", "http://a.test", "a.test/b", "http://a.test?b/c", "http://a.test/b#c", "http://a.test/b c",
    "http://a.test/\r\nX: y", "http://a.test/\u{E9}", "http://a.test/\u{7F}", "http://a.test/\0",
  ])
  func `a URL without a path, or with what libcurl would not send as it is, is not taken apart`(_ url: String) {
    #expect(CurlURL.originLength(of: url) == nil)
  }

  @Test func `it is what was parsed last, and nothing where that cannot be`() {
    let url = CurlURL()
    #expect(url.text.isEmpty)
    let handle = unsafe url.parse("http://a.test:1")
    #expect(unsafe handle != nil && url.text == "http://a.test:1")
    #expect(unsafe url.parse("http://b.test:1") == handle && url.text == "http://b.test:1")
    #expect(unsafe url.parse("http://b.test:0x") == nil && url.text.isEmpty)
    #expect(unsafe url.parse("http://b.test:1") == handle && url.text == "http://b.test:1")
  }
}
