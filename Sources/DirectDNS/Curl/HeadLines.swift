// SPDX-License-Identifier: Apache-2.0
/// The lines of a response's head as they came, and what every response is judged by before its fields are read.
///
/// A pure value. What counts is noted line by line, as libcurl hands them over: nobody has to look for their ends again.
struct HeadLines: Sendable {
  /// Each with its end, without the blank one.
  private(set) var bytes: [UInt8] = []
  /// Whether there is a field in which an address can stand for the name; see ``ResponseRestorer``.
  private(set) var hasRestorableField = false
  private var hasTransferEncoding = false
  /// The number of `Content-Length`.
  private var length: Int64?
  private var isLengthWrong = false

  /// Whether it is known how long the body is, or that nobody says: not where `Content-Length` has two values or none
  /// that is a number (RFC 9112 §6.3), unless the coding goes before it.
  var hasSoundLength: Bool { !isLengthWrong || hasTransferEncoding }

  /// Takes a line, its end included.
  mutating func append(_ line: some Collection<UInt8>) {
    // Most heads need no more, and none has to grow into its size line by line.
    if bytes.isEmpty { bytes.reserveCapacity(512) }
    let start = bytes.count
    bytes.append(contentsOf: line)
    if bytes.count > start { note(Self.meaning(of: bytes.span.extracting(start...))) }
  }

  /// Forgets all lines.
  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    (hasRestorableField, hasTransferEncoding, length, isLengthWrong) = (false, false, nil, false)
  }

  private enum Meaning {
    case restorable, transferEncoding, other
    /// Nil for what is no number.
    case length(Int64?)
  }

  private mutating func note(_ meaning: Meaning) {
    switch meaning {
    case .restorable: hasRestorableField = true
    case .transferEncoding: hasTransferEncoding = true
    case .length(let number):
      if number == nil || length ?? number != number { isLengthWrong = true }
      length = number
    case .other: break
    }
  }

  private static func meaning(of line: Span<UInt8>) -> Meaning {
    // By their first letter: most lines begin with another one. That of a folded line is a blank.
    switch ASCII.lowercased(line[0]) {
    case UInt8(ascii: "c"):
      if isNamed("content-length", line) { return .length(number(line, after: "content-length:".utf8.count)) }
      return isNamed("content-location", line) ? .restorable : .other
    case UInt8(ascii: "l"): return isNamed("location", line) ? .restorable : .other
    case UInt8(ascii: "r"): return isNamed("refresh", line) ? .restorable : .other
    case UInt8(ascii: "s"): return isNamed("set-cookie", line) ? .restorable : .other
    case UInt8(ascii: "t"): return isNamed("transfer-encoding", line) ? .transferEncoding : .other
    default: return .other
    }
  }

  /// Whether a line is a field of that name, which is in lower case.
  private static func isNamed(_ name: StaticString, _ line: Span<UInt8>) -> Bool {
    let count = name.utf8CodeUnitCount
    guard line.count > count, line[count] == ASCII.colon else { return false }
    return name.withUTF8Buffer { name in
      for place in 0..<count where unsafe ASCII.lowercased(line[place]) != name[place] { return false }
      return true
    }
  }

  /// A number of bytes: digits alone, and blanks around them.
  private static func number(_ line: Span<UInt8>, after start: Int) -> Int64? {
    var (start, end) = (start, line.count)
    while start < end, ASCII.isBlank(line[start]) { start += 1 }
    while end > start, ASCII.isBlankOrReturn(line[end - 1]) || line[end - 1] == ASCII.newline { end -= 1 }
    var number: Int64 = 0
    for place in start..<end {
      guard ASCII.isDigit(line[place]), number <= (.max - 9) / 10 else { return nil }
      number = number * 10 + Int64(line[place] - ASCII.zero)
    }
    return start < end ? number : nil
  }
}
