// SPDX-License-Identifier: Apache-2.0
/// One line of a response's head: a status line, or a field line (RFC 9112 §4 and §5).
///
/// Pure functions of the line's bytes; its end, CR LF, may still be there.
enum HeadLine {
  /// The number of a status line, such as `HTTP/1.1 200 OK` or `HTTP/2 200`; nil unless three digits follow the first
  /// blank.
  static func status(of line: Span<UInt8>) -> Int? {
    guard let blank = index(of: ASCII.space, in: line, line.indices), blank + 3 < line.count else { return nil }
    var status = 0
    for place in blank + 1...blank + 3 {
      guard ASCII.isDigit(line[place]) else { return nil }
      status = status * 10 + Int(line[place] - ASCII.zero)
    }
    return status
  }

  /// Whether a line that begins with this byte is the empty one that ends a head, as libcurl takes it.
  ///
  /// Its length would not tell: a blank and a bare LF continue the line before (RFC 9112 §5.2 and §2.2).
  @inline(__always)
  static func isLineEnd(_ first: UInt8) -> Bool { first == ASCII.carriageReturn || first == ASCII.newline }

  /// Whether a line begins with that text, which is in lower case.
  @inline(__always)
  static func begins(with text: StaticString, _ line: Span<UInt8>) -> Bool {
    let count = text.utf8CodeUnitCount
    guard line.count >= count else { return false }
    return text.withUTF8Buffer { text in
      for place in 0..<count where unsafe ASCII.lowercased(line[place]) != text[place] { return false }
      return true
    }
  }

  /// Whether a line is the field of that name, which is in lower case.
  ///
  /// Where its colon stands is looked at first: most lines are told apart by that.
  @inline(__always)
  static func isField(_ name: StaticString, _ line: Span<UInt8>) -> Bool {
    let count = name.utf8CodeUnitCount
    return line.count > count && line[count] == ASCII.colon && begins(with: name, line)
  }

  /// Where the value of a field stands, without the blanks around it and the line's end.
  ///
  /// - Parameters:
  ///   - line: the line.
  ///   - name: the field's name.
  /// - Returns: a range of the line, empty for an empty value.
  @inline(__always)
  static func value(of line: Span<UInt8>, behind name: StaticString) -> Range<Int> {
    trimmed(line, name.utf8CodeUnitCount + 1..<line.count)
  }

  /// A range without the blanks and line ends around it.
  ///
  /// A CR alone counts as a blank (RFC 9112 §2.2).
  @inline(__always)
  static func trimmed(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
    func isOutside(_ byte: UInt8) -> Bool { ASCII.isBlankOrReturn(byte) || byte == ASCII.newline }
    var (start, end) = (range.lowerBound, range.upperBound)
    while end > start, isOutside(bytes[end - 1]) { end -= 1 }
    while start < end, isOutside(bytes[start]) { start += 1 }
    return start..<end
  }

  /// Bytes as text, if they are UTF-8.
  static func text(_ bytes: Span<UInt8>) -> String? {
    guard let utf8 = try? UTF8Span(validating: bytes) else { return nil }
    return String(copying: utf8)
  }

  /// The first place of a byte within a range; nil where it does not occur.
  static func index(of byte: UInt8, in bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
    for place in range where bytes[place] == byte { return place }
    return nil
  }
}
