// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNSConfiguration

@Suite struct `JSON with comments` {
  private func value(_ text: String) throws -> ConfigurationValue { try JSON5Reader.read(Array(text.utf8)) }

  @Test(arguments: [
    ("null", ConfigurationValue.null), ("true", .bool(true)), (" false ", .bool(false)),
    ("[]", .list([])), ("[1, 2,]", .list([.number(1), .number(2)])), ("{}", .object([:])),
    (
      "{a: 1, $b_2: 2, 'c d': 3, \"e\": 4, büro: 5,}",
      .object(["a": .number(1), "$b_2": .number(2), "c d": .number(3), "e": .number(4), "büro": .number(5)])
    ),
    ("// one\n/* two\n*/ 7 // three", .number(7)), ("\u{feff}7\u{a0}\u{2028}", .number(7)), ("//\r7", .number(7)),
    ("/**/7", .number(7)), ("/***/7", .number(7)),
    ("+7", .number(7)), ("-7", .number(-7)), (".5", .number(0.5)), ("5.", .number(5)), ("-.5e1", .number(-5)),
    ("1e3", .number(1000)), ("1E-1", .number(0.1)), ("0", .number(0)),
    ("0.25", .number(0.25)),
    ("0x1F", .number(31)), ("-0Xff", .number(-255)), ("Infinity", .number(.infinity)),
    ("-Infinity", .number(-.infinity)),
    (#""a'b""#, .text("a'b")), (#"'a"b'"#, .text("a\"b")),
    (#"'\'\"\\\/\b\f\n\r\t\v\0'"#, .text("'\"\\/\u{8}\u{c}\n\r\t\u{b}\0")),
    (#"'\x41\u00e9\ud83d\ude00\q'"#, .text("Aé😀q")), ("'a\\\nb\\\r\nc'", .text("abc")),
    ("'\u{2028}é'", .text("\u{2028}é")),
    (#"'\ud83d'"#, .text("\u{fffd}")),
  ])
  func `is read as it says`(_ text: String, _ expected: ConfigurationValue) throws {
    #expect(try value(text) == expected)
  }

  @Test(arguments: [
    ("", 1, 1), ("// only", 1, 8), ("{", 1, 2), ("[1 2]", 1, 4), ("[,]", 1, 2), ("{,}", 1, 2), ("{a}", 1, 3),
    ("{a: }", 1, 5),
    ("{a-b: 1}", 1, 3), ("{1a: 1}", 1, 2), ("[\n 1,\n ;]", 3, 2), ("7 7", 1, 3), ("/* 7", 1, 1), ("[/*]", 1, 2),
    ("yes", 1, 1), ("True", 1, 1), ("nulll", 1, 1), ("017", 1, 1), ("0x", 1, 1), ("1e", 1, 1), (".", 1, 1),
    ("--1", 1, 1),
    ("1.2.3", 1, 4), ("1a", 1, 1), ("+", 1, 1), ("'a", 1, 1), ("'a\nb'", 1, 1), (#"'a\1'"#, 1, 3), (#"'\x4'"#, 1, 2),
    (#"'\u00g0'"#, 1, 2), (#"['é', 'a\"#, 1, 9), ("{a: 1, b: 2, a: 3}", 1, 14), ("{ a: { b: 1,\n 'b': 2 } }", 2, 2),
  ])
  func `is refused where it goes wrong`(_ text: String, _ line: Int, _ column: Int) throws {
    let fault = try #require(throws: ConfigurationFault.self) { try value(text) }
    #expect(fault.message.hasPrefix("line \(line), column \(column): "))
  }

  @Test func `has an end to its depth, and no bytes but UTF-8`() {
    let deep = String(repeating: "[", count: 100_000)
    #expect(throws: ConfigurationFault.self) { try value(deep) }
    #expect(throws: ConfigurationFault.self) { try JSON5Reader.read([0x27, 0xff, 0x27]) }
    #expect(throws: ConfigurationFault.self) { try JSON5Reader.read([0x37, 0xc3]) }
  }
}
