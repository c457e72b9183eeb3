// SPDX-License-Identifier: Apache-2.0
internal import CoreMetrics

/// Counters of what warm-ups did.
struct WarmupTelemetry: Sendable {
  private let names: [String: Counter]
  private let expired: Counter
  private let duration: Timer
  private let ready: Gauge

  /// Counters of a factory.
  ///
  /// - Parameters:
  ///   - outcomes: how a name can end.
  ///   - factory: what makes the counters.
  init(outcomes: [String], factory: any MetricsFactory) {
    names = Dictionary(
      uniqueKeysWithValues: outcomes.map {
        ($0, Counter(label: MetricDescription.warmedNames.name, dimensions: [("outcome", $0)], factory: factory))
      })
    expired = Counter(label: MetricDescription.expiredWarmups.name, dimensions: [], factory: factory)
    duration = Timer(label: MetricDescription.warmupTime.name, dimensions: [], factory: factory)
    ready = Gauge(label: MetricDescription.warmupReadiness.name, dimensions: [], factory: factory)
  }

  /// Names are done.
  func note(_ outcome: String, count: Int = 1, isExpired: Bool = false) {
    names[outcome]?.increment(by: count)
    if isExpired { expired.increment() }
  }

  /// It has ended: 1 is ready, 0.5 ready and degraded, 0 not ready.
  func ended(after milliseconds: Double, readiness: Double) {
    duration.recordMilliseconds(milliseconds)
    ready.record(readiness)
  }
}
