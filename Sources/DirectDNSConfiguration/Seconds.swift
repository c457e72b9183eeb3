// SPDX-License-Identifier: Apache-2.0
/// Times in seconds, decimals allowed.
package enum Seconds {
  /// Ten years; more is a mistake.
  package static let most = 315_360_000.0

  /// The longest timeout that can be set: a day.
  static let longestTimeout = 86_400.0

  /// The allowed timeouts, for errors.
  package static let timeoutExpectation =
    "Give a number of seconds, more than 0 and at most \(Int(longestTimeout))."

  /// Whole nanoseconds, so that 0.3 is 300 ms and not a little less.
  static func duration(_ seconds: Double) -> Duration {
    .nanoseconds(Int64((seconds * 1_000_000_000).rounded()))
  }

  /// The allowed times to wait, for errors.
  package static let waitExpectation = "Give a number of seconds, from 0 to \(Int(longestTimeout))."

  /// Reads a timeout: digits with or without decimals, more than 0, at most a day.
  package static func timeout(_ text: String) -> Duration? { wait(text).flatMap { $0 > .zero ? $0 : nil } }

  /// Reads a time to wait: as a timeout, or 0 for none.
  package static func wait(_ text: String) -> Duration? {
    let isDecimal = text.utf8.allSatisfy {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".")
    }
    guard isDecimal, let seconds = Double(text), seconds <= longestTimeout else { return nil }
    return duration(seconds)
  }
}
