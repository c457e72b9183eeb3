internal import DirectDNS

extension WallInstant {
  /// The instant in UTC by whole seconds (RFC 3339), such as `2023-11-14T22:13:20Z`.
  var text: String {
    let seconds = Self.floor(milliseconds, by: 1000)
    let days = Self.floor(seconds, by: 86_400)
    let rest = seconds - days * 86_400
    // From the civil calendar's own beginning, 0000-03-01, whose eras of 400 years all have the same length.
    let sinceMarch = days + 719_468
    let era = Self.floor(sinceMarch, by: 146_097)
    let day = sinceMarch - era * 146_097
    let yearOfEra = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
    let dayOfYear = day - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let dayOfMonth = dayOfYear - (153 * month + 2) / 5 + 1
    let year = era * 400 + yearOfEra + (month < 10 ? 0 : 1)
    let date =
      "\(Self.digits(year, 4))-\(Self.digits(month < 10 ? month + 3 : month - 9, 2))-\(Self.digits(dayOfMonth, 2))"
    return "\(date)T\(Self.digits(rest / 3600, 2)):\(Self.digits(rest / 60 % 60, 2)):\(Self.digits(rest % 60, 2))Z"
  }

  private static func floor(_ number: Int64, by divisor: Int64) -> Int64 {
    let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }

  private static func digits(_ number: Int64, _ count: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }
}
