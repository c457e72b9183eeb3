// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct PercentEncodingTests {
  @Test(arguments: [
    ("", ""), ("a+b", "a+b"), ("%41%62c", "Abc"), ("a%20b%C3%a9", "a bé"), ("%00", "\0"), ("%ff", "\u{fffd}"),
    ("%", "%"), ("%4", "%4"), ("%zz%", "%zz%"), ("%%41", "%A"), ("%2541", "%41"),
  ])
  func `an escape stands for its byte, a percent sign alone stays, and what is no UTF-8 is repaired`(
    _ text: String, _ decoded: String
  ) {
    #expect(PercentEncoding.decodedText(text) == decoded)
    #expect(PercentEncoding.decodedText("=\(text)".dropFirst()) == decoded)
  }

  @Test func `what was encoded is decoded to the same`() {
    let text = String(String.UnicodeScalarView((UInt32(0)..<0x180).compactMap { Unicode.Scalar($0) }))
    #expect(PercentEncoding.decodedText(PercentEncoding.encoded(text, .reserved)) == text)
  }

  @Test(arguments: [("", ""), (" ", "+"), (" a  b ", "+a++b+"), ("a+b%20", "a%2Bb%2520"), ("ü&=", "%C3%BC%26%3D")])
  func `a form has a plus sign for a blank, and all else as a URL has it`(_ text: String, _ encoded: String) {
    #expect(PercentEncoding.formEncoded(Array(text.utf8)) == encoded)
  }
}
