// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// The scan that keeps canonical texts, held to the parser: what it takes, the parser gives the same URL for.
struct WebURLCanonicalTests {
  @Test(arguments: [
    "ws://h/", "wss://h/", "http://h/", "https://www.example.com/api/v1/items?id=42&lang=en&page",
    "http://192.0.2.1/", "https://192.0.2.1:8443/x", "http://h:0/", "http://h:65535/", "ws://h:443/",
    "https://h:80/", "http://h/#", "http://h/?#", "http://h/??a#?#", "http://h/?/../x#/../x",
    "http://h//a//", "http://h/.a/..b/.../a../b.", "http://h/.well-known/x", "http://h/%41%zz%/%2F..%2f",
    "http://h/%2ea/a%2e/.%2e.", "http://h/!$&'()*+,-;=@[]_|~:", "http://h/?!$&()*+,-./:;=?@[\\]^_`{|}~",
    "http://h/#!#$%&'()*+,-./:;=?@[\\]^_{|}~", "http://r3---sn-x.a-.b_c.xn--tda.example/",
    "http://1.2.3.4a/", "http://a..b/", "http://1.2.example/",
  ])
  func `a text that a browser would write is kept as it is`(_ text: String) throws {
    let url = try #require(WebURL(canonical: text))
    #expect(url.href.utf8.elementsEqual(text.utf8))
    let read = try WebURL(text)
    #expect(text.utf8.count < 16 || read.href.utf8.span.isIdentical(to: text.utf8.span), "it was copied")
    try Self.holdToTheParser(url, text)
  }

  @Test(arguments: [
    "", "h", "http:", "http://", "http:///", "http:///x", "http://h", "http://h?x", "http://h:8080",
    "HTTP://h/", "ftp://h/", "https//h/x/y/z", "http:/h/x/y/z", "httpss://h/", "wsss://h/",
    "http:\\\\h/x", "http://H/", "http://u@h/", "http://u:p@h/", "http://h./", "http://[::1]/",
    "http://1/", "http://1.2.3/", "http://01.2.3.4/", "http://1.2.3.256/", "http://a.1/",
    "http://0x7f.1/", "http://h.0x/", "http://h:80/", "https://h:443/", "ws://h:80/", "wss://h:443/",
    "http://h:/", "http://h:08/", "http://h:00/", "http://h:65536/", "http://h:100000/", "http://h:8a/",
    "http://h!/", "http://h%41/", "http://é.example/", "http://h/é", "http://h/?é", "http://h/#é",
    "http://h/.", "http://h/..", "http://h/./a", "http://h/a/../b", "http://h/a/..?x", "http://h/a/.#x",
    "http://h/%2e/a", "http://h/%2E%2e", "http://h/.%2e/", "http://h/a\\b", "http://h/a b", "http://h/ ",
    " http://h/", "http://h/\t", "http://h/\n", "http://h/\u{0}", "http://h/\u{7F}", "http://h/\"",
    "http://h/<", "http://h/>", "http://h/^", "http://h/`", "http://h/{", "http://h/}", "http://h/?'",
    "http://h/?\"", "http://h/?<", "http://h/?>", "http://h/#\"", "http://h/#<", "http://h/#>",
    "http://h/#`",
  ])
  func `any other text is left to the parser`(_ text: String) {
    #expect(WebURL(canonical: text) == nil)
  }

  @Test(arguments: 0..<16 as Range<UInt64>)
  func `generated URLs are kept, and mean what the parser says, as do their mutants`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var kept = 0
    let count = Sanitizer.volume(of: 500)
    for _ in 0..<count {
      let text = Self.canonicalText(&random)
      let url = try #require(WebURL(canonical: text), "\(text) was left to the parser")
      try Self.holdToTheParser(url, text)
      for _ in 0..<8 {
        let mutant = Self.mutant(of: text, &random)
        guard let url = WebURL(canonical: mutant) else { continue }
        kept += 1
        try Self.holdToTheParser(url, mutant)
      }
    }
    #expect(kept > count * 7 / 5, "too few mutants are still canonical")
  }

  @Test(arguments: ["ws://1.2.3.4:81/.a/%2f?b#c", "https://w.example:8443/a/b?c=d#e"])
  func `every ASCII byte at every position is taken as the parser takes it, or left to it`(_ text: String) throws {
    let bytes = Array(text.utf8)
    var kept = 0
    for byte in 0..<128 as Range<UInt8> {
      for position in 0...bytes.count {
        for length in 0...1 where position + length <= bytes.count {
          var mutant = bytes
          mutant.replaceSubrange(position..<position + length, with: [byte])
          let text = String(decoding: mutant, as: UTF8.self)
          guard let url = WebURL(canonical: text) else { continue }
          kept += 1
          try Self.holdToTheParser(url, text)
        }
      }
    }
    #expect(kept > 1000)
  }

  @Test func `the table of bytes is the percent-encode sets turned round`() {
    for byte in UInt8.min ... .max {
      #expect(URLPart.fragment.keeps(byte) == !PercentEncoding.EncodeSet.fragment.contains(byte))
      #expect(URLPart.query.keeps(byte) == !PercentEncoding.EncodeSet.query.contains(byte))
      let isSlash = byte == ASCII.slash || byte == ASCII.backslash
      #expect(URLPart.segment.keeps(byte) == (!isSlash && !PercentEncoding.EncodeSet.path.contains(byte)))
      let isName = ASCII.isLowerLetter(byte) || ASCII.isDigit(byte) || "-._".utf8.contains(byte)
      #expect(URLPart.host.keeps(byte) == isName)
    }
  }

  private static func holdToTheParser(_ url: WebURL, _ text: String) throws {
    var parser = WebURLParser(text)
    let parsed = try parser.url(base: nil)
    #expect(url == parsed && url.layout == parsed.layout, "\(text)")
    #expect(url.rewritten == text)
  }

  private static func canonicalText(_ random: inout SeededGenerator) -> String {
    let scheme = WebURL.Scheme.allCases.randomElement(using: &random) ?? .http
    var text = scheme.rawValue + "://"
    if Bool.random(using: &random) {
      let labels = ["a", "www", "x-y", "r3---sn", "a_b", "1a", "xn--tda", "0x7f", "09", "-", "1", "a-"]
      text += (0..<Int.random(in: 0...3, using: &random)).map { _ in labels.randomElement(using: &random) ?? "" }
        .map { $0 + "." }.joined()
      text += ["example", "test", "0xg", "h"].randomElement(using: &random) ?? ""
    } else {
      text += "\(IPAddress.ipv4(.random(in: .min ... .max, using: &random)))"
    }
    let port = UInt16.random(in: .min ... .max, using: &random)
    if port != scheme.defaultPort, Bool.random(using: &random) { text += ":\(port)" }
    let segments = [
      "", "a", "b.c", "..x", "...", ".well-known", "%41", "%2e%2e%2e", "~;a=b", "@:", "[]|", "%zz", ".%2",
      "%",
    ]
    text += "/"
    text += (0..<Int.random(in: 0...4, using: &random)).map { _ in segments.randomElement(using: &random) ?? "" }
      .joined(separator: "/")
    let pieces = ["a", "=", "&", "%20", "/../", "?", "\\", "[]", "^|", "{}", "%", "é".percentEncoded]
    if Bool.random(using: &random) { text += "?" + random.text(of: pieces + ["`"], upTo: 6) }
    if Bool.random(using: &random) { text += "#" + random.text(of: pieces + ["'", "#"], upTo: 6) }
    return text
  }

  /// The text with a byte or two replaced, put in or taken out.
  private static func mutant(of text: String, _ random: inout SeededGenerator) -> String {
    var bytes = Array(text.utf8)
    let pieces = [
      "", "a", "A", "0", "1", "8", ".", "..", "/", "/.", "/..", "%2e", "%2E", "%", "\\", "?", "#", "@",
      ":", "-", "_", "xn--", "[", "]", " ", "\t", "\n", "'", "\"", "<", "`", "{", "^", "|", "\u{0}",
      "\u{7F}", "é", "☕",
    ]
    for _ in 0..<Int.random(in: 1...2, using: &random) {
      let start = Int.random(in: 0...bytes.count, using: &random)
      let end = min(bytes.count, start + Int.random(in: 0...2, using: &random))
      bytes.replaceSubrange(start..<end, with: (pieces.randomElement(using: &random) ?? "").utf8)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension WebURL {
  /// The URL of a text that the scan takes.
  fileprivate init?(canonical text: String) {
    guard let layout = Layout.canonical(text) else { return nil }
    self.init(href: text, layout: layout)
  }

  /// The URL put together again of its public parts.
  fileprivate var rewritten: String {
    var text = scheme.rawValue + "://"
    if !username.isEmpty || !password.isEmpty {
      text += username + (password.isEmpty ? "" : ":" + password) + "@"
    }
    text += "\(host)" + (port.map { ":\($0)" } ?? "") + path
    return text + (query.map { "?" + $0 } ?? "") + (fragment.map { "#" + $0 } ?? "")
  }
}

extension String {
  fileprivate var percentEncoded: String {
    var bytes: [UInt8] = []
    PercentEncoding.append(utf8.span, .userInfo, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}
