// SPDX-License-Identifier: Apache-2.0
/// Goes once through a JSON text, checks it strictly (RFC 8259) and with bounded depth, and gives the places of values.
///
/// Only at the end is it known that the whole text is JSON: no value may be used before.
///
/// Our own parser, since a lookup over a JSON API costs some 20 µs in all and `JSONDecoder` alone takes most of that
/// for a reply of 300 bytes; and since these APIs give the same value in several types, which `Codable` makes no
/// shorter.
package struct JSONReader {
  /// No DNS API nests more than four deep.
  static let depthLimit = 16

  private let bytes: [UInt8]
  /// The byte that comes next.
  private(set) var index: Int
  private var depth = 0
  private let depthLimit: Int

  /// Creates a reader that begins at that byte.
  init(_ bytes: [UInt8], at start: Int = 0, depthLimit: Int = Self.depthLimit) {
    self.bytes = bytes
    index = start
    self.depthLimit = depthLimit
  }

  /// Reads a whole text, whose one value `value` reads; false if it is not JSON.
  @inline(__always)
  static func read(_ bytes: [UInt8], _ value: (inout JSONReader) -> Bool) -> Bool {
    read(bytes, depthLimit: depthLimit, value)
  }

  /// The same for a text that may nest so deep.
  @inline(__always)
  package static func read(_ bytes: [UInt8], depthLimit: Int, _ value: (inout JSONReader) -> Bool) -> Bool {
    var reader = JSONReader(bytes, depthLimit: depthLimit)
    guard value(&reader) else { return false }
    reader.skipSpace()
    return reader.index == bytes.count
  }

  @inline(__always)
  private func has(_ byte: UInt8) -> Bool { index < bytes.count && bytes[index] == byte }

  @inline(__always)
  private mutating func skipSpace() {
    while index < bytes.count {
      let byte = bytes[index]
      guard byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 else { return }
      index += 1
    }
  }

  /// Skips spaces and that byte; false if it does not come next.
  @inline(__always)
  private mutating func skip(_ expected: UInt8) -> Bool {
    skipSpace()
    guard has(expected) else { return false }
    index += 1
    return true
  }

  // MARK: Values

  /// Reads the value that comes next; nil if there is none.
  package mutating func value() -> JSONToken? {
    skipSpace()
    guard index < bytes.count else { return nil }
    let (start, first) = (index, bytes[index])
    if first == UInt8(ascii: "\"") { return string() }
    let isValue =
      switch first {
      case UInt8(ascii: "{"): object { _, reader in reader.value() != nil }
      case ASCII.openBracket: array { reader in reader.value() != nil }
      case let byte where ASCII.isLowerLetter(byte): skipWord()
      default: skipNumber()
      }
    return isValue ? JSONToken(first: first, range: start..<index) : nil
  }

  /// Whether an object comes next.
  package mutating func isAtObject() -> Bool {
    skipSpace()
    return has(UInt8(ascii: "{"))
  }

  /// Whether an array comes next.
  package mutating func isAtArray() -> Bool {
    skipSpace()
    return has(ASCII.openBracket)
  }

  /// Reads the object that comes next; false if there is none.
  ///
  /// `member` gets each member's name, and has to read its value.
  @inline(__always)
  package mutating func object(_ member: (JSONToken, inout JSONReader) -> Bool) -> Bool {
    guard enter(UInt8(ascii: "{")) else { return false }
    if skip(UInt8(ascii: "}")) { return leave() }
    while true {
      skipSpace()
      guard let name = string(), skip(ASCII.colon), member(name, &self) else { return false }
      if skip(UInt8(ascii: "}")) { return leave() }
      guard skip(UInt8(ascii: ",")) else { return false }
    }
  }

  /// Reads the array that comes next; false if there is none.
  ///
  /// `element` is called at each element, and has to read it.
  @inline(__always)
  package mutating func array(_ element: (inout JSONReader) -> Bool) -> Bool {
    guard enter(ASCII.openBracket) else { return false }
    if skip(ASCII.closeBracket) { return leave() }
    while true {
      guard element(&self) else { return false }
      if skip(ASCII.closeBracket) { return leave() }
      guard skip(UInt8(ascii: ",")) else { return false }
    }
  }

  @inline(__always)
  private mutating func enter(_ open: UInt8) -> Bool {
    depth += 1
    return depth <= depthLimit && skip(open)
  }

  @inline(__always)
  private mutating func leave() -> Bool {
    depth -= 1
    return true
  }

  // MARK: Scalars

  /// Skips `true`, `false` or `null`.
  private mutating func skipWord() -> Bool {
    // The letters as one number; a word of more than eight letters is none of the three.
    var word: UInt64 = 0
    while index < bytes.count, ASCII.isLowerLetter(bytes[index]) {
      guard word >> 56 == 0 else { return false }
      word = word << 8 | UInt64(bytes[index])
      index += 1
    }
    return word == 0x7472_7565 || word == 0x66_616C_7365 || word == 0x6E75_6C6C
  }

  private mutating func skipDigits() -> Bool {
    let start = index
    while index < bytes.count, ASCII.isDigit(bytes[index]) { index += 1 }
    return index > start
  }

  private mutating func skipNumber() -> Bool {
    if has(ASCII.hyphen) { index += 1 }
    let start = index
    guard skipDigits(), bytes[start] != ASCII.zero || index == start + 1 else { return false }
    if has(ASCII.dot) {
      index += 1
      guard skipDigits() else { return false }
    }
    if has(UInt8(ascii: "e")) || has(UInt8(ascii: "E")) {
      index += 1
      if has(UInt8(ascii: "+")) || has(ASCII.hyphen) { index += 1 }
      guard skipDigits() else { return false }
    }
    return true
  }

  /// Reads a string; nil if none begins here.
  @inline(__always)
  private mutating func string() -> JSONToken? {
    guard let string = stringHere() else { return nil }
    index = string.range.upperBound
    return string
  }

  private func stringHere() -> JSONToken? {
    guard has(UInt8(ascii: "\"")) else { return nil }
    let bytes = bytes.span
    var next = index + 1
    var (all, isEscaped): (UInt8, Bool) = (0, false)
    while next < bytes.count, bytes[next] >= 0x20 {
      let byte = bytes[next]
      next += 1
      if byte == UInt8(ascii: "\"") {
        return JSONToken(first: byte, range: index..<next, isPlain: !isEscaped && all < 0x80)
      }
      all |= byte
      if byte == ASCII.backslash {
        isEscaped = true
        guard JSONEscape.scalar(bytes, &next) != nil else { return nil }
      }
    }
    return nil
  }
}
