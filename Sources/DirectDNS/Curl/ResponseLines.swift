// SPDX-License-Identifier: Apache-2.0
/// The lines that come around a response's body: of its head, and of the trailers behind it.
///
/// A pure value.
struct ResponseLines {
  /// The most that is read of heads and trailers together, in bytes; see ``CurlFieldAllowance``.
  static let limit = 256 * 1024

  /// What a line means.
  enum Meaning {
    /// The head goes on, or trailers do.
    case more
    /// The head is complete.
    case head
    /// There is more of them than is read.
    case tooMuch
  }

  /// The lines of the head.
  private(set) var head = HeadLines()
  /// Those behind the body.
  private(set) var trailers: [UInt8] = []
  private(set) var isHeadComplete = false
  private var allowance = CurlFieldAllowance(ResponseLines.limit)

  /// Whether anything came.
  var isUsed: Bool { allowance.isUsed }
  /// Whether more came than is read.
  var isExceeded: Bool { allowance.isExceeded }

  /// Takes a line, its end included.
  mutating func take(_ line: some Collection<UInt8>) -> Meaning {
    // Before it is kept: libcurl keeps one of its own, which ends with the transfer.
    guard allowance.take(line.count) else { return .tooMuch }
    let isBlank = line.count <= 2
    if isHeadComplete {
      if !isBlank { trailers.append(contentsOf: line) }
      return .more
    }
    guard isBlank else {
      // What came before was an interim response (RFC 9110 §15.2), or one that libcurl answers by itself.
      if line.first == Self.statusLine.first, line.starts(with: Self.statusLine) { head.removeAll() }
      head.append(line)
      return .more
    }
    guard let status = head.status, status >= 200 || status == 101 else { return .more }
    isHeadComplete = true
    return .head
  }

  private static let statusLine = Array("HTTP/".utf8)

  /// The body has begun: what came before is the head.
  mutating func completeHead() { isHeadComplete = true }

  /// The request is sent once more: what came is no part of its response.
  mutating func startOver() { head.removeAll() }

  /// Hands the head over.
  mutating func takeHead() -> HeadLines {
    var taken = HeadLines()
    swap(&taken, &head)
    return taken
  }

  /// Whether the head came by HTTP/2: "HTTP/2 200".
  var isHTTP2: Bool { head.bytes.count > 5 && head.bytes[5] == UInt8(ascii: "2") }
}

/// How much a peer may still say around the body of a response: heads, those of interim responses too, and trailers.
///
/// Each line counts 32 bytes more than it has, as in RFC 9113 §6.5.2: whoever keeps it pays for more than its bytes, and
/// libcurl keeps each in an allocation of its own. libcurl bounds a head (300 KiB since 8.4, and in what Debian 12 has), and
/// no trailers.
struct CurlFieldAllowance {
  private static let costOfLine = 32

  private let limit: Int
  private var used = 0

  /// Creates an allowance of so many bytes.
  init(_ limit: Int) { self.limit = limit }

  /// Whether more was said than is allowed.
  var isExceeded: Bool { used > limit }

  /// Whether anything was said.
  var isUsed: Bool { used > 0 }

  /// Counts a line.
  ///
  /// - Returns: whether it may be taken; after one that may not, none may.
  mutating func take(_ count: Int) -> Bool {
    guard !isExceeded else { return false }
    used += count + Self.costOfLine
    return !isExceeded
  }
}
