// SPDX-License-Identifier: Apache-2.0
/// The place of a value in a JSON text that ``JSONReader`` has gone through, and the value's first byte.
///
/// The value is read from the bytes of that text later, once the whole text is known to be JSON.
package struct JSONToken: Sendable {
  private let first: UInt8
  /// For a string, it includes the quotes.
  package let range: Range<Int>
  /// Whether it is a string of ASCII without escapes, whose bytes can be used as they are.
  private let isPlain: Bool

  init(first: UInt8, range: Range<Int>, isPlain: Bool = false) {
    self.first = first
    self.range = range
    self.isPlain = isPlain
  }

  var isObject: Bool { first == UInt8(ascii: "{") }
  package var isString: Bool { first == UInt8(ascii: "\"") }
  package var isTrue: Bool { first == UInt8(ascii: "t") }
  package var isFalse: Bool { first == UInt8(ascii: "f") }
  package var isNull: Bool { first == UInt8(ascii: "n") }

  /// Whether it is a flag that is set, in any of the types in which these APIs give their values.
  func isSet(in bytes: [UInt8]) -> Bool {
    isTrue || integer(in: bytes).map { $0 != 0 } ?? (string(in: bytes)?.lowercased() == "true")
  }

  /// A string's value, with escapes decoded and invalid UTF-8 repaired; nil for anything else.
  func string(in bytes: [UInt8]) -> String? {
    guard isString else { return nil }
    guard !isPlain else { return String(decoding: bytes[range.lowerBound + 1..<range.upperBound - 1], as: UTF8.self) }
    let bytes = bytes.span
    var index = range.lowerBound + 1
    var text: [UInt8] = []
    while index < range.upperBound - 1 {
      let byte = bytes[index]
      index += 1
      if byte != ASCII.backslash {
        text.append(byte)
      } else if let scalar = JSONEscape.scalar(bytes, &index) {
        text += Array(String(Character(scalar)).utf8)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// A string's value; nil for anything else, and where half of a surrogate pair stands alone, which no two readers
  /// take alike (RFC 8259 §8.2).
  package func text(in bytes: [UInt8]) -> String? {
    guard let text = string(in: bytes) else { return nil }
    guard !isPlain, text.unicodeScalars.contains("\u{fffd}") else { return text }
    let span = bytes.span
    var index = range.lowerBound + 1
    while index < range.upperBound - 1 {
      let byte = span[index]
      index += 1
      guard byte == ASCII.backslash else { continue }
      let start = index
      guard JSONEscape.scalar(span, &index) == "\u{fffd}" else { continue }
      // It stands for the half, unless it was written itself.
      guard String(decoding: bytes[start..<index], as: UTF8.self).lowercased() == "ufffd" else { return nil }
    }
    return text
  }

  /// What `read` makes of a string's bytes; nil for anything else.
  ///
  /// Most strings are plain ASCII, which is read in place.
  @inline(__always)
  func spelled<Result>(in bytes: [UInt8], as read: (Span<UInt8>) -> Result?) -> Result? {
    guard isString else { return nil }
    if isPlain { return read(bytes.span.extracting(range.lowerBound + 1..<range.upperBound - 1)) }
    return string(in: bytes).flatMap { read($0.utf8.span) }
  }

  /// A whole number, or a string that holds one; nil for anything else, and if it does not fit into 64 bits.
  func integer(in bytes: [UInt8]) -> Int64? {
    if isString { return spelled(in: bytes) { Int64(ascii: $0) } }
    return Int64(ascii: bytes.span.extracting(range))
  }

  /// The key that a member's name is compared by.
  func key(in bytes: [UInt8]) -> JSONKey { spelled(in: bytes) { JSONKey($0) } ?? JSONKey("") }
}

/// A member's name as one number, since names are compared far more often than they are read.
///
/// All names longer than 15 bytes are equal as keys: no name that is looked for is that long.
struct JSONKey: Hashable, Sendable {
  private let value: UInt128

  init(_ text: Span<UInt8>) {
    guard text.count < 16 else {
      value = .max
      return
    }
    var value = UInt128(text.count)
    for index in text.indices { value = value << 8 | UInt128(text[index]) }
    self.value = value
  }

  init(_ text: String) { self.init(text.utf8.span) }
}

extension Int64 {
  /// Reads digits, with or without a sign; nil for anything else, and if the number is too large.
  init?(ascii text: Span<UInt8>) {
    let isNegative = text.count > 1 && text[0] == ASCII.hyphen
    let start = isNegative || text.count > 1 && text[0] == UInt8(ascii: "+") ? 1 : 0
    guard start < text.count else { return nil }
    var number: Int64 = 0
    for index in start..<text.count {
      guard ASCII.isDigit(text[index]) else { return nil }
      let digit = Int64(text[index] &- ASCII.zero)
      let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, isOver) = product.addingReportingOverflow(isNegative ? -digit : digit)
      guard !isTooLarge, !isOver else { return nil }
      number = sum
    }
    self = number
  }
}

/// The escapes of JSON strings (RFC 8259 §7).
enum JSONEscape {
  /// Reads an escape, from after the backslash, and moves past it; nil if it is malformed.
  static func scalar(_ bytes: Span<UInt8>, _ index: inout Int) -> Unicode.Scalar? {
    guard index < bytes.count else { return nil }
    let byte = bytes[index]
    index += 1
    switch byte {
    case UInt8(ascii: "\""), ASCII.backslash, ASCII.slash: return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return wide(bytes, &index)
    default: return nil
    }
  }

  private static func unit(_ bytes: Span<UInt8>, _ index: inout Int) -> UInt16? {
    guard index + 4 <= bytes.count else { return nil }
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = ASCII.hexValue(bytes[index]) else { return nil }
      unit = unit << 4 | UInt16(digit)
      index += 1
    }
    return unit
  }

  /// Reads what follows `\u`, which may be a surrogate pair; a lone surrogate becomes U+FFFD.
  private static func wide(_ bytes: Span<UInt8>, _ index: inout Int) -> Unicode.Scalar? {
    guard let unit = unit(bytes, &index) else { return nil }
    if let scalar = Unicode.Scalar(unit) { return scalar }
    guard unit < 0xdc00, index + 1 < bytes.count, bytes[index] == ASCII.backslash, bytes[index + 1] == UInt8(ascii: "u")
    else { return "\u{fffd}" }
    let mark = index
    index += 2
    guard let low = Self.unit(bytes, &index) else { return nil }
    guard (0xdc00..<0xe000).contains(low) else {
      index = mark
      return "\u{fffd}"
    }
    return Unicode.Scalar(0x10000 + (UInt32(unit) - 0xd800) << 10 + (UInt32(low) - 0xdc00))
  }
}
