// SPDX-License-Identifier: Apache-2.0
/// Builds a report from outcomes as they come, in bounded memory.
struct WarmupTally: Sendable {
  private var report: WarmupReport
  private var reasons: [DirectDNSError.Code: Int] = [:]

  init(minimum: WarmupMinimum) { report = WarmupReport(minimum: minimum) }

  /// An entry is a name; `isNew` unless it repeats one.
  mutating func took(isNew: Bool) {
    if isNew { report.names += 1 } else { report.duplicates += 1 }
  }

  /// An entry is not a name.
  mutating func rejected(_ rejection: WarmupRejection) {
    guard report.rejected.count < WarmupReport.listLimit else {
      report.rejectedLeftOut += 1
      return
    }
    report.rejected.append(rejection)
  }

  /// Whether every name that was taken is done.
  var isDone: Bool { report.done == report.names }

  /// The list was read to its end.
  mutating func readAll() { report.isListComplete = true }

  /// A name is done, with or without an answer.
  mutating func note(_ outcome: WarmupOutcome) {
    switch outcome.kind {
    case .resolved: report.resolved += 1
    case .fromStore: report.fromStore += 1
    case .fromCache: report.fromCache += 1
    case .negative: report.negative += 1
    case .failed: report.failed += 1
    case .unfinished: return
    }
    if outcome.isExpired { report.expired += 1 }
    if outcome.kind != .fromCache { noteSlow(outcome) }
    guard case .failure(let error) = outcome.result else { return }
    reasons[error.code, default: 0] += 1
    guard report.failures.count < WarmupReport.listLimit else {
      report.failuresLeftOut += 1
      return
    }
    report.failures.append(WarmupReport.Failure(host: outcome.host, code: error.code, message: error.line))
  }

  private mutating func noteSlow(_ outcome: WarmupOutcome) {
    let slow = WarmupReport.SlowName(host: outcome.host, durationMs: outcome.duration.inMilliseconds)
    let place = report.slowest.firstIndex { Self.isSlower(slow, $0) } ?? report.slowest.endIndex
    report.slowest.insert(slow, at: place)
    if report.slowest.count > WarmupReport.slowestLimit { report.slowest.removeLast() }
  }

  private static func isSlower(_ left: WarmupReport.SlowName, _ right: WarmupReport.SlowName) -> Bool {
    left.durationMs == right.durationMs ? left.host < right.host : left.durationMs > right.durationMs
  }

  /// The report so far.
  ///
  /// - Parameters:
  ///   - end: how it ended.
  ///   - duration: how long it took.
  ///   - queries: the queries to each provider; providers without any are left out.
  ///   - pause: the current pause; it is left out if the warm-up has finished.
  /// - Returns: the report.
  func report(
    _ end: WarmupReport.End, duration: Duration, queries: [(source: String, tally: QueryTally)],
    pause: WarmupReport.Pause? = nil
  ) -> WarmupReport {
    var report = report
    report.end = end
    report.durationMs = duration.inMilliseconds
    report.unfinished = end == .running ? 0 : report.names - report.done
    report.pause = end == .finished ? nil : pause
    report.reasons = reasons.map { WarmupReport.Reason(code: $0.key, names: $0.value) }
      .sorted { $0.code.rawValue < $1.code.rawValue }
    report.failures.sort { $0.host < $1.host }
    report.queries = queries.filter { $0.tally.queries > 0 }.map {
      WarmupReport.Queries(provider: $0.source, queries: $0.tally.queries, failed: $0.tally.failed)
    }
    report.needed = report.minimum.needed(of: report.names)
    report.isMinimumReached = report.minimum.isReached(
      report.answered, of: report.names, isListComplete: report.isListComplete)
    return report
  }
}

extension DirectDNSError {
  /// The message in one line, with each server that was asked.
  fileprivate var line: String {
    attempts.isEmpty ? message : message + " Tried " + attempts.map(\.description).joined(separator: "; ") + "."
  }
}
