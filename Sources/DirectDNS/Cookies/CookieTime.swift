// SPDX-License-Identifier: Apache-2.0
/// An instant on the wall clock, in whole seconds, as cookies need it.
///
/// Cookies outlive processes and their dates come from servers, so the monotonic ``ResolverInstant`` cannot be used.
public struct CookieTime: Hashable, Comparable, Sendable {
  /// Seconds since 1970, UTC.
  public var secondsSince1970: Int64

  /// Creates an instant.
  public init(secondsSince1970: Int64) { self.secondsSince1970 = secondsSince1970 }

  /// The present, as a clock shows it; by default the machine's.
  public init(_ clock: any ResolverClock = SystemClock()) { secondsSince1970 = clock.secondsSince1970 }

  /// The earliest instant: a cookie that expires then has expired.
  public static let distantPast = CookieTime(secondsSince1970: .min)

  /// The earlier one is the smaller one.
  public static func < (left: Self, right: Self) -> Bool { left.secondsSince1970 < right.secondsSince1970 }

  /// The instant that much later, in whole seconds; it saturates.
  public static func + (time: Self, duration: Duration) -> Self {
    let seconds = duration.components.seconds
    let (sum, overflow) = time.secondsSince1970.addingReportingOverflow(seconds)
    return Self(secondsSince1970: overflow ? (seconds < 0 ? .min : .max) : sum)
  }

  /// Reads the date of an `Expires` attribute, in any of the formats that servers have sent; nil for other text.
  ///
  /// - Parameter text: such as `Sun, 06 Nov 1994 08:49:37 GMT`, `06-Nov-94 08:49:37` or `Nov 6 08:49:37 1994`; the zone
  ///   is ignored, the time is UTC (RFC 6265bis §5.1.1).
  public init?(cookieDate text: String) {
    guard let seconds = HTTPDate.secondsSince1970(text) else { return nil }
    self.init(secondsSince1970: seconds)
  }
}
