// SPDX-License-Identifier: Apache-2.0
internal import CoreMetrics

/// Makes the metrics that are described, while somebody collects.
package struct MetricSource: Sendable {
  private let factory: (any MetricsFactory)?

  /// The metrics system that was set up before, or none.
  package init() {
    let factory = MetricsSystem.factory
    self.init(factory is NOOPMetricsHandler ? nil : factory)
  }

  init(_ factory: (any MetricsFactory)?) { self.factory = factory }

  /// Whether anybody collects.
  package var isCollected: Bool { factory != nil }

  func counter(_ metric: MetricDescription, _ values: String...) -> Counter {
    Counter(label: metric.name, dimensions: metric.dimensions(values), factory: factory ?? NOOPMetricsHandler.instance)
  }

  func meter(_ metric: MetricDescription, _ values: String...) -> Meter {
    Meter(label: metric.name, dimensions: metric.dimensions(values), factory: factory ?? NOOPMetricsHandler.instance)
  }

  /// Counts in a series that need not be kept at hand: it costs a look into the backend's table.
  package func count(_ metric: MetricDescription, _ values: String..., by amount: Int = 1) {
    guard let factory else { return }
    factory.makeCounter(label: metric.name, dimensions: metric.dimensions(values)).increment(by: Int64(amount))
  }

  package func record(_ metric: MetricDescription, _ values: String..., duration: Duration) {
    guard let factory else { return }
    factory.makeTimer(label: metric.name, dimensions: metric.dimensions(values))
      .recordNanoseconds(duration.wholeNanoseconds)
  }

  package func set(_ metric: MetricDescription, _ values: String..., to value: Int) {
    guard let factory else { return }
    factory.makeMeter(label: metric.name, dimensions: metric.dimensions(values)).set(Int64(value))
  }
}

extension MetricDescription {
  fileprivate func dimensions(_ values: [String]) -> [(String, String)] { Array(zip(labels, values)) }
}
