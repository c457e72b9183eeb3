// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct RefreshURLTests {
  @Test(arguments: [
    ("5; url=/next", "/next"), ("0;URL=https://a.test/", "https://a.test/"), ("5 url = 'x y' rest", "x y"),
    ("1.5, url=\"x\"", "x"), ("5; /bare", "/bare"), ("5;urlish", "urlish"), (" 7 ; Url=x", "x"),
  ])
  func `the URL is found behind the time`(_ value: String, _ url: String) {
    #expect(RefreshURL.range(in: value).map { String(value[$0]) } == url)
  }

  @Test(arguments: ["", "5", "5;", "5; url=", "url=/x", ".5; url=/x", "5x; url=/x", "soon; url=/x"])
  func `a value without a time or a URL has none`(_ value: String) {
    #expect(RefreshURL.range(in: value) == nil)
  }
}
