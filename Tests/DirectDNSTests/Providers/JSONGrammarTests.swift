// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// What is JSON and what is not, by the one who asks: a reader is made of nothing else.
struct JSONGrammarTests {
  @Test(arguments: [
    "", " ", "nul", "nulll", "True", "01", "-", "-01", "1.", ".5", "1.e3", "1e", "1e+", "+1", "0x10", "NaN",
    "Infinity",
    "\"", "\"a", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\ud83d\\u12\"", "\"a\nb\"", "\"a\tb\"",
    "'a'", "[",
    "[1", "[1,", "[1,]", "[,1]", "[1 2]", "]", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,",
    "{\"a\":1,}", "{a:1}",
    "{1:2}", "{\"a\" 1}", "1 2", "[] []", "{}x", "\u{feff}{}", "/**/1", "[\"a\", \"b\\\"]", "\"\\u",
    "\"\\ud83d\\u", "nulltrue", "truetruetrue", "falsefalse",
  ])
  func `what is not JSON text is refused`(_ text: String) { #expect(JSONReader(Array(text.utf8)) == nil) }

  @Test func `depth is bounded, so that no text can exhaust the stack`() {
    func nested(_ depth: Int) -> [UInt8] {
      Array(repeating: UInt8(ascii: "["), count: depth) + Array(repeating: UInt8(ascii: "]"), count: depth)
    }
    #expect(JSONReader(nested(16)) != nil)
    #expect(JSONReader(nested(17)) == nil)
    #expect(JSONReader([UInt8](repeating: UInt8(ascii: "["), count: 65_536)) == nil)
    #expect(JSONReader(Array(String(repeating: #"{"a":"#, count: 10_000).utf8)) == nil)
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func `no bytes can crash the reader`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let good = Array(
      #"{"Status":0,"Answer":[{"name":"a.test.","TTL":60,"data":"\u00e9\ud83d\ude00"},{"x":[-1.5e3,null,true]}]}"#
        .utf8)
    var taken = 0
    for _ in 0..<1500 {
      var bytes = good
      bytes.mutate(using: &random)
      if JSONReader(bytes) != nil { taken += 1 }
    }
    #expect(taken > 50)
  }
}
