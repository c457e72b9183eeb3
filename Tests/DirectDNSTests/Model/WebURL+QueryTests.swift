// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

@Suite("Items that are appended to a URL's query")
struct WebURLQueryTests {
  @Test(arguments: [
    ("https://a.test", "https://a.test/?n=1&m=2"),
    ("https://a.test/p?", "https://a.test/p?n=1&m=2"),
    ("https://a.test/p?x=%20+|", "https://a.test/p?x=%20+|&n=1&m=2"),
    ("https://a.test/p#top?", "https://a.test/p?n=1&m=2#top?"),
    ("http://u:p@[2001:db8::1]:81/p?x#", "http://u:p@[2001:db8::1]:81/p?x&n=1&m=2#"),
  ])
  func `items stand behind the query that is there, and before the fragment`(_ text: String, _ expected: String) throws
  {
    let items: [(String, String)] = [("n", "1"), ("m", "2")]
    let url = try WebURL(text).appending(queryItems: items)
    #expect(url.href == expected)
    let read = try WebURL(expected)
    #expect(url == read && url.layout == read.layout)
    #expect(url.fragment == read.fragment && url.query == read.query && url.path == read.path)
  }

  @Test(arguments: [
    ("a b", "a%20b"), ("a+b", "a%2Bb"), ("&=#?/%", "%26%3D%23%3F%2F%25"), ("ü\n", "%C3%BC%0A"),
    ("AZaz09-._~", "AZaz09-._~"),
    ("'\"<>*!()", "%27%22%3C%3E%2A%21%28%29"), ("", ""),
  ])
  func `a name and a value are read as they were given, whatever is in them`(_ text: String, _ encoded: String) throws {
    let url = try WebURL("https://a.test/").appending(queryItems: [(text, text), (text, "2")])
    #expect(url.query == "\(encoded)=\(encoded)&\(encoded)=2")
    #expect(try WebURL(url.href).layout == url.layout)
  }

  @Test func `no items change nothing`() throws {
    for text in ["https://a.test/", "https://a.test/?", "https://a.test/#f"] {
      #expect(try WebURL(text).appending(queryItems: []).href == text)
    }
  }
}
