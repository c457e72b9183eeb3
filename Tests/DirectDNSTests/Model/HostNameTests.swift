// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS

struct HostNameTests {
  @Test(arguments: [
    ("www.example.net", "www.example.net"), ("WWW.Example.NET", "www.example.net"),
    ("host.example.", "host.example"),
    ("_dmarc.example", "_dmarc.example"), ("r1---sn-q.video.example", "r1---sn-q.video.example"),
    ("tail-.example", "tail-.example"), ("-lead.example", "-lead.example"),
    ("4chan.example", "4chan.example"),
    ("1.2.3.example", "1.2.3.example"), ("a.1b", "a.1b"), ("a.0xg", "a.0xg"), ("localhost", "localhost"),
    ("Grüße.example", "xn--gre-6ka8l.example"), ("mail%2Eexample", "mail.example"),
    ("ab--cd.example", "ab--cd.example"),
  ])
  func `a name is kept in lower-case ASCII without its final dot`(_ text: String, _ canonical: String) throws {
    #expect(try HostName(text).text == canonical)
  }

  @Test(arguments: [
    ("", "empty"), (".", "root"), ("a..example", "empty label"), (".example", "empty label"),
    ("a.example..", "empty label"), ("a b.example", "\" \""), ("a*.example", "\"*\""), ("a!b", "\"!\""),
    ("a:80", "\":\""), ("user@example", "\"@\""), ("a/b", "\"/\""), ("xn--\u{7F}", "xn--"),
  ])
  func `what no DNS name may have is refused by name`(_ text: String, _ part: String) {
    let error = #expect(throws: DirectDNSError.self) { try HostName(text) }
    #expect(error?.code == .invalidName)
    #expect(error?.message.contains(part) == true)
  }

  @Test(arguments: ["192.0.2.1", "192.0.2.1.", "127.1", "0x7f.1", "[::1]", "2130706433", "%31.1", "①.1"])
  func `an address in any spelling is no host name, and the error says so`(_ text: String) {
    let error = #expect(throws: DirectDNSError.self) { try HostName(text) }
    #expect(error?.code == .invalidName)
    #expect(error?.message.contains("is an address") == true)
  }

  @Test func `labels have at most 63 octets and names at most 253`() throws {
    let label = String(repeating: "a", count: 63)
    #expect(try HostName(label).text == label)
    #expect(throws: DirectDNSError.self) { try HostName(label + "a") }
    #expect(throws: DirectDNSError.self) { try HostName("A." + label + "a") }
    let longest = [label, label, label, String(repeating: "b", count: 61)].joined(separator: ".")
    #expect(longest.utf8.count == 253)
    #expect(try HostName(longest).text == longest)
    #expect(try HostName(longest + ".").text == longest)
    let error = #expect(throws: DirectDNSError.self) { try HostName(longest + "b") }
    #expect(error?.message.contains("253") == true)
  }

  @Test func `names are equal when their texts are, and then have one hash`() throws {
    let name = try HostName("A.Example.")
    #expect(try name == HostName("a.example"))
    #expect(try name.hash == HostName("a.example").hash)
    #expect(try name != HostName("b.example"))
    #expect(try Set([name, HostName("a.example"), HostName("b.example")]).count == 2)
    #expect(name.hash == NameHash.hash("a.example"))
  }

  @Test(arguments: [
    ("a.b.example", "example", true), ("a.b.example", "b.example", true), ("b.example", "b.example", true),
    ("ab.example", "b.example", false), ("example", "b.example", false), ("b.example", "a.b.example", false),
    ("example.b", "example", false), ("a.bxexample", "b.example", false),
  ])
  func `a suffix is made of whole labels`(_ name: String, _ suffix: String, _ expected: Bool) throws {
    #expect(try HostName(name).hasSuffix(HostName(suffix)) == expected)
  }

  @Test func `labels are listed from left to right`() throws {
    #expect(try HostName("a.bc.example").labels == ["a", "bc", "example"])
    #expect(try HostName("localhost").isSingleLabel)
    #expect(try !HostName("a.localhost").isSingleLabel)
  }

  @Test func `a name that stands for those below it may begin with a dot, and with no asterisk`() throws {
    for text in ["a.example", ".a.example"] { #expect(try HostName(suffix: text).text == "a.example") }
    for (text, name) in [("*.a.example", "\"a.example\""), ("*.", "\"\""), ("*.\u{1b}", "\"\\u{1B}\"")] {
      let error = #expect(throws: DirectDNSError.self) { try HostName(suffix: text) }
      #expect(error?.message == "A name stands for itself and for all names below it: write \(name).", "\(text)")
    }
  }

  @Test func `names are ordered by their text`() throws {
    let names = try ["b.example", "a.example", "a"].map { try HostName($0) }
    #expect(names.sorted().map(\.text) == ["a", "a.example", "b.example"])
  }

  @Test func `a name is coded as its text`() throws {
    let json = try JSONEncoder().encode([HostName("A.example")])
    #expect(try JSONDecoder().decode([String].self, from: json) == ["a.example"])
    #expect(try JSONDecoder().decode([HostName].self, from: json) == [HostName("a.example")])
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([HostName].self, from: Data(#"["a..b"]"#.utf8))
    }
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func `the scan of plain names never differs from the URL parser`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let pieces = ["a", "z", "0", "9", "0x", "f", "-", "--", "_", ".", ".", "xn--", "example", "q-7"]
    var plain = 0
    for _ in 0..<400 {
      let text = random.text(of: pieces, upTo: 7)
      if HostName.isPlain(text.utf8.span) { plain += 1 }
      let scanned = try? HostName(text)
      let parsed = (try? WebURL.Host(text)).flatMap { try? HostName($0) }
      #expect(scanned?.text == parsed?.text, "\(text)")
    }
    #expect(plain > 50)
  }
}
