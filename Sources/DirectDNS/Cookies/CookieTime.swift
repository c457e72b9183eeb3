// SPDX-License-Identifier: Apache-2.0
/// An instant on the wall clock, in whole seconds: what a cookie's life is measured in.
///
/// Cookies outlive processes and their dates are the server's, so the monotonic time line of
/// ``ResolverInstant`` cannot serve.
public struct CookieTime: Hashable, Comparable, Sendable {
  /// Seconds since 1970, UTC.
  public var secondsSince1970: Int64

  /// Creates an instant.
  public init(secondsSince1970: Int64) { self.secondsSince1970 = secondsSince1970 }

  /// The beginning of time: whatever expires then has expired.
  public static let distantPast = CookieTime(secondsSince1970: .min)

  /// The earlier one is the smaller one.
  public static func < (left: Self, right: Self) -> Bool { left.secondsSince1970 < right.secondsSince1970 }

  /// The instant that much later, to whole seconds; beyond the end of time it is the end of time.
  public static func + (time: Self, duration: Duration) -> Self {
    let seconds = duration.components.seconds
    let (sum, overflow) = time.secondsSince1970.addingReportingOverflow(seconds)
    return Self(secondsSince1970: overflow ? (seconds < 0 ? .min : .max) : sum)
  }
}

extension CookieTime {
  /// Reads a date as the `Expires` attribute has it, in any of the spellings that servers ever sent.
  ///
  /// - Parameter text: such as `Sun, 06 Nov 1994 08:49:37 GMT`, `06-Nov-94 08:49:37` or `Nov 6 08:49:37 1994`;
  ///   the zone is not looked at, the time is UTC. Nil when the text is no date (RFC 6265bis §5.1.1).
  public init?(cookieDate text: String) {
    guard let seconds = LooseDate(text).secondsSince1970 else { return nil }
    self.init(secondsSince1970: seconds)
  }
}
