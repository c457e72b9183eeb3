// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct ASCIITests {
  @Test(arguments: [
    (" \ta b\t ", "a b"), ("a", "a"), ("   ", ""), ("", ""), ("\r a\r", "\r a\r"), (" \u{308}", "\u{308}"),
  ])
  func `trimming takes bytes off both ends only`(_ text: String, _ trimmed: String) {
    #expect(text[...].trimmed == trimmed[...])
    #expect(Array(text.utf8).trimming(ASCII.isBlank).elementsEqual(trimmed.utf8))
  }
}

struct PortTextTests {
  @Test(arguments: [("0", 0), ("53", 53), ("0053", 53), ("65535", 65_535)] as [(String, UInt16)])
  func `a port is digits`(_ text: String, _ port: UInt16) { #expect(UInt16(port: text) == port) }

  @Test(arguments: ["", "+53", "-0", "-1", " 53", "53 ", "65536", "5x", "0x35", "٥٣", "99999999999999999999"])
  func `anything else is none`(_ text: String) { #expect(UInt16(port: text) == nil) }
}
