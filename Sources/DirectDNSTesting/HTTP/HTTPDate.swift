/// The date format of HTTP (RFC 9110 §5.6.7), such as `Tue, 14 Nov 2023 22:13:20 GMT`.
enum HTTPDate {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The text of an instant from 1970 on.
  static func text(secondsSince1970 seconds: Int64) -> String {
    let seconds = max(0, seconds)
    let day = seconds / 86_400
    let time = seconds % 86_400
    // Howard Hinnant's civil_from_days: years begin in March, so that the leap day is the last one.
    let shifted = day + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = Int((monthFromMarch + 2) % 12)
    let year = yearOfEra + era * 400 + (month < 2 ? 1 : 0)
    let clock = [time / 3600, time / 60 % 60, time % 60].map(twoDigits).joined(separator: ":")
    return "\(days[Int(day % 7)]), \(twoDigits(dayOfMonth)) \(months[month]) \(year) \(clock) GMT"
  }

  private static func twoDigits(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
