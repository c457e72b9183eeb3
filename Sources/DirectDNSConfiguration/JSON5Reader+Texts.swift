// SPDX-License-Identifier: Apache-2.0
/// Strings, keys without quotes, and numbers of JSON5.
extension JSON5Reader {
  // MARK: Strings

  /// The value of a string; two spellings of one key have the same value.
  mutating func string() throws(Misplaced) -> String {
    let (start, quote) = (position, bytes[position])
    var units: [UInt16] = []
    position += 1
    while let (scalar, count) = nextScalar(), scalar != "\n", scalar != "\r" {
      let place = position
      position += count
      if scalar == Unicode.Scalar(quote) { return String(decoding: units, as: UTF16.self) }
      if scalar != "\\" {
        units += String(scalar).utf16
      } else if let escaped = escape() {
        units += escaped
      } else {
        position = place
        throw .here
      }
    }
    // An unclosed string is reported where it begins.
    position = start
    throw .here
  }

  /// The value of an escape, after its backslash; nil if it is invalid.
  private mutating func escape() -> [UInt16]? {
    guard let (scalar, count) = nextScalar() else { return nil }
    position += count
    switch scalar {
    case "u": return hexadecimal(4).map { [$0] }
    case "x": return hexadecimal(2).map { [$0] }
    // A line continuation.
    case "\r":
      _ = take("\n")
      return []
    case "\n", "\u{2028}", "\u{2029}": return []
    case "0": return next.map(Self.isDigit) == true ? nil : [0]
    case "1"..."9": return nil
    default: return Array(String(Self.controls[scalar] ?? scalar).utf16)
    }
  }

  private static let controls: [Unicode.Scalar: Unicode.Scalar] = [
    "b": "\u{8}", "f": "\u{c}", "n": "\n", "r": "\r", "t": "\t", "v": "\u{b}",
  ]

  private mutating func hexadecimal(_ count: Int) -> UInt16? {
    let digits = bytes[position...].prefix(count)
    guard digits.count == count, digits.allSatisfy(Self.isHexadecimal) else { return nil }
    position += count
    return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
  }

  // MARK: Words

  /// A key without quotes, or a constant.
  mutating func word() throws(Misplaced) -> String {
    let start = position
    while let (scalar, count) = nextScalar(), Self.isLetter(scalar) || position > start && Self.isDigit(scalar) {
      position += count
    }
    guard position > start else { throw .here }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || scalar == "$" || scalar.properties.isXIDContinue && !isDigit(scalar)
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
  }

  // MARK: Numbers

  mutating func number() throws(Misplaced) -> Double {
    let start = position
    let isNegative = take("-")
    if !isNegative { _ = take("+") }
    guard let magnitude = magnitude(), nextScalar().map({ Self.isLetter($0.scalar) || Self.isDigit($0.scalar) }) != true
    else {
      position = start
      throw .here
    }
    return isNegative ? -magnitude : magnitude
  }

  private mutating func magnitude() -> Double? {
    if take("Infinity") { return .infinity }
    if take("NaN") { return .nan }
    let start = position
    if take("0x") || take("0X") {
      let digits = bytes[position...].prefix(while: Self.isHexadecimal)
      position += digits.count
      return digits.isEmpty ? nil : Double("0x" + String(decoding: digits, as: UTF8.self))
    }
    let whole = skipDigits()
    // Some parsers would read 017 as fifteen.
    guard whole < 2 || bytes[start] != UInt8(ascii: "0") else { return nil }
    let fraction = take(".") ? skipDigits() : 0
    guard whole + fraction > 0 else { return nil }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      guard skipDigits() > 0 else { return nil }
    }
    return Double(String(decoding: bytes[start..<position], as: UTF8.self))
  }

  private mutating func skipDigits() -> Int {
    let start = position
    while let byte = next, Self.isDigit(byte) { position += 1 }
    return position - start
  }
}
