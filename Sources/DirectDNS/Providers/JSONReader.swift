// SPDX-License-Identifier: Apache-2.0
/// A JSON text that is well-formed (``JSONGrammar``), read where it stands: no tree is built of a reply, and no text of
/// what is none in the end.
///
/// A place is the first byte of a value. Those who go through an object or an array stand at one member or element
/// after the other, and have to get past each: by reading it likewise, or by ``pass(_:)``.
struct JSONReader: Sendable {
  private let bytes: [UInt8]
  /// Where the value of the whole text begins.
  let root: Int

  /// Reads a whole text; nil if it is not JSON.
  init?(_ bytes: [UInt8]) {
    let grammar = JSONGrammar(bytes: bytes)
    var index = 0
    grammar.skipSpace(&index)
    root = index
    guard grammar.skipValue(&index) else { return nil }
    grammar.skipSpace(&index)
    guard index == bytes.count else { return nil }
    self.bytes = bytes
  }

  private func has(_ byte: UInt8, at place: Int) -> Bool { place < bytes.count && bytes[place] == byte }

  func isObject(_ place: Int) -> Bool { has(UInt8(ascii: "{"), at: place) }
  func isArray(_ place: Int) -> Bool { has(ASCII.openBracket, at: place) }
  func isString(_ place: Int) -> Bool { has(UInt8(ascii: "\""), at: place) }
  func isTrue(_ place: Int) -> Bool { has(UInt8(ascii: "t"), at: place) }
  func isNull(_ place: Int) -> Bool { has(UInt8(ascii: "n"), at: place) }

  // MARK: Going on

  /// From an object's beginning, or from behind a member, to the next member's value; nil at the end, which it passes.
  func nextMember(_ place: inout Int) -> JSONKey? {
    guard enter(&place, UInt8(ascii: "{"), UInt8(ascii: "}")) else { return nil }
    let key = key(&place)
    skipSpace(&place)
    place += 1  // The colon.
    skipSpace(&place)
    return key
  }

  /// From an array's beginning, or from behind an element, to the next one; false at the end, which it passes.
  func nextElement(_ place: inout Int) -> Bool { enter(&place, ASCII.openBracket, ASCII.closeBracket) }

  private func enter(_ place: inout Int, _ open: UInt8, _ close: UInt8) -> Bool {
    skipSpace(&place)
    guard has(open, at: place) || has(UInt8(ascii: ","), at: place) else {
      if has(close, at: place) { place += 1 }
      return false
    }
    place += 1
    skipSpace(&place)
    guard !has(close, at: place) else {
      place += 1
      return false
    }
    return true
  }

  private func skipSpace(_ place: inout Int) { JSONGrammar(bytes: bytes).skipSpace(&place) }

  /// Goes to behind a value.
  func pass(_ place: inout Int) {
    let bytes = bytes.span
    var depth = 0
    while place < bytes.count {
      switch bytes[place] {
      case UInt8(ascii: "\""): place = stringEnd(place).quote + 1
      case UInt8(ascii: "{"), ASCII.openBracket:
        depth += 1
        place += 1
        continue
      case UInt8(ascii: "}"), ASCII.closeBracket:
        depth -= 1
        place += 1
      case UInt8(ascii: ","), ASCII.colon, 0x20, 0x0a, 0x0d, 0x09:
        place += 1
        continue
      default:
        place = scalarEnd(place)
      }
      if depth == 0 { return }
    }
  }

  /// Where a number or a word ends, in a text that is known to be well-formed.
  private func scalarEnd(_ place: Int) -> Int {
    let bytes = bytes.span
    var index = place + 1
    while index < bytes.count, bytes[index] > ASCII.space, bytes[index] != UInt8(ascii: ","),
      bytes[index] != ASCII.closeBracket, bytes[index] != UInt8(ascii: "}")
    { index += 1 }
    return index
  }

  /// Where a string's closing quote stands, and whether the bytes before it are what it says: ASCII without escapes.
  private func stringEnd(_ place: Int) -> (quote: Int, isPlain: Bool) {
    let bytes = bytes.span
    var index = place + 1
    var (all, isEscaped): (UInt8, Bool) = (0, false)
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      all |= bytes[index]
      if bytes[index] == ASCII.backslash {
        isEscaped = true
        index += 1
      }
      index += 1
    }
    return (index, !isEscaped && all < 0x80)
  }

  // MARK: Values

  /// What a string says, with its escapes undone and what is no UTF-8 repaired; nil for what is no string.
  func string(_ place: Int) -> String? { JSONGrammar(bytes: bytes).unescaped(place) }

  /// What a string's bytes are read as; nil for what is no string.
  ///
  /// Most are plain ASCII, which is read where it stands.
  @inline(__always)
  func spelled<Result>(_ place: Int, as read: (Span<UInt8>) -> Result?) -> Result? {
    guard isString(place) else { return nil }
    let (quote, isPlain) = stringEnd(place)
    if isPlain { return read(bytes.span.extracting((place + 1)..<quote)) }
    return string(place).flatMap { read($0.utf8.span) }
  }

  /// A whole number, or a string that spells one; nil for anything else, and for what 64 bits do not hold.
  func integer(_ place: Int) -> Int64? {
    if isString(place) { return spelled(place) { Int64(ascii: $0) } }
    return Int64(ascii: bytes.span.extracting(place..<scalarEnd(place)))
  }

  /// Reads a member's name, and goes to behind it.
  private func key(_ place: inout Int) -> JSONKey {
    let start = place
    let (quote, isPlain) = stringEnd(start)
    place = quote + 1
    return isPlain ? JSONKey(bytes.span.extracting((start + 1)..<quote)) : JSONKey(string(start) ?? "")
  }
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
