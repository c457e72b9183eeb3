// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct JSONReaderTests {
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
      guard let json = JSONReader(bytes) else { return nil }
      var place = json.root
      self.init(json, bytes, &place)
    }

    private init(_ json: JSONReader, _ bytes: [UInt8], _ place: inout Int) {
      let start = place
      if json.isArray(place) {
        var elements: [Tree] = []
        while json.nextElement(&place) { elements.append(Tree(json, bytes, &place)) }
        self = .array(elements)
      } else if json.isObject(place) {
        var members: [String: Tree] = [:]
        while let key = json.nextMember(&place) {
          let name = ["a", "b", "}"].first { JSONKey($0) == key } ?? "?"
          members[name] = Tree(json, bytes, &place)
        }
        self = .object(members)
      } else {
        json.pass(&place)
        if let text = json.string(start) {
          self = .string(text)
        } else if json.isNull(start) {
          self = .null
        } else if json.isTrue(start) {
          self = .bool(true)
        } else {
          self = bytes[start] == UInt8(ascii: "f") ? .bool(false) : .number(json.integer(start))
        }
      }
      var end = start
      json.pass(&end)
      #expect(end == place, "what is passed over ends where what is read ends")
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

  @Test func `bytes that are no UTF-8 are repaired, never trusted`() {
    #expect(JSONReader([0x22, 0xff, 0x22])?.string(0) == "\u{fffd}")
    #expect(JSONReader([0x22, 0xc3, 0x22])?.string(0) == "\u{fffd}")
    #expect(JSONReader([0x22, 0xff, 0x22])?.spelled(0) { $0.count } == 3)
    #expect(JSONReader([0xff]) == nil)
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
    #expect(JSONReader(Array(text.utf8))?.integer(0) == expected)
  }

  @Test(
    arguments: [
      (#""192.0.2.1""#, "192.0.2.1"), (#""\u0031""#, "1"), (#""ü""#, "ü"), (#""""#, ""), ("1", nil), ("null", nil),
    ] as [(String, String?)])
  func `a string's bytes are handed out as it says them`(_ text: String, _ expected: String?) throws {
    let json = try #require(JSONReader(Array(text.utf8)))
    #expect(json.spelled(0) { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) } == expected)
  }

  @Test func `keys are equal when their texts are, and long ones are nobody's`() {
    #expect(JSONKey("name") == JSONKey("name") && JSONKey("name") != JSONKey("Name"))
    #expect(JSONKey("") != JSONKey("\0") && JSONKey("a") != JSONKey("\0a"))
    #expect(JSONKey("no_ip_code_of_15") != JSONKey("no_ip_code"))
  }

  @Test func `who goes through what is neither object nor array finds nothing`() throws {
    let json = try #require(JSONReader(Array("1".utf8)))
    var place = json.root
    #expect(json.nextMember(&place) == nil && !json.nextElement(&place) && place == 0)
  }
}
