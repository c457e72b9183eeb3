import Testing

@testable import DirectDNS

struct JSONValueTests {
  @Test(
    arguments: [
      ("null", .null), ("true", .bool(true)), (" \t\r\nfalse ", .bool(false)), ("0", .number("0")),
      ("-0", .number("-0")),
      ("12.50e+3", .number("12.50e+3")), ("1E9", .number("1E9")), ("\"\"", .string("")), ("[]", .array([])),
      ("{}", .object([:])), ("[ 1 , null ]", .array([.number("1"), .null])),
      (#"{"a":{"b":[true]}}"#, .object(["a": .object(["b": .array([.bool(true)])])])),
      (#"{"a":1,"a":2}"#, .object(["a": .number("2")])),
      (#""\"\\\/\b\f\n\r\t""#, .string("\"\\/\u{8}\u{c}\n\r\t")), (#""\u0041ü\u00e9""#, .string("Aüé")),
      (#""\ud83d\ude00!""#, .string("😀!")), (#""\ud83d""#, .string("\u{fffd}")),
      (#""\ude00x""#, .string("\u{fffd}x")),
      (#""\ud83d\u0041""#, .string("\u{fffd}A")), (#""\ud83d\ud83d\ude00""#, .string("\u{fffd}😀")),
      (#""\ud83dx""#, .string("\u{fffd}x")), (#""\u0000""#, .string("\0")),
    ] as [(String, JSONValue)])
  func `a JSON text is read`(_ text: String, _ expected: JSONValue) {
    #expect(JSONValue(Array(text.utf8)) == expected)
  }

  @Test(arguments: [
    "", " ", "nul", "nulll", "True", "01", "-", "-01", "1.", ".5", "1.e3", "1e", "1e+", "+1", "0x10", "NaN",
    "Infinity",
    "\"", "\"a", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\ud83d\\u12\"", "\"a\nb\"", "\"a\tb\"",
    "'a'", "[",
    "[1", "[1,", "[1,]", "[,1]", "[1 2]", "]", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,",
    "{\"a\":1,}", "{a:1}",
    "{1:2}", "{\"a\" 1}", "1 2", "[] []", "{}x", "\u{feff}{}", "/**/1", "[\"a\", \"b\\\"]", "\"\\u",
    "\"\\ud83d\\u",
  ])
  func `what is no JSON text is refused`(_ text: String) { #expect(JSONValue(Array(text.utf8)) == nil) }

  @Test func `depth is bounded, so that no text can exhaust the stack`() {
    func nested(_ depth: Int) -> [UInt8] {
      Array(repeating: UInt8(ascii: "["), count: depth) + Array(repeating: UInt8(ascii: "]"), count: depth)
    }
    #expect(JSONValue(nested(16)) != nil)
    #expect(JSONValue(nested(17)) == nil)
    #expect(JSONValue([UInt8](repeating: UInt8(ascii: "["), count: 65_536)) == nil)
    #expect(JSONValue(Array(String(repeating: #"{"a":"#, count: 10_000).utf8)) == nil)
  }

  @Test func `bytes that are no UTF-8 are repaired, never trusted`() {
    #expect(JSONValue([0x22, 0xff, 0x22]) == .string("\u{fffd}"))
    #expect(JSONValue([0x22, 0xc3, 0x22]) == .string("\u{fffd}"))
    #expect(JSONValue([0xff]) == nil)
  }

  @Test(
    arguments: [
      ("1", 1), ("\"17\"", 17), ("-3", -3), ("9223372036854775807", .max), ("9223372036854775808", nil),
      ("1.0", nil),
      ("1e3", nil), ("\"1.5\"", nil), ("\"\"", nil), ("\" 1\"", nil), ("true", nil), ("null", nil),
      ("[1]", nil),
    ] as [(String, Int64?)])
  func `a whole number may be spelled as a string`(_ text: String, _ expected: Int64?) {
    #expect(JSONValue(Array(text.utf8))?.integer == expected)
  }

  @Test func `a member that is null is the same as none`() throws {
    let value = try #require(JSONValue(Array(#"{"a":null,"b":0}"#.utf8)))
    #expect(value["a"] == nil && value["c"] == nil && value["b"] == .number("0"))
    #expect(value.isObject && value.elements == nil && value.string == nil)
    #expect(value["b"]?["x"] == nil)
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
      if JSONValue(bytes) != nil { taken += 1 }
    }
    #expect(taken > 50)
  }
}
