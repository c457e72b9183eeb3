internal import DirectDNS

/// Finds where text ends to be JSON with comments (JSON5), and keys that stand in one object twice.
///
/// `JSONDecoder` on Linux says that a file is not valid and keeps to itself where, and of two members with one key it
/// takes one without a word. This reads the file again, for such places alone; what the values are is the decoder's
/// business.
struct SyntaxCheck {
  private let bytes: [UInt8]
  private var position = 0
  private var repetition: Repetition?

  private struct Unexpected: Error {}

  /// A key that stands in one object for the second time.
  struct Repetition: Hashable, CustomStringConvertible {
    var key: String
    /// Where it stands for the first time, from 1.
    var firstLine: Int
    /// Where it stands for the second time, from 1.
    var line: Int
    var column: Int

    var description: String {
      let first = firstLine == line ? "" : ", first in line \(firstLine)"
      return
        "line \(line), column \(column): the key \(key.printable) stands there for the second time\(first). Keep one of the two."
    }
  }

  /// The first key that repeats another one of its object, however either is written; nil if none does.
  static func repeatedKey(in bytes: [UInt8]) -> Repetition? {
    var check = SyntaxCheck(bytes)
    try? check.value(depth: 0)
    return check.repetition
  }

  /// The line and column, from 1, of the first byte that cannot stand where it stands; nil if all of them can.
  static func firstFault(in bytes: [UInt8]) -> (line: Int, column: Int)? {
    var check = SyntaxCheck(bytes)
    do {
      try check.value(depth: 0)
      try check.blank()
      if check.position == bytes.count { return nil }
    } catch {}
    return check.place(of: check.position)
  }

  /// The line and column of a byte, from 1.
  private func place(of position: Int) -> (line: Int, column: Int) {
    let before = bytes[..<position]
    let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    return (line, String(decoding: before[lineStart...], as: UTF8.self).count + 1)
  }

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func isNext(_ text: StaticString) -> Bool { bytes[position...].starts(with: "\(text)".utf8) }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: scalar) else { return false }
    position += 1
    return true
  }

  private mutating func value(depth: Int) throws(Unexpected) {
    try blank()
    guard depth < 512 else { throw Unexpected() }
    if take("{") { return try members(until: "}", depth: depth, hasKeys: true) }
    if take("[") { return try members(until: "]", depth: depth, hasKeys: false) }
    if next == UInt8(ascii: "\"") || next == UInt8(ascii: "'") { return try string() }
    let start = position
    try word()
    let isNumber = bytes[start..<position].first.map { !Self.isLetter($0) } ?? false
    let constants = ["true", "false", "null", "Infinity", "NaN"]
    guard isNumber || constants.contains(String(decoding: bytes[start..<position], as: UTF8.self)) else {
      position = start
      throw Unexpected()
    }
  }

  private mutating func members(until end: Unicode.Scalar, depth: Int, hasKeys: Bool) throws(Unexpected) {
    var keys: [String: Int] = [:]
    try blank()
    while !take(end) {
      if hasKeys {
        let start = position
        if next == UInt8(ascii: "\"") || next == UInt8(ascii: "'") { try string() } else { try word() }
        note(EscapedKey.text(bytes[start..<position]), at: start, &keys)
        try blank()
        guard take(":") else { throw Unexpected() }
      }
      try value(depth: depth + 1)
      try blank()
      if take(",") { try blank() } else if next != UInt8(ascii: end) { throw Unexpected() }
    }
  }

  private mutating func note(_ key: String, at start: Int, _ keys: inout [String: Int]) {
    guard let first = keys.updateValue(start, forKey: key), repetition == nil else { return }
    let (line, column) = place(of: start)
    repetition = Repetition(key: key, firstLine: place(of: first).line, line: line, column: column)
  }

  private mutating func string() throws(Unexpected) {
    let quote = bytes[position]
    let start = position
    position += 1
    while let byte = next, byte != quote {
      position += byte == UInt8(ascii: "\\") ? 2 : 1
    }
    guard position < bytes.count else {
      // A quote that is never closed is found where it opens.
      position = start
      throw Unexpected()
    }
    position += 1
  }

  /// A key without quotes, a constant, or a number.
  private mutating func word() throws(Unexpected) {
    let start = position
    while let byte = next, Self.isLetter(byte) || Self.isNumeric(byte) { position += 1 }
    if position == start { throw Unexpected() }
  }

  private mutating func blank() throws(Unexpected) {
    while let byte = next {
      if isNext("//") {
        while next != nil, next != UInt8(ascii: "\n") { position += 1 }
      } else if isNext("/*") {
        let start = position
        position += 2
        while next != nil, !isNext("*/") { position += 1 }
        guard next != nil else {
          position = start
          throw Unexpected()
        }
        position += 2
      } else if byte <= 0x20 {
        position += 1
      } else {
        return
      }
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
      || byte == UInt8(ascii: "$") || byte >= 0x80
  }

  private static func isNumeric(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.".utf8.contains(byte)
  }
}
