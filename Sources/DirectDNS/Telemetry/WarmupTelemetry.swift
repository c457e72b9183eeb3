// SPDX-License-Identifier: Apache-2.0
internal import CoreMetrics

/// The metrics of warm-ups.
struct WarmupTelemetry: Sendable {
  /// One for each outcome; created early, so that each series exists before the first name is done.
  private let names: [String: Counter]
  private let expired: Counter
  private let duration: Timer
  private let ready: Meter

  init(outcomes: [String], _ source: MetricSource = MetricSource()) {
    names = Dictionary(uniqueKeysWithValues: outcomes.map { ($0, source.counter(.warmedNames, $0)) })
    expired = source.counter(.expiredWarmups)
    duration = source.timer(.warmupTime)
    ready = source.meter(.warmupReadiness)
  }

  /// So many names have that outcome.
  func count(_ outcome: String, by number: Int = 1) { names[outcome]?.increment(by: number) }

  /// An expired answer serves for a name.
  func countExpired() { expired.increment() }

  /// It has ended: 1 is ready and complete, 0.5 ready and not complete, 0 not ready.
  func ended(milliseconds: Double, isReady: Bool, isComplete: Bool) {
    duration.recordMilliseconds(milliseconds)
    ready.set(!isReady ? 0 : isComplete ? 1 : 0.5)
  }
}
