// SPDX-License-Identifier: Apache-2.0
/// How a ``PrometheusRegistry`` keeps what it collects.
public struct PrometheusConfiguration: Sendable {
  /// The upper ends of the buckets of timers, in seconds; ``defaultTimeBuckets`` by default.
  ///
  /// Their order does not matter; values that are not finite are left out, as are repeated ones, and `+Inf` is added.
  public var timeBuckets: [Double]
  /// The upper ends of the buckets of aggregating recorders, in the recorder's own unit; ``defaultValueBuckets`` by
  /// default, and read like ``timeBuckets``.
  public var valueBuckets: [Double]
  /// The most series that are kept, a histogram counted once; default 2 000.
  ///
  /// Further series are counted (`directdns_metrics_refused_series_total`) and not kept; with 0 or less none is kept.
  public var seriesLimit: Int
  /// The help texts of metrics, by their name in swift-metrics or in Prometheus; DirectDNS's own metrics have theirs.
  ///
  /// Default: empty.
  public var help: [String: String]

  /// Creates a configuration; every part has a default.
  public init(
    timeBuckets: [Double] = Self.defaultTimeBuckets, valueBuckets: [Double] = Self.defaultValueBuckets,
    seriesLimit: Int = 2000, help: [String: String] = [:]
  ) {
    self.timeBuckets = timeBuckets
    self.valueBuckets = valueBuckets
    self.seriesLimit = seriesLimit
    self.help = help
  }

  /// From 1 ms, less than a lookup over a network takes, to 30 s, the longest wait for a response by default.
  ///
  /// In steps of about 2.5, so that a percentile is known to within that factor.
  public static let defaultTimeBuckets = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
  ]

  /// From 1 to a million, three steps a decade: sizes and counts.
  public static let defaultValueBuckets: [Double] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000,
  ]
}
