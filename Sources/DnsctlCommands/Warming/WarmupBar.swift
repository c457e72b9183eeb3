// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The progress of a warm-up as a line: a pure function of its report and `now`.
struct WarmupBar: Sendable {
  /// The number of names that is expected, duplicates included; nil if it is unknown, as for standard input.
  let expected: Int?
  private var rate: TransferRate

  init(expecting expected: Int?, now: ResolverInstant) {
    self.expected = expected
    rate = TransferRate(now: now)
  }

  /// Notes the progress.
  mutating func note(_ report: WarmupReport, now: ResolverInstant) { rate.note(Int64(report.done), now: now) }

  /// The line for a terminal, no wider than `width` columns.
  func line(_ report: WarmupReport, now: ResolverInstant, width: Int) -> String {
    let share = total(report).flatMap { $0 > 0 ? min(100, report.done * 100 / $0) : nil }
    return ProgressBar.drawn(
      "", share, figures(report, now: now), most: 30, usual: Self.figuresWidth, width: width)
  }

  /// The width that most figures fit in: `99999 of 99999 names  9999/s  99 failed  0:00 left`.
  private static let figuresWidth = 49

  /// `1234 of 5000 names  120/s  3 failed  0:31 left`.
  func figures(_ report: WarmupReport, now: ResolverInstant) -> String {
    let speed = rate.current(Int64(report.done), now: now)
    let total = total(report)
    var parts = [total.map { "\(report.done) of \($0.counted("name"))" } ?? report.done.counted("name"), "\(speed)/s"]
    if report.negative + report.failed > 0 { parts.append("\(report.negative + report.failed) failed") }
    if let pause = report.pause {
      parts.append("\(pause.provider.printable) asks for no query for \(pause.left.rough) (429)")
    } else if let total, speed > 0, total > report.done {
      let left = (Int64(total - report.done) + speed - 1) / speed
      parts.append("\(ProgressBar.clock(.seconds(left))) left")
    }
    return parts.joined(separator: "  ")
  }

  /// The number of names: exact once the list has been read, else by the number of lines.
  private func total(_ report: WarmupReport) -> Int? {
    if report.isListComplete { return report.names }
    let others = report.duplicates + report.rejected.count + report.rejectedLeftOut
    return expected.map { max($0 - others, report.names) }
  }
}
