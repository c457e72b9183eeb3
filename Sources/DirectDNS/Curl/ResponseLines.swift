// SPDX-License-Identifier: Apache-2.0
/// The lines around a response's body: its head, and the trailers behind it.
///
/// A pure value.
struct ResponseLines {
  /// The most bytes of heads and trailers together that are read; see ``CurlFieldAllowance``.
  static let limit = 256 * 1024

  /// What a line leads to.
  enum Meaning {
    /// More lines follow.
    case more
    /// The head is complete.
    case head
    /// The lines are larger than ``limit``.
    case tooMuch
  }

  private(set) var head = HeadLines()
  private(set) var trailers: [UInt8] = []
  private(set) var isHeadComplete = false
  /// The bytes of the head and of the interim ones before it, as they came, with the blank lines behind them.
  private(set) var headSize = 0
  /// Whether the next line may be a status line: the first one, and the first one behind an interim response.
  private var mayBeginHead = true
  private var allowance = CurlFieldAllowance(ResponseLines.limit)

  /// Whether any line has come.
  var isUsed: Bool { allowance.isUsed }
  /// Whether the lines are larger than ``limit``.
  var isExceeded: Bool { allowance.isExceeded }

  /// Takes a line, its end included.
  mutating func take(_ line: some Collection<UInt8>) -> Meaning {
    // Before anything is kept: with too much, libcurl ends the transfer and frees its own copy.
    guard allowance.take(line.count) else { return .tooMuch }
    let isBlank = line.first.map(HeadLine.isLineEnd) ?? true
    if isHeadComplete {
      if !isBlank { trailers.append(contentsOf: line) }
      return .more
    }
    headSize += line.count
    guard isBlank else {
      // Lines before a status line belong to an interim response (RFC 9110 §15.2), or to one that libcurl handles
      // itself. The line of a field may begin like one.
      if mayBeginHead {
        if line.starts(with: Self.statusLine) { head = HeadLines() }
        mayBeginHead = false
      }
      head.append(line)
      return .more
    }
    mayBeginHead = true
    guard let status = head.status, !(100..<200).contains(status) || status == 101 else { return .more }
    isHeadComplete = true
    return .head
  }

  private static let statusLine = Array("HTTP/".utf8)

  /// The body has begun, so that the head is complete.
  mutating func completeHead() { isHeadComplete = true }

  /// The request is sent once more: the lines so far do not count.
  mutating func startOver() {
    head = HeadLines()
    headSize = 0
    mayBeginHead = true
  }

  mutating func takeHead() -> HeadLines { exchange(&head, with: HeadLines()) }

  /// Whether the head came over HTTP/2: "HTTP/2 200".
  var isHTTP2: Bool { head.bytes.count > 5 && head.bytes[5] == UInt8(ascii: "2") }
}

/// How many bytes of heads (also of interim responses) and trailers a server may still send.
///
/// Each line counts 32 bytes more than it has (RFC 9113 §6.5.2), since keeping it costs more than its bytes: libcurl
/// has an allocation for each. libcurl itself limits heads (to 300 KiB, since 8.4 and in Debian 12), but not trailers.
struct CurlFieldAllowance {
  private static let costOfLine = 32

  private let limit: Int
  private var used = 0

  init(_ limit: Int) { self.limit = limit }

  var isExceeded: Bool { used > limit }

  /// Whether anything was sent.
  var isUsed: Bool { used > 0 }

  /// Counts a line.
  ///
  /// - Returns: whether it is allowed; after one that is not, none is.
  mutating func take(_ count: Int) -> Bool {
    guard !isExceeded else { return false }
    used += count + Self.costOfLine
    return !isExceeded
  }
}
