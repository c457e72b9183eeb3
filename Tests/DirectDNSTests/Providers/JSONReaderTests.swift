// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// What is JSON and what is not.
struct JSONReaderTests {
  private func isJSON(_ bytes: [UInt8]) -> Bool { JSONReader.read(bytes) { $0.value() != nil } }

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
  func `what is not JSON text is refused`(_ text: String) { #expect(!isJSON(Array(text.utf8))) }

  @Test func `depth is bounded, so that no text can exhaust the stack`() {
    func nested(_ depth: Int) -> [UInt8] {
      Array(repeating: UInt8(ascii: "["), count: depth) + Array(repeating: UInt8(ascii: "]"), count: depth)
    }
    #expect(isJSON(nested(16)))
    #expect(!isJSON(nested(17)))
    #expect(JSONReader.read(nested(64), depthLimit: 64) { $0.value() != nil })
    #expect(!JSONReader.read(nested(65), depthLimit: 64) { $0.value() != nil })
    #expect(!isJSON([UInt8](repeating: UInt8(ascii: "["), count: 65_536)))
    #expect(!isJSON(Array(String(repeating: #"{"a":"#, count: 10_000).utf8)))
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
      if isJSON(bytes) { taken += 1 }
    }
    #expect(taken > 50)
  }

  @Test func `depth is that of what encloses a value, however many have ended before it`() {
    let siblings = Array(("[" + Array(repeating: "[[]]", count: 100).joined(separator: ",") + "]").utf8)
    #expect(isJSON(siblings))
  }

  @Test func `who takes along what he wants gets each member and element once, in their order`() {
    let bytes = Array(#" { "a" : [ 1 , "x" ] , "b" : {"c":true} } "#.utf8)
    var seen: [String] = []
    let isJSON = JSONReader.read(bytes) { reader in
      reader.object { name, reader in
        seen.append(name.string(in: bytes) ?? "?")
        if reader.isAtArray() {
          return reader.array { reader in
            guard let value = reader.value() else { return false }
            seen.append(value.string(in: bytes) ?? "\(value.integer(in: bytes) ?? -1)")
            return true
          }
        }
        let isObject = reader.isAtObject()
        #expect(isObject)
        return reader.value() != nil
      }
    }
    #expect(isJSON && seen == ["a", "1", "x", "b"])
  }

  @Test func `who wants an object or an array where there is none is told, and nothing is passed`() {
    let bytes = Array("1".utf8)
    let isNumber = JSONReader.read(bytes) { reader in
      let isEither = reader.isAtObject() || reader.isAtArray()
      var (object, array) = (reader, reader)
      let isPassed = object.object { _, _ in true } || array.array { _ in true }
      #expect(!isEither && !isPassed)
      return reader.value() != nil
    }
    #expect(isNumber)
  }

  @Test func `a text that goes on behind its value is none`() {
    for text in ["{} {}", "{}x", "{}\0", "[],"] { #expect(!isJSON(Array(text.utf8)), "\(text)") }
    #expect(isJSON(Array(" {}\r\n\t ".utf8)))
  }
}
