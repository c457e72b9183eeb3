// SPDX-License-Identifier: Apache-2.0
public import CoreMetrics
internal import DirectDNS

/// Keeps what swift-metrics collects, and writes it in Prometheus's text format.
///
/// Install it once, before the first resolver is made:
///
///     let registry = PrometheusRegistry()
///     MetricsSystem.bootstrap(registry)
///
/// ``MetricsEndpoint`` serves it. Counting costs an atomic addition; timers and aggregating recorders become histograms,
/// timers in seconds; other recorders and meters become gauges. The number of series is bounded.
public final class PrometheusRegistry: MetricsFactory {
  private enum Kind: String {
    case counter, gauge, histogram
  }

  private struct Family {
    let kind: Kind
    var series: [String: any MetricSeries] = [:]
  }

  private struct State {
    var families: [String: Family] = [:]
    /// The names under which histograms have their samples.
    var derivedNames: Set<String> = []
    var count = 0
  }

  private let configuration: PrometheusConfiguration
  private let state = Locked(State())
  private let refused = CounterSeries(SeriesID(name: refusedName, labels: ""))

  /// The metric that counts how often a series was asked for and refused.
  static let refusedName = "directdns_metrics_refused_series_total"

  /// Creates an empty registry.
  ///
  /// - Parameter configuration: buckets, limits and help texts; every part has a default.
  public init(_ configuration: PrometheusConfiguration = PrometheusConfiguration()) {
    var configuration = configuration
    configuration.timeBuckets = Self.usable(configuration.timeBuckets)
    configuration.valueBuckets = Self.usable(configuration.valueBuckets)
    let help = configuration.help.map { (ExpositionText.metricName($0.key), $0.value) }
    configuration.help = Dictionary(help + MetricDescription.all.map { ($0.name, $0.meaning) }) { own, _ in own }
    self.configuration = configuration
  }

  private static func usable(_ buckets: [Double]) -> [Double] { Set(buckets.filter(\.isFinite)).sorted() }

  /// All that was collected, in Prometheus's text format 0.0.4, in the order of the names.
  public func text() -> String {
    let families = state.withLock { $0.families }
    var text = ExpositionText()
    for (name, family) in families.sorted(by: { $0.key < $1.key }) {
      text.begin(name, type: family.kind.rawValue, help: configuration.help[name])
      for (_, series) in family.series.sorted(by: { $0.key < $1.key }) { series.write(to: &text) }
    }
    text.begin(Self.refusedName, type: Kind.counter.rawValue, help: "Series that were asked for and not made.")
    refused.write(to: &text)
    return text.text
  }

  // MARK: Making

  /// The series of that name and those labels, made at its first use; nil if it may not be.
  private func series<Series: MetricSeries>(
    _ label: String, _ dimensions: [(String, String)], _ kind: Kind, _ make: (SeriesID) -> Series
  ) -> Series? {
    let id = SeriesID(name: ExpositionText.metricName(label), labels: ExpositionText.labels(dimensions))
    let series = state.withLock { state -> Series? in
      if let family = state.families[id.name] {
        // A name has one type: a reader takes no other.
        if let known = family.series[id.labels] { return known as? Series }
        guard family.kind == kind else { return nil }
      } else {
        guard Self.isFree(id.name, kind, in: state) else { return nil }
      }
      guard state.count < configuration.seriesLimit else { return nil }
      if kind == .histogram { state.derivedNames.formUnion(Self.derived(from: id.name)) }
      let series = make(id)
      state.families[id.name, default: Family(kind: kind)].series[id.labels] = series
      state.count += 1
      return series
    }
    if series == nil { refused.increment(by: 1) }
    return series
  }

  private static func isFree(_ name: String, _ kind: Kind, in state: State) -> Bool {
    guard name != refusedName, !state.derivedNames.contains(name) else { return false }
    return kind != .histogram || derived(from: name).allSatisfy { state.families[$0] == nil }
  }

  private static func derived(from name: String) -> [String] { ["_bucket", "_sum", "_count"].map { name + $0 } }

  /// A counter; one of a series that exists is the same.
  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    series(label, dimensions, .counter) { CounterSeries($0) } ?? NOOPMetricsHandler.instance
  }

  /// A gauge.
  public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    series(label, dimensions, .gauge) { GaugeSeries($0) } ?? NOOPMetricsHandler.instance
  }

  /// A histogram, or a gauge if it does not aggregate.
  public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    guard aggregate else { return series(label, dimensions, .gauge) { GaugeSeries($0) } ?? NOOPMetricsHandler.instance }
    return series(label, dimensions, .histogram) { [buckets = configuration.valueBuckets] in
      HistogramSeries($0, bounds: buckets)
    } ?? NOOPMetricsHandler.instance
  }

  /// A histogram of seconds.
  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    series(label, dimensions, .histogram) { [buckets = configuration.timeBuckets] in
      HistogramSeries($0, bounds: buckets)
    } ?? NOOPMetricsHandler.instance
  }

  // MARK: Destroying

  private func destroy(_ handler: AnyObject) {
    guard let series = handler as? any MetricSeries else { return }
    state.withLock { state in
      guard state.families[series.id.name]?.series[series.id.labels] === series else { return }
      state.families[series.id.name]?.series[series.id.labels] = nil
      state.count -= 1
      // A name that nobody has may be had by another type.
      guard let family = state.families[series.id.name], family.series.isEmpty else { return }
      state.families[series.id.name] = nil
      if family.kind == .histogram { state.derivedNames.subtract(Self.derived(from: series.id.name)) }
    }
  }

  /// Drops a counter.
  public func destroyCounter(_ handler: any CounterHandler) { destroy(handler) }
  /// Drops a gauge.
  public func destroyMeter(_ handler: any MeterHandler) { destroy(handler) }
  /// Drops a histogram or a gauge.
  public func destroyRecorder(_ handler: any RecorderHandler) { destroy(handler) }
  /// Drops a histogram.
  public func destroyTimer(_ handler: any TimerHandler) { destroy(handler) }
}
