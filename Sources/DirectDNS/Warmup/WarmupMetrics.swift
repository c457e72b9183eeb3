internal import CoreMetrics

/// Counters of what warm-ups did.
struct WarmupMetrics: Sendable {
  private let names: [WarmupOutcome.Kind: Counter]
  private let expired: Counter
  private let duration: Timer
  private let ready: Gauge

  /// Counters of a factory; by default the process's own, which has to be set up before.
  init(factory: any MetricsFactory = MetricsSystem.factory) {
    names = Dictionary(
      uniqueKeysWithValues: WarmupOutcome.Kind.allCases.map {
        (
          $0,
          Counter(label: MetricDescription.warmedNames.name, dimensions: [("outcome", $0.rawValue)], factory: factory)
        )
      })
    expired = Counter(label: MetricDescription.expiredWarmups.name, dimensions: [], factory: factory)
    duration = Timer(label: MetricDescription.warmupTime.name, dimensions: [], factory: factory)
    ready = Gauge(label: MetricDescription.warmupReadiness.name, dimensions: [], factory: factory)
  }

  /// A name is done.
  func note(_ outcome: WarmupOutcome) {
    names[outcome.kind]?.increment()
    if outcome.isExpired { expired.increment() }
  }

  /// It has ended: 1 is ready, 0.5 ready and degraded, 0 not ready.
  func ended(_ report: WarmupReport, isReady: Bool) {
    names[.unfinished]?.increment(by: report.unfinished)
    duration.recordMilliseconds(report.durationMs)
    ready.record(!isReady ? 0 : report.standing == .complete ? 1 : 0.5)
  }
}
