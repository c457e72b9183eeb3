// SPDX-License-Identifier: Apache-2.0
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
