// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct DirectDNSErrorQuotingTests {
  @Test func `text from outside stands in quotes`() {
    #expect(DirectDNSError.quoted("www.example.net") == "\"www.example.net\"")
    #expect(DirectDNSError.quoted("") == "\"\"")
    #expect(DirectDNSError.quoted("Bücher") == "\"Bücher\"")
  }

  @Test(arguments: [
    "\n", "\r", "\t", "\u{1B}", "\u{0}", "\u{7F}", "\u{85}", "\u{202E}", "\u{200B}", "\u{2028}", "\u{2029}",
    "\u{FEFF}",
    "\u{E000}", "\u{301}", "\u{20DD}",
  ])
  func `what is invisible, or acts on a terminal, is escaped`(_ scalar: String) {
    let quoted = DirectDNSError.quoted("a\(scalar)b")
    #expect(!quoted.unicodeScalars.contains { scalar.unicodeScalars.contains($0) })
    #expect(quoted.hasPrefix("\"a\\"))
    #expect(quoted.hasSuffix("b\""))
  }

  @Test func `a quote cannot end the quotation`() {
    #expect(DirectDNSError.quoted("a\"b") == "\"a\\\"b\"")
    #expect(DirectDNSError.quoted("a\\") == "\"a\\\\\"")
  }

  @Test func `long text is cut, and shows that it was`() {
    #expect(
      DirectDNSError.quoted(String(repeating: "a", count: 80)) == "\"\(String(repeating: "a", count: 80))\"")
    #expect(
      DirectDNSError.quoted(String(repeating: "a", count: 81)) == "\"\(String(repeating: "a", count: 80))…\"")
  }
}
