// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct CivilDateTests {
  @Test(
    arguments: [
      (0, (1970, 1, 1)), (-1, (1969, 12, 31)), (59, (1970, 3, 1)), (11_016, (2000, 2, 29)), (19_675, (2023, 11, 14)),
      (-25_509, (1900, 2, 28)), (-25_508, (1900, 3, 1)), (-719_468, (0, 3, 1)), (-719_469, (0, 2, 29)),
      (2_932_896, (9999, 12, 31)), (-135_140, (1600, 1, 1)),
    ] as [(Int64, (Int64, Int64, Int64))])
  func `a day has a number and a date`(_ days: Int64, _ date: (Int64, Int64, Int64)) {
    let expected = CivilDate(year: date.0, month: date.1, day: date.2)
    #expect(CivilDate(daysSince1970: days) == expected && expected.daysSince1970 == days)
  }

  @Test func `day follows day, as long as months and years are`() {
    // From 221 BC to 2791, or from 1750 to 2052.
    let (first, end) = (-Int64(Sanitizer.volume(of: 800_000)), Int64(Sanitizer.volume(of: 300_000)))
    var last = CivilDate(daysSince1970: first)
    for days in first + 1...end {
      let date = CivilDate(daysSince1970: days)
      let isLastOfMonth = last.day == CivilDate.days(in: last.month, of: last.year)
      let isLastOfYear = isLastOfMonth && last.month == 12
      let expected = CivilDate(
        year: last.year + (isLastOfYear ? 1 : 0), month: isLastOfYear ? 1 : last.month + (isLastOfMonth ? 1 : 0),
        day: isLastOfMonth ? 1 : last.day + 1)
      guard date == expected, date.daysSince1970 == days else {
        Issue.record("\(days): \(date), expected \(expected)")
        return
      }
      last = date
    }
  }
}
