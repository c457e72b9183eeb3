// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Reads JSON with comments (JSON5, <https://spec.json5.org>), and reports the place of a syntax error.
///
/// Written by hand: `JSONDecoder` on Linux does not say where a text is invalid, and silently takes one of two members
/// with the same key.
struct JSON5Reader {
  let bytes: [UInt8]
  var position = 0

  /// Invalid text at the reader's position, or a key that is there for the second time.
  enum Misplaced: Error {
    case here
    case key(String, first: Int)
  }

  /// Deeper than any configuration, and far below what a thread's stack allows.
  private static let depthLimit = 64

  /// Reads a whole text.
  ///
  /// - Throws: the line and column of the error.
  static func read(_ bytes: [UInt8]) throws(ConfigurationFault) -> ConfigurationValue {
    var reader = JSON5Reader(bytes: bytes)
    do throws(Misplaced) {
      let value = try reader.value(depth: 0)
      try reader.skipBlank()
      guard reader.next == nil else { throw .here }
      return value
    } catch {
      throw reader.fault(error)
    }
  }

  private func fault(_ error: Misplaced) -> ConfigurationFault {
    let (line, column) = place(of: position)
    switch error {
    case .here:
      return ConfigurationFault(
        "line \(line), column \(column): this is not JSON with comments. Check quotes, commas and braces there.")
    case .key(let key, let first):
      let firstLine = place(of: first).line
      let other = firstLine == line ? "" : ", first in line \(firstLine)"
      return ConfigurationFault(
        "line \(line), column \(column): the key \(key.printable) is there for the second time\(other). Keep one of the two."
      )
    }
  }

  /// The line and column of a byte, from 1.
  private func place(of position: Int) -> (line: Int, column: Int) {
    let before = bytes[..<position]
    let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    return (line, String(decoding: before[lineStart...], as: UTF8.self).count + 1)
  }

  // MARK: Position

  var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  func isNext(_ text: StaticString) -> Bool { bytes[position...].starts(with: "\(text)".utf8) }

  mutating func take(_ text: StaticString) -> Bool {
    guard isNext(text) else { return false }
    position += text.utf8CodeUnitCount
    return true
  }

  /// The next scalar, and how many bytes it has; nil at the end, and if it is not UTF-8.
  func nextScalar() -> (scalar: Unicode.Scalar, count: Int)? {
    var decoder = UTF8()
    var rest = bytes[position...].makeIterator()
    guard case .scalarValue(let scalar) = decoder.decode(&rest) else { return nil }
    return (scalar, UTF8.width(scalar))
  }

  /// Skips white space and comments.
  private mutating func skipBlank() throws(Misplaced) {
    while let (scalar, count) = nextScalar() {
      if isNext("//") {
        while let byte = next, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") { position += 1 }
      } else if isNext("/*") {
        let start = position
        position += 2
        while next != nil, !isNext("*/") { position += 1 }
        guard take("*/") else {
          // An unclosed comment is reported where it begins.
          position = start
          throw .here
        }
      } else if Self.isSpace(scalar) {
        position += count
      } else {
        return
      }
    }
  }

  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "\t", "\n", "\u{b}", "\u{c}", "\r", " ", "\u{2028}", "\u{2029}", "\u{feff}": true
    default: !scalar.isASCII && scalar.properties.generalCategory == .spaceSeparator
    }
  }

  // MARK: Values

  private mutating func value(depth: Int) throws(Misplaced) -> ConfigurationValue {
    try skipBlank()
    guard let next, depth < Self.depthLimit else { throw .here }
    switch next {
    case UInt8(ascii: "{"): return .object(try members(depth: depth))
    case UInt8(ascii: "["): return .list(try elements(depth: depth))
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return .text(try string())
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
      return .number(try number())
    default: return try constant()
    }
  }

  private mutating func members(depth: Int) throws(Misplaced) -> [String: ConfigurationValue] {
    var members: [String: ConfigurationValue] = [:]
    var places: [String: Int] = [:]
    position += 1
    try skipBlank()
    while !take("}") {
      let start = position
      let key = next == UInt8(ascii: "\"") || next == UInt8(ascii: "'") ? try string() : try word()
      if let first = places.updateValue(start, forKey: key) {
        position = start
        throw .key(key, first: first)
      }
      try skipBlank()
      guard take(":") else { throw .here }
      members[key] = try value(depth: depth + 1)
      try separate(before: "}")
    }
    return members
  }

  private mutating func elements(depth: Int) throws(Misplaced) -> [ConfigurationValue] {
    var elements: [ConfigurationValue] = []
    position += 1
    try skipBlank()
    while !take("]") {
      elements.append(try value(depth: depth + 1))
      try separate(before: "]")
    }
    return elements
  }

  /// Skips the comma between two values, or after the last one.
  private mutating func separate(before end: StaticString) throws(Misplaced) {
    try skipBlank()
    if take(",") { try skipBlank() } else if !isNext(end) { throw .here }
  }

  private mutating func constant() throws(Misplaced) -> ConfigurationValue {
    let start = position
    switch try word() {
    case "true": return .bool(true)
    case "false": return .bool(false)
    case "null": return .null
    case "Infinity": return .number(.infinity)
    case "NaN": return .number(.nan)
    default:
      position = start
      throw .here
    }
  }
}
