// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

struct WarmupBarTests {
  private func report(_ done: Int, of names: Int, failed: Int = 0, isComplete: Bool = true) -> WarmupReport {
    var report = WarmupReport(minimum: .all)
    (report.names, report.resolved, report.failed) = (names, done - failed, failed)
    report.isListComplete = isComplete
    return report
  }

  private func at(_ seconds: Double) -> ResolverInstant { ResolverInstant(nanoseconds: Int64(seconds * 1e9)) }

  @Test func `a bar shows what is done, the rate, failures and the time left`() {
    var bar = WarmupBar(expecting: 2000, now: at(0))
    bar.note(report(100, of: 2000), now: at(1))
    bar.note(report(500, of: 2000, failed: 3), now: at(2))
    let line = bar.line(report(500, of: 2000, failed: 3), now: at(2), width: 100)
    #expect(line == " 25%  [#######-----------------------]  500 of 2000 names  250/s  3 failed  0:06 left")
  }

  @Test func `a bar and a summary name the provider that asks for no query for a while`() {
    var paused = report(500, of: 2000)
    paused.pause = WarmupReport.Pause(provider: "one\u{1b}", left: .seconds(3500))
    let bar = WarmupBar(expecting: 2000, now: at(0))
    let line = bar.line(paused, now: at(2), width: 120)
    #expect(line.hasSuffix("500 of 2000 names  250/s  one\\u{1B} asks for no query for 58 min (429)"), "\(line)")
    let summary = WarmupSummary(report: paused, style: TextStyle(isOn: false)).text
    #expect(summary.contains(", one\\u{1B} wanted no query for 58 min more (429), in "), "\(summary)")
  }

  @Test(arguments: [(1, "was the same, 1 more was no name"), (2, "were the same, 2 more were no names")])
  func `one more is told as one`(count: Int, said: String) {
    var some = report(1, of: 1)
    some.duplicates = count
    some.rejectedLeftOut = count
    #expect(WarmupSummary(report: some, style: TextStyle(isOn: false)).text.contains("\(count) more \(said)\n"))
  }

  @Test func `while a list is being read its lines are the whole, and without lines there is no whole`() {
    var some = report(50, of: 400, isComplete: false)
    some.duplicates = 10
    #expect(WarmupBar(expecting: 1000, now: at(0)).figures(some, now: at(1)) == "50 of 990 names  50/s  0:19 left")
    #expect(WarmupBar(expecting: nil, now: at(0)).line(some, now: at(1), width: 60) == "50 names  50/s")
  }

  @Test func `a narrow terminal gets the figures alone, and none wraps`() {
    let bar = WarmupBar(expecting: 2000, now: at(0))
    #expect(bar.line(report(0, of: 2000), now: at(0), width: 40) == "  0%  0 of 2000 names  0/s")
    #expect(bar.line(report(0, of: 2000), now: at(0), width: 10).count == 10)
  }
}
