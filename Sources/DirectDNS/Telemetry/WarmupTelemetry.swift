// SPDX-License-Identifier: Apache-2.0
internal import CoreMetrics

/// Counts what warm-ups did.
struct WarmupTelemetry: Sendable {
  private let names: [String: Counter]
  private let expired: Counter
  private let duration: Timer
  private let ready: Meter

  /// Has every series at hand, so that each is there before the first name is done.
  ///
  /// - Parameters:
  ///   - source: what makes the metrics.
  ///   - outcomes: how a name can end.
  init(_ source: MetricSource, outcomes: [String]) {
    names = Dictionary(uniqueKeysWithValues: outcomes.map { ($0, source.counter(.warmedNames, $0)) })
    expired = source.counter(.expiredWarmups)
    duration = source.timer(.warmupTime)
    ready = source.meter(.warmupReadiness)
  }

  /// Names are done.
  func note(_ outcome: String, count: Int = 1, isExpired: Bool = false) {
    names[outcome]?.increment(by: count)
    if isExpired { expired.increment() }
  }

  /// It has ended: 1 is ready, 0.5 ready and degraded, 0 not ready.
  func ended(after milliseconds: Double, readiness: Double) {
    duration.recordMilliseconds(milliseconds)
    ready.set(readiness)
  }
}
