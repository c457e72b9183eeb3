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
    var date = CookieDate()
    for token in text.utf8.split(whereSeparator: CookieDate.isDelimiter) { date.take(token) }
    guard let seconds = date.secondsSince1970 else { return nil }
    self.init(secondsSince1970: seconds)
  }
}

/// The parts of a date, found one token after the other (RFC 6265bis §5.1.1).
private struct CookieDate {
  private var time: (hour: Int64, minute: Int64, second: Int64)?
  private var day: Int64?
  private var month: Int64?
  private var year: Int64?

  static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
    default: false
    }
  }

  /// Takes a token for the first part that is still missing and that it can be.
  mutating func take(_ token: Substring.UTF8View) {
    if time == nil, let found = Self.time(token) {
      time = found
    } else if day == nil, let found = Self.number(token, digits: 1...2) {
      day = found
    } else if month == nil, let found = Self.month(token) {
      month = found
    } else if year == nil, let found = Self.number(token, digits: 2...4) {
      year = found < 70 ? found + 2000 : found < 100 ? found + 1900 : found
    }
  }

  var secondsSince1970: Int64? {
    guard let time, let day, let month, let year, year >= 1601, time.hour < 24, time.minute < 60, time.second < 60,
      day >= 1, day <= CivilDate.days(in: month, of: year)
    else { return nil }
    let days = CivilDate(year: year, month: month, day: day).daysSince1970
    return days * 86_400 + time.hour * 3_600 + time.minute * 60 + time.second
  }

  /// The number at a token's start; digits are followed by the end or by anything else.
  private static func number(_ token: Substring.UTF8View, digits allowed: ClosedRange<Int>) -> Int64? {
    let digits = token.prefix(while: ASCII.isDigit)
    guard allowed.contains(digits.count) else { return nil }
    return digits.reduce(0) { $0 * 10 + Int64($1 - ASCII.zero) }
  }

  private static func time(_ token: Substring.UTF8View) -> (Int64, Int64, Int64)? {
    let fields = token.split(separator: ASCII.colon, maxSplits: 2, omittingEmptySubsequences: false)
    guard fields.count == 3, fields[0].allSatisfy(ASCII.isDigit), fields[1].allSatisfy(ASCII.isDigit),
      let hour = number(fields[0], digits: 1...2), let minute = number(fields[1], digits: 1...2),
      let second = number(fields[2], digits: 1...2)
    else { return nil }
    return (hour, minute, second)
  }

  private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

  private static func month(_ token: Substring.UTF8View) -> Int64? {
    let start = token.prefix(3).map(ASCII.lowercased)
    return months.firstIndex { $0.utf8.elementsEqual(start) }.map { Int64($0) + 1 }
  }
}
