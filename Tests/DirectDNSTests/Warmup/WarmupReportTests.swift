// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS

struct WarmupReportTests {
  private func report(_ change: (inout WarmupReport) -> Void = { _ in }) -> WarmupReport {
    var report = WarmupReport(minimum: .share(0.5))
    report.names = 4
    report.resolved = 4
    report.needed = 2
    report.isMinimumReached = true
    report.isListComplete = true
    report.end = .finished
    change(&report)
    return report
  }

  @Test func `a list whose every name has an answer of its time is complete, negative ones included`() {
    #expect(report().readiness == .complete)
    #expect(report { ($0.resolved, $0.negative) = (3, 1) }.readiness == .complete)
  }

  @Test func `with the minimum reached and anything missing it is degraded`() {
    #expect(report { $0.expired = 1 }.readiness == .degraded)
    #expect(report { ($0.resolved, $0.failed) = (3, 1) }.readiness == .degraded)
    #expect(report { ($0.resolved, $0.unfinished, $0.end) = (3, 1, .deadline) }.readiness == .degraded)
    #expect(report { $0.end = .stopped }.readiness == .degraded)
    // Enough names are done, and others are not yet.
    #expect(report { $0.end = .running }.readiness == .degraded)
  }

  @Test func `below the minimum it is missed`() {
    #expect(report { $0.isMinimumReached = false }.readiness == .missed)
  }

  @Test func `it says in one line what there is`() {
    #expect(report().summary == "4 of 4 names have an address, 4 resolved")
    let mixed = report {
      ($0.names, $0.resolved, $0.fromStore, $0.fromCache, $0.expired) = (9, 1, 2, 1, 2)
      ($0.negative, $0.failed, $0.unfinished) = (1, 2, 2)
    }
    #expect(
      mixed.summary
        == "4 of 9 names have an address, 1 resolved, 2 from the store, 1 from the cache, 2 of these expired, 1 negative, 2 failed, 2 unfinished"
    )
  }

  @Test func `it is coded and decoded without loss, and equal reports are equal text`() throws {
    let original = report {
      $0.durationMs = Duration.nanoseconds(12_345_678).inMilliseconds
      $0.slowest = [.init(host: Sample.name("a.example"), durationMs: 1.234)]
      $0.queries = [.init(provider: "alidns", queries: 8, failed: 1)]
      $0.failures = [.init(host: Sample.name("b.example"), code: .timedOut, message: "late")]
      $0.rejected = [.init(place: WarmupPlace(source: "f", line: 3), text: "\"x y\"", reason: "a blank")]
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let text = try encoder.encode(original)
    let copy = try JSONDecoder().decode(WarmupReport.self, from: text)
    #expect(copy == original)
    #expect(try encoder.encode(copy) == text)
    #expect(original.durationMs == 12.345 && original.duration == .microseconds(12_345))
    #expect(original.slowest.first?.duration == .microseconds(1234))
  }

  @Test(arguments: [Int.max, .min])
  func `a report may hold any counts`(_ count: Int) {
    let extreme = report {
      ($0.resolved, $0.fromStore, $0.fromCache) = (count, count, count)
      ($0.negative, $0.failed) = (count, count)
    }
    #expect(extreme.answered == count && extreme.done == count)
    #expect(extreme.summary.hasPrefix("\(count) of 4 names have an address"))
  }

  @Test(arguments: [
    (Double.nan, Duration.zero), (.infinity, .nanoseconds(Int64.max)), (-1, .milliseconds(-1)),
    (1.2345678, .microseconds(1235)), (1e300, .nanoseconds(Int64.max)),
  ])
  func `any number of milliseconds is a duration`(_ count: Double, _ duration: Duration) {
    #expect(report { $0.durationMs = count }.duration == duration)
  }
}
