// SPDX-License-Identifier: Apache-2.0
/// A day of the proleptic Gregorian calendar, in UTC.
///
/// The arithmetic counts years from March, so that the leap day is the last day of its year; it is that of Howard
/// Hinnant's `civil_from_days` and `days_from_civil`.
package struct CivilDate: Hashable, Sendable {
  package let year: Int64
  /// 1 to 12.
  package let month: Int64
  /// 1 to 31.
  package let day: Int64

  init(year: Int64, month: Int64, day: Int64) {
    self.year = year
    self.month = month
    self.day = day
  }

  /// The day that is that many days after 1970-01-01, or before it if negative.
  package init(daysSince1970 days: Int64) {
    // From 0000-03-01, since when all eras of 400 years have the same length.
    let sinceMarch = days + 719_468
    let era = sinceMarch.floored(by: 146_097)
    let day = sinceMarch - era * 146_097
    let yearOfEra = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
    let dayOfYear = day - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    self.init(
      year: era * 400 + yearOfEra + (month < 10 ? 0 : 1), month: month < 10 ? month + 3 : month - 9,
      day: dayOfYear - (153 * month + 2) / 5 + 1)
  }

  /// The days since 1970-01-01, negative before it; a day that does not exist, such as 30 February, counts as one of
  /// the next month.
  var daysSince1970: Int64 {
    let shifted = month > 2 ? year : year - 1
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return shifted * 365 + shifted.floored(by: 4) - shifted.floored(by: 100) + shifted.floored(by: 400) + dayOfYear
      - 719_468
  }

  /// How many days that month of that year has.
  static func days(in month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    default: 31
    }
  }
}

extension Int64 {
  /// The quotient, rounded down; for a positive divisor.
  package func floored(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
