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
  /// The number of the last `Content-Length`.
  private var length: Int64?
  private var isLengthWrong = false

  /// The status; nil where the first line is no status line.
  private(set) var status: Int?

  /// Whether the end of the body can be told: not if `Content-Length` has two different values, or one that is no
  /// number (RFC 9112 §6.3).
  ///
  /// With `Transfer-Encoding` it can all the same, since that overrides `Content-Length`.
  var hasSoundLength: Bool { !isLengthWrong || hasTransferEncoding }

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

  /// Forgets all lines.
  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    (status, hasRestorableField, hasTransferEncoding, length, isLengthWrong) = (nil, false, false, nil, false)
  }

  private enum Meaning {
    case restorable, transferEncoding, other
    /// Nil for a value that is no number.
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
    // By the first letter, which most lines do not share with any of these. A folded line begins with a blank.
    switch ASCII.lowercased(line[0]) {
    case UInt8(ascii: "c"):
      if HeadLine.isField("content-length", line) { return .length(length(line)) }
      return HeadLine.isField("content-location", line) ? .restorable : .other
    case UInt8(ascii: "l"): return HeadLine.isField("location", line) ? .restorable : .other
    case UInt8(ascii: "r"): return HeadLine.isField("refresh", line) ? .restorable : .other
    case UInt8(ascii: "s"): return HeadLine.isField("set-cookie", line) ? .restorable : .other
    case UInt8(ascii: "t"): return HeadLine.isField("transfer-encoding", line) ? .transferEncoding : .other
    default: return .other
    }
  }

  /// The number of a `Content-Length`; nil unless its value is digits and nothing else.
  private static func length(_ line: Span<UInt8>) -> Int64? {
    let value = HeadLine.value(of: line, behind: "content-length")
    var number: Int64 = 0
    for place in value {
      guard ASCII.isDigit(line[place]), number <= (.max - 9) / 10 else { return nil }
      number = number * 10 + Int64(line[place] - ASCII.zero)
    }
    return value.isEmpty ? nil : number
  }
}
