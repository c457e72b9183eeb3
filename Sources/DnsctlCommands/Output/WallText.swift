// SPDX-License-Identifier: Apache-2.0
package import DirectDNS

extension WallInstant {
  /// The instant in UTC, in whole seconds (RFC 3339), such as `2023-11-14T22:13:20Z`.
  package var text: String {
    let (date, time) = parts
    return "\(Self.digits(date.year, 4))-\(Self.digits(date.month, 2))-\(Self.digits(date.day, 2))T\(time)Z"
  }

  /// The same in the format of web server logs (Apache's `%t`), such as `14/Nov/2023:22:13:20 +0000`.
  package var commonLogText: String {
    let (date, time) = parts
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    return "\(Self.digits(date.day, 2))/\(months[Int(date.month) - 1])/\(Self.digits(date.year, 4)):\(time) +0000"
  }

  private var parts: (date: CivilDate, time: String) {
    let seconds = milliseconds.floored(by: 1000)
    let days = seconds.floored(by: 86_400)
    let rest = seconds - days * 86_400
    return (
      CivilDate(daysSince1970: days),
      "\(Self.digits(rest / 3600, 2)):\(Self.digits(rest / 60 % 60, 2)):\(Self.digits(rest % 60, 2))"
    )
  }

  private static func digits(_ number: Int64, _ count: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }
}
