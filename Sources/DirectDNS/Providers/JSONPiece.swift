// SPDX-License-Identifier: Apache-2.0
/// Where a value stands in a JSON text that ``JSONReader`` has passed, and what it begins with.
///
/// It is read in the bytes of that text, and only once the whole of it is known to be JSON.
struct JSONPiece: Sendable {
  private let first: UInt8
  /// A string's with its quotes.
  let place: Range<Int>
  /// Of a string: whether the bytes between its quotes are what it says, ASCII without escapes.
  private let isPlain: Bool

  init(first: UInt8, place: Range<Int>, isPlain: Bool = false) {
    self.first = first
    self.place = place
    self.isPlain = isPlain
  }

  var isObject: Bool { first == UInt8(ascii: "{") }
  var isString: Bool { first == UInt8(ascii: "\"") }
  var isTrue: Bool { first == UInt8(ascii: "t") }
  var isNull: Bool { first == UInt8(ascii: "n") }

  /// What a string says, with its escapes undone and what is no UTF-8 repaired; nil for what is no string.
  func string(in bytes: [UInt8]) -> String? {
    guard isString else { return nil }
    guard !isPlain else { return String(decoding: bytes[place.lowerBound + 1..<place.upperBound - 1], as: UTF8.self) }
    let bytes = bytes.span
    var index = place.lowerBound + 1
    var text: [UInt8] = []
    while index < place.upperBound - 1 {
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

  /// What a string's bytes are read as; nil for what is no string.
  ///
  /// Most are plain ASCII, which is read where it stands.
  @inline(__always)
  func spelled<Result>(in bytes: [UInt8], as read: (Span<UInt8>) -> Result?) -> Result? {
    guard isString else { return nil }
    if isPlain { return read(bytes.span.extracting(place.lowerBound + 1..<place.upperBound - 1)) }
    return string(in: bytes).flatMap { read($0.utf8.span) }
  }

  /// A whole number, or a string that spells one; nil for anything else, and for what 64 bits do not hold.
  func integer(in bytes: [UInt8]) -> Int64? {
    if isString { return spelled(in: bytes) { Int64(ascii: $0) } }
    return Int64(ascii: bytes.span.extracting(place))
  }

  /// What a member's name is compared by.
  func key(in bytes: [UInt8]) -> JSONKey { spelled(in: bytes) { JSONKey($0) } ?? JSONKey("") }
}

/// A member's name as one number, since names are compared with others far more often than they are read.
///
/// No name that anybody asks for is longer than 15 bytes; all longer ones are the same to it, and different from those.
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
  /// The number that digits spell, with or without a sign; nil for anything else, and for what is too large.
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

/// What stands behind a backslash in a JSON string (RFC 8259 §7).
enum JSONEscape {
  /// The scalar that an escape is, which is passed over; nil if it is none.
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

  /// The scalar behind `\u`, two units for one beyond the first plane; a lone surrogate becomes U+FFFD.
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
