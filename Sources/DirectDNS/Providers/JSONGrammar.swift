// SPDX-License-Identifier: Apache-2.0
/// What is JSON: the grammar, strictly (RFC 8259) and with bounded depth.
///
/// Our own, since a lookup over a JSON API costs some 20 µs in all and `JSONDecoder` alone takes most of that for a
/// reply of 300 bytes; and since these APIs spell one thing in several types, which `Codable` makes no shorter.
struct JSONGrammar {
  /// No DNS API nests more than four deep.
  static let depthLimit = 16

  let bytes: [UInt8]

  @inline(__always)
  private func has(_ byte: UInt8, at index: Int) -> Bool { index < bytes.count && bytes[index] == byte }

  @inline(__always)
  func skipSpace(_ index: inout Int) {
    while index < bytes.count {
      let byte = bytes[index]
      guard byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 else { return }
      index += 1
    }
  }

  /// Passes over space and that byte, if it comes next.
  private func skip(_ expected: UInt8, _ index: inout Int) -> Bool {
    skipSpace(&index)
    guard has(expected, at: index) else { return false }
    index += 1
    return true
  }

  /// Passes over a value behind space; false if there is none.
  func skipValue(_ index: inout Int, depth: Int = 0) -> Bool {
    guard depth < Self.depthLimit else { return false }
    skipSpace(&index)
    guard index < bytes.count else { return false }
    switch bytes[index] {
    case UInt8(ascii: "{"): return skipObject(&index, depth: depth)
    case ASCII.openBracket: return skipArray(&index, depth: depth)
    case UInt8(ascii: "\""): return skipString(&index)
    case let byte where ASCII.isLowerLetter(byte): return skipWord(&index)
    default: return skipNumber(&index)
    }
  }

  private func skipObject(_ index: inout Int, depth: Int) -> Bool {
    index += 1
    if skip(UInt8(ascii: "}"), &index) { return true }
    while true {
      skipSpace(&index)
      guard skipString(&index), skip(ASCII.colon, &index), skipValue(&index, depth: depth + 1) else { return false }
      if skip(UInt8(ascii: "}"), &index) { return true }
      guard skip(UInt8(ascii: ","), &index) else { return false }
    }
  }

  private func skipArray(_ index: inout Int, depth: Int) -> Bool {
    index += 1
    if skip(ASCII.closeBracket, &index) { return true }
    while true {
      guard skipValue(&index, depth: depth + 1) else { return false }
      if skip(ASCII.closeBracket, &index) { return true }
      guard skip(UInt8(ascii: ","), &index) else { return false }
    }
  }

  /// Passes over `true`, `false` or `null`.
  private func skipWord(_ index: inout Int) -> Bool {
    // The letters as one number; more than eight of them are none of the three in any case.
    var word: UInt64 = 0
    while index < bytes.count, ASCII.isLowerLetter(bytes[index]) {
      guard word >> 56 == 0 else { return false }
      word = word << 8 | UInt64(bytes[index])
      index += 1
    }
    return word == 0x7472_7565 || word == 0x66_616C_7365 || word == 0x6E75_6C6C
  }

  private func skipDigits(_ index: inout Int) -> Bool {
    let start = index
    while index < bytes.count, ASCII.isDigit(bytes[index]) { index += 1 }
    return index > start
  }

  private func skipNumber(_ index: inout Int) -> Bool {
    if has(ASCII.hyphen, at: index) { index += 1 }
    let start = index
    guard skipDigits(&index), bytes[start] != ASCII.zero || index == start + 1 else { return false }
    if has(ASCII.dot, at: index) {
      index += 1
      guard skipDigits(&index) else { return false }
    }
    if has(UInt8(ascii: "e"), at: index) || has(UInt8(ascii: "E"), at: index) {
      index += 1
      if has(UInt8(ascii: "+"), at: index) || has(ASCII.hyphen, at: index) { index += 1 }
      guard skipDigits(&index) else { return false }
    }
    return true
  }

  // MARK: Strings

  /// Passes over a string, its quotes included.
  private func skipString(_ index: inout Int) -> Bool {
    let bytes = bytes.span
    guard has(UInt8(ascii: "\""), at: index) else { return false }
    var next = index + 1
    while next < bytes.count, bytes[next] >= 0x20 {
      let byte = bytes[next]
      next += 1
      if byte == UInt8(ascii: "\"") {
        index = next
        return true
      }
      if byte == ASCII.backslash { guard escape(&next) != nil else { return false } }
    }
    return false
  }

  /// What the string that begins there says, with its escapes undone; nil if none does.
  func unescaped(_ start: Int) -> String? {
    guard has(UInt8(ascii: "\""), at: start) else { return nil }
    var index = start + 1
    var text: [UInt8] = []
    while index < bytes.count, bytes[index] >= 0x20 {
      let byte = bytes[index]
      index += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case ASCII.backslash:
        guard let scalar = escape(&index) else { return nil }
        text += Array(String(Character(scalar)).utf8)
      default: text.append(byte)
      }
    }
    return nil
  }

  /// What stands behind a backslash.
  private func escape(_ index: inout Int) -> Unicode.Scalar? {
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
    case UInt8(ascii: "u"): return escapedScalar(&index)
    default: return nil
    }
  }

  private func escapedUnit(_ index: inout Int) -> UInt16? {
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
  private func escapedScalar(_ index: inout Int) -> Unicode.Scalar? {
    guard let unit = escapedUnit(&index) else { return nil }
    if let scalar = Unicode.Scalar(unit) { return scalar }
    guard unit < 0xdc00, has(ASCII.backslash, at: index), has(UInt8(ascii: "u"), at: index + 1)
    else { return "\u{fffd}" }
    let mark = index
    index += 2
    guard let low = escapedUnit(&index) else { return nil }
    guard (0xdc00..<0xe000).contains(low) else {
      index = mark
      return "\u{fffd}"
    }
    return Unicode.Scalar(0x10000 + (UInt32(unit) - 0xd800) << 10 + (UInt32(low) - 0xdc00))
  }
}
