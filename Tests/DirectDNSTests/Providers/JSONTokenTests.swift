// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct JSONTokenTests {
  private static func token(_ bytes: [UInt8]) -> JSONToken? {
    var token: JSONToken?
    let isJSON = JSONReader.read(bytes) { reader in
      token = reader.value()
      return token != nil
    }
    return isJSON ? token : nil
  }

  /// A text as a tree, which the reader itself never makes.
  enum Tree: Equatable, Sendable {
    case null
    case bool(Bool)
    /// A whole number, or any other.
    case number(Int64?)
    case string(String)
    case array([Tree])
    case object([String: Tree])

    init?(_ text: String) {
      let bytes = Array(text.utf8)
      var tree: Tree?
      let isJSON = JSONReader.read(bytes) { reader in
        tree = Tree(bytes, &reader)
        return tree != nil
      }
      guard isJSON, let tree else { return nil }
      self = tree
    }

    private init?(_ bytes: [UInt8], _ reader: inout JSONReader) {
      // What is passed over ends where what is read ends.
      var passing = reader
      guard let token = passing.value() else { return nil }
      if bytes[token.range.lowerBound] == UInt8(ascii: "[") {
        var elements: [Tree] = []
        let isArray = reader.array { reader in
          guard let element = Tree(bytes, &reader) else { return false }
          elements.append(element)
          return true
        }
        #expect(isArray)
        self = .array(elements)
      } else if token.isObject {
        var members: [String: Tree] = [:]
        let isObject = reader.object { name, reader in
          let name = ["a", "b", "}"].first { JSONKey($0) == name.key(in: bytes) } ?? "?"
          members[name] = Tree(bytes, &reader)
          return members[name] != nil
        }
        #expect(isObject)
        self = .object(members)
      } else {
        let range = reader.value()?.range
        #expect(range == token.range)
        if let text = token.string(in: bytes) {
          self = .string(text)
        } else if token.isNull {
          self = .null
        } else if token.isTrue {
          self = .bool(true)
        } else {
          let isFalse = bytes[token.range.lowerBound] == UInt8(ascii: "f")
          self = isFalse ? .bool(false) : .number(token.integer(in: bytes))
        }
      }
      let (end, passed) = (reader.index, passing.index)
      #expect(end == passed)
    }
  }

  @Test(
    arguments: [
      ("null", .null), ("true", .bool(true)), (" \t\r\nfalse ", .bool(false)), ("0", .number(0)),
      ("-0", .number(0)),
      ("12.50e+3", .number(nil)), ("1E9", .number(nil)), ("\"\"", .string("")), ("[]", .array([])),
      ("{}", .object([:])), ("[ 1 , null ]", .array([.number(1), .null])),
      (#"{"a":{"b":[true]}}"#, .object(["a": .object(["b": .array([.bool(true)])])])),
      ("[[],[[]],{},[{}]]", .array([.array([]), .array([.array([])]), .object([:]), .array([.object([:])])])),
      (#" { "a" : [ 1 , "]" ] , "}" : -2 } "#, .object(["a": .array([.number(1), .string("]")]), "}": .number(-2)])),
      (#"[{"\u0061":"\"}"},"\\"]"#, .array([.object(["a": .string("\"}")]), .string("\\")])),
      (#"{"a":1,"a":2}"#, .object(["a": .number(2)])),
      (#""\"\\\/\b\f\n\r\t""#, .string("\"\\/\u{8}\u{c}\n\r\t")), (#""\u0041ü\u00e9""#, .string("Aüé")),
      (#""\ud83d\ude00!""#, .string("😀!")), (#""\ud83d""#, .string("\u{fffd}")),
      (#""\ude00x""#, .string("\u{fffd}x")),
      (#""\ud83d\u0041""#, .string("\u{fffd}A")), (#""\ud83d\ud83d\ude00""#, .string("\u{fffd}😀")),
      (#""\ud83dx""#, .string("\u{fffd}x")), (#""\u0000""#, .string("\0")),
    ] as [(String, Tree)])
  func `a JSON text is read`(_ text: String, _ expected: Tree) {
    #expect(Tree(text) == expected)
  }

  @Test(
    arguments: [
      (#""a""#, "a"), (#""\ud83d\ude00\n""#, "😀\n"), ("\"\u{fffd}\"", "\u{fffd}"),
      (#""\ufffd\uFFFD""#, "\u{fffd}\u{fffd}"), (#""\ud83d""#, nil), (#""\ude00x""#, nil), (#""\ud83d\u0041""#, nil),
      (#""\ufffd\ud83d\ud83d\ude00""#, nil),
      ("1", nil), ("null", nil),
    ] as [(String, String?)])
  func `half of a surrogate pair is no text`(_ text: String, _ expected: String?) {
    let bytes = Array(text.utf8)
    #expect(Self.token(bytes)?.text(in: bytes) == expected)
  }

  @Test func `bytes that are no UTF-8 are repaired, never trusted`() {
    for bytes in [[0x22, 0xff, 0x22], [0x22, 0xc3, 0x22]] as [[UInt8]] {
      let token = Self.token(bytes)
      #expect(token?.string(in: bytes) == "\u{fffd}" && token?.spelled(in: bytes) { $0.count } == 3)
    }
    #expect(Self.token([0xff]) == nil)
  }

  @Test(
    arguments: [
      ("1", 1), ("\"17\"", 17), ("-3", -3), ("9223372036854775807", .max), ("9223372036854775808", nil),
      ("1.0", nil),
      ("1e3", nil), ("\"1.5\"", nil), ("\"\"", nil), ("\" 1\"", nil), ("\"+5\"", 5), ("\"-\"", nil),
      ("\"1\\u0032\"", 12), ("-9223372036854775808", .min), ("true", nil), ("null", nil),
      ("[1]", nil),
    ] as [(String, Int64?)])
  func `a whole number may be spelled as a string`(_ text: String, _ expected: Int64?) {
    let bytes = Array(text.utf8)
    #expect(Self.token(bytes)?.integer(in: bytes) == expected)
  }

  @Test(
    arguments: [
      (#""192.0.2.1""#, "192.0.2.1"), (#""\u0031""#, "1"), (#""ü""#, "ü"), (#""""#, ""), ("1", nil), ("null", nil),
    ] as [(String, String?)])
  func `a string's bytes are handed out as it says them`(_ text: String, _ expected: String?) throws {
    let bytes = Array(text.utf8)
    let token = try #require(Self.token(bytes))
    let said = token.spelled(in: bytes) { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    #expect(said == expected)
  }

  @Test func `keys are equal when their texts are, and long ones are nobody's`() {
    #expect(JSONKey("name") == JSONKey("name") && JSONKey("name") != JSONKey("Name"))
    #expect(JSONKey("") != JSONKey("\0") && JSONKey("a") != JSONKey("\0a"))
    #expect(JSONKey("no_ip_code_of_15") != JSONKey("no_ip_code"))
  }
}
