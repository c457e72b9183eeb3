// SPDX-License-Identifier: Apache-2.0
/// The dates of HTTP (RFC 9110 §5.6.7), such as `Tue, 14 Nov 2023 22:13:20 GMT`.
package enum HTTPDate {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  fileprivate static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The text of an instant from 1970 on.
  package static func text(secondsSince1970 seconds: Int64) -> String {
    let seconds = max(0, seconds)
    let day = seconds / 86_400
    let time = seconds % 86_400
    let date = CivilDate(daysSince1970: day)
    let clock = [time / 3600, time / 60 % 60, time % 60].map(twoDigits).joined(separator: ":")
    return "\(days[Int(day % 7)]), \(twoDigits(date.day)) \(months[Int(date.month) - 1]) \(date.year) \(clock) GMT"
  }

  /// Reads a date in any of the three formats of HTTP, and in others that servers send (RFC 6265bis §5.1.1).
  ///
  /// - Parameter text: the text; its zone is ignored, the time is UTC.
  /// - Returns: the instant; nil if it is not a date.
  static func secondsSince1970(_ text: String) -> Int64? { DateTokens(text).secondsSince1970 }

  private static func twoDigits(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
}

/// The parts of a date, found one token after the other (RFC 6265bis §5.1.1).
private struct DateTokens {
  private var time: (hour: Int64, minute: Int64, second: Int64)?
  private var day: Int64?
  private var month: Int64?
  private var year: Int64?

  init(_ text: String) {
    for token in text.utf8.split(whereSeparator: Self.isDelimiter) { take(token) }
  }

  private static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
    default: false
    }
  }

  /// Takes a token as the first part that is still missing and that it can be.
  private mutating func take(_ token: Substring.UTF8View) {
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

  /// The number at a token's start, with that many digits; anything but a digit may follow.
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

  private static func month(_ token: Substring.UTF8View) -> Int64? {
    let start = token.prefix(3).map(ASCII.lowercased)
    return HTTPDate.months.firstIndex { $0.utf8.lazy.map(ASCII.lowercased).elementsEqual(start) }.map { Int64($0) + 1 }
  }
}
