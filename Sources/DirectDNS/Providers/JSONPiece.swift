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
  var isArray: Bool { first == ASCII.openBracket }
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
