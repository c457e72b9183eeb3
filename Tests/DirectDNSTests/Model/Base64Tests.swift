// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct Base64Tests {
  // RFC 4648 §10.
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ])
  func `every length has its padding, and none in URLs`(_ text: String, _ encoded: String) {
    #expect(Base64.encoded(Array(text.utf8)) == encoded)
    #expect(Base64.urlEncoded(Array(text.utf8)) == encoded.filter { $0 != "=" })
    #expect(Base64.urlDecoded(encoded.filter { $0 != "=" }) == Array(text.utf8))
  }

  @Test func `the last two characters are those that URLs and file names may hold`() {
    #expect(Base64.encoded([0xFB, 0xEF, 0xFF]) == "++//")
    #expect(Base64.urlEncoded([0xFB, 0xEF, 0xFF]) == "--__")
    #expect(Base64.urlDecoded("--__") == [0xFB, 0xEF, 0xFF])
  }

  @Test(arguments: ["Z", "Zg==", "Zh", "Zm9v Zg", "++//", "Zm9vZ", "ü"])
  func `what has padding, another alphabet or bits that no byte takes is refused`(_ text: String) {
    #expect(Base64.urlDecoded(text) == nil)
  }
}

struct HexTests {
  @Test func `each byte is two digits`() {
    #expect(Hex.encoded([0, 0x0F, 0xAB, 0xFF]) == "000fabff" && Hex.encoded([]).isEmpty)
    #expect(Hex.decoded("000fABff".utf8) == [0, 0x0F, 0xAB, 0xFF] && Hex.decoded("".utf8) == [])
  }

  @Test(arguments: ["0", "000", "0g", "0x00", " 00", "0 0", "０0"])
  func `half a byte and what is no digit are refused`(_ text: String) { #expect(Hex.decoded(text.utf8) == nil) }
}
