// SPDX-License-Identifier: Apache-2.0
/// The lines of a response's head as they came, and what has to be known of every response before its fields are read.
///
/// A pure value. Each line is looked at when libcurl hands it over, so that nobody has to search for line ends again.
struct HeadLines: Sendable {
  /// All lines, each with its end; the empty one behind them is left out.
  private(set) var bytes: [UInt8] = []
  /// Whether there is a field in which an address may stand in place of the name; see ``ResponseRestorer``.
  private(set) var hasRestorableField = false
  private var hasTransferEncoding = false
  private var isCodingUnknown = false
  private var isChunked = false
  /// The number of the last `Content-Length`.
  private var length: Int64?
  private var isLengthWrong = false

  /// The status; nil where the first line is no status line.
  private(set) var status: Int?

  /// Whether the end of the body can be told: not if `Content-Length` has two different values, or one that is no
  /// number (RFC 9112 §6.3).
  ///
  /// With `Transfer-Encoding: chunked` it can all the same, since that overrides `Content-Length`. Not with a coding
  /// that no request asks for (RFC 9112 §7.4): libcurl 7.88 undoes gzip, from 8.5 to 8.14 it takes all that comes for
  /// the body, the sizes of chunks too, and later it refuses. Nor with one that is none beside `Content-Length`, which
  /// ought to be handled as an error (RFC 9112 §6.3): libcurl 7.88 reads to the connection's end, later ones to that
  /// length.
  var hasSoundLength: Bool {
    guard !isCodingUnknown else { return false }
    return isChunked || !isLengthWrong && (length == nil || !hasTransferEncoding)
  }

  /// Takes a line, its end included.
  mutating func append(_ line: some Collection<UInt8>) {
    // Most heads fit into this, so that the array does not grow line by line.
    if bytes.isEmpty { bytes.reserveCapacity(512) }
    let start = bytes.count
    bytes.append(contentsOf: line)
    guard bytes.count > start else { return }
    if start == 0 { status = HeadLine.status(of: bytes.span) }
    note(Self.meaning(of: bytes.span.extracting(start...)))
  }

  private enum Meaning {
    case restorable, other
    /// Nil for a coding that no request asks for.
    case transferEncoding(isChunked: Bool?)
    /// Nil for a value that is no number.
    case length(Int64?)
  }

  private mutating func note(_ meaning: Meaning) {
    switch meaning {
    case .restorable: hasRestorableField = true
    case .transferEncoding(let isChunked):
      hasTransferEncoding = true
      if isChunked == true { self.isChunked = true }
      if isChunked == nil { isCodingUnknown = true }
    case .length(let number):
      if number == nil || length ?? number != number { isLengthWrong = true }
      length = number
    case .other: break
    }
  }

  private static func meaning(of line: Span<UInt8>) -> Meaning {
    // By the first letter, which most lines do not share with any of these. A folded line begins with a blank.
    switch ASCII.lowercased(line[0]) {
    case UInt8(ascii: "c"):
      if HeadLine.isField("content-length", line) { return .length(HeadLine.length(of: line)) }
      return HeadLine.isField("content-location", line) ? .restorable : .other
    case UInt8(ascii: "l"): return HeadLine.isField("location", line) ? .restorable : .other
    case UInt8(ascii: "r"): return HeadLine.isField("refresh", line) ? .restorable : .other
    case UInt8(ascii: "s"): return HeadLine.isField("set-cookie", line) ? .restorable : .other
    case UInt8(ascii: "t"):
      guard HeadLine.isField("transfer-encoding", line) else { return .other }
      return .transferEncoding(isChunked: HeadLine.isChunked(line))
    default: return .other
    }
  }
}

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

  /// The number of a `Content-Length`; nil unless its value is digits and nothing else.
  static func length(of line: Span<UInt8>) -> Int64? {
    let value = Self.value(of: line, behind: "content-length")
    var number: Int64 = 0
    for place in value {
      guard ASCII.isDigit(line[place]), number <= (.max - 9) / 10 else { return nil }
      number = number * 10 + Int64(line[place] - ASCII.zero)
    }
    return value.isEmpty ? nil : number
  }

  /// Whether a `Transfer-Encoding` names `chunked`, and not `identity` alone, which is none (RFC 2616 §3.6); nil if it
  /// names another coding.
  static func isChunked(_ line: Span<UInt8>) -> Bool? {
    let value = Self.value(of: line, behind: "transfer-encoding")
    var start = value.lowerBound
    var isChunked = false
    while start < value.upperBound {
      let end = index(of: UInt8(ascii: ","), in: line, start..<value.upperBound) ?? value.upperBound
      let coding = line.extracting(trimmed(line, start..<end))
      if isCoding("chunked", coding) {
        isChunked = true
      } else if !coding.isEmpty, !isCoding("identity", coding) {
        return nil
      }
      start = end + 1
    }
    return isChunked
  }

  private static func isCoding(_ name: StaticString, _ coding: Span<UInt8>) -> Bool {
    coding.count == name.utf8CodeUnitCount && begins(with: name, coding)
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
