// SPDX-License-Identifier: Apache-2.0
/// The date format of HTTP (RFC 9110 §5.6.7), such as `Tue, 14 Nov 2023 22:13:20 GMT`.
package enum HTTPDate {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = [
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

  private static func twoDigits(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
