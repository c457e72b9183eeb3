// SPDX-License-Identifier: Apache-2.0
internal import CoreMetrics

/// A metric of this library: its name, its labels and what it means.
///
/// Names follow Prometheus: counters end in `_total`, times in `_seconds`. No label ever holds the name of a host that
/// was looked up, so that the number of series depends only on the configuration.
public struct MetricDescription: Sendable, Hashable {
  /// What a metric does with values.
  public enum Kind: String, Sendable, Hashable {
    /// Counts up.
    case counter
    /// Goes up and down.
    case gauge
    /// Collects durations.
    case timer
  }

  /// The name, such as `directdns_lookups_total`.
  public let name: String
  /// What it does with values.
  public let kind: Kind
  /// The names of its labels, in their order.
  public let labels: [String]
  /// What it means, in one line.
  public let meaning: String

  package init(_ name: String, _ kind: Kind, _ labels: [String] = [], _ meaning: String) {
    self.name = name
    self.kind = kind
    self.labels = labels
    self.meaning = meaning
  }

  /// All metrics of the library, in the order of the table in <doc:Operating>.
  public static let all: [Self] = [
    lookups, lookupTime, cachedNames, refreshes, evictions,
    queries, queryTime, openBreakers, hedges, rateLimitWaits,
    storeReads, storeFailures, storeDrops, leases,
    requests, requestTime, connections, failedConnections, retries, policyRefusals,
    warmedNames, expiredWarmups, warmupTime, warmupReadiness,
    configurationReads,
  ]

  static let lookups = Self(
    "directdns_lookups_total", .counter, ["freshness", "outcome"],
    "Lookups, by what the caller got of the cache and by outcome.")
  static let lookupTime = Self(
    "directdns_lookup_duration_seconds", .timer, ["outcome"], "How long lookups took that had to wait.")
  static let cachedNames = Self("directdns_cache_names", .gauge, "Names in the cache.")
  static let refreshes = Self(
    "directdns_cache_refreshes_total", .counter, ["kind"], "Refreshes of cached names that began, by what began them.")
  static let evictions = Self("directdns_cache_evictions_total", .counter, "Names that had to leave the full cache.")

  static let queries = Self(
    "directdns_upstream_queries_total", .counter, ["provider", "outcome"], "Queries that ended, by outcome.")
  static let queryTime = Self(
    "directdns_upstream_latency_seconds", .timer, ["provider"], "How long queries took, failed ones too.")
  static let openBreakers = Self(
    "directdns_upstream_breaker_open", .gauge, ["provider"],
    "1 while others are asked first, because the provider failed or was silent again and again; else 0.")
  static let hedges = Self(
    "directdns_upstream_hedges_total", .counter, ["provider"], "Queries sent because another one took long.")
  static let rateLimitWaits = Self(
    "directdns_upstream_rate_limit_waits_total", .counter,
    "Lookups that waited because every provider's request rate was used up.")

  static let storeReads = Self(
    "directdns_store_reads_total", .counter, ["store", "outcome"], "Looks into the store, by what was found.")
  static let storeFailures = Self("directdns_store_failures_total", .counter, ["store"], "Times that the store failed.")
  static let storeDrops = Self(
    "directdns_store_dropped_total", .counter, ["store"], "Answers that were not written, because too many waited.")
  static let leases = Self(
    "directdns_store_leases_total", .counter, ["store", "outcome"],
    "Turns of a fleet's member that found no answer in the store, by whose turn it was to ask.")

  static let requests = Self(
    "directdns_requests_total", .counter, ["method", "outcome"], "Requests of the client, each redirect's too.")
  static let requestTime = Self(
    "directdns_request_duration_seconds", .timer, ["method", "outcome"],
    "How long requests took up to the response's head.")
  static let connections = Self(
    "directdns_connections_total", .counter, ["use"],
    "Connections that requests went over, by whether they were opened for it or reused.")
  static let failedConnections = Self(
    "directdns_connection_failures_total", .counter, ["reason"], "Addresses that could not be connected to.")
  static let retries = Self(
    "directdns_request_retries_total", .counter, ["reason"], "Requests that were sent once more.")
  static let policyRefusals = Self(
    "directdns_policy_refusals_total", .counter, ["reason"], "Requests that a policy refused.")

  static let warmedNames = Self(
    "directdns_warmup_names_total", .counter, ["outcome"], "Names of warm-ups, by what came of them.")
  static let expiredWarmups = Self(
    "directdns_warmup_expired_total", .counter, "Names of warm-ups for which an expired answer serves.")
  static let warmupTime = Self("directdns_warmup_duration_seconds", .timer, "How long warm-ups took.")
  static let warmupReadiness = Self(
    "directdns_warmup_ready", .gauge,
    "1 after a complete warm-up, 0.5 after one that is good enough, 0 after all others.")

  package static let configurationReads = Self(
    "directdns_configuration_reads_total", .counter, ["outcome"], "Times that a live configuration's file was read.")

  private init(_ name: String, _ kind: Kind, _ meaning: String) { self.init(name, kind, [], meaning) }
}

/// Creates metrics from their descriptions; they do nothing unless somebody collects.
package struct MetricSource: Sendable {
  private let factory: (any MetricsFactory)?
  /// Whether anybody collects.
  package let isCollected: Bool

  /// Uses the metrics system that was set up before, if there is one.
  package init() {
    let factory = MetricsSystem.factory
    self.init(factory is NOOPMetricsHandler ? nil : factory)
  }

  init(_ factory: (any MetricsFactory)?) {
    self.factory = factory
    isCollected = factory != nil
  }

  func counter(_ metric: MetricDescription, _ values: String...) -> Counter {
    Counter(label: metric.name, dimensions: metric.dimensions(values), factory: factory ?? NOOPMetricsHandler.instance)
  }

  func meter(_ metric: MetricDescription, _ values: String...) -> Meter {
    Meter(label: metric.name, dimensions: metric.dimensions(values), factory: factory ?? NOOPMetricsHandler.instance)
  }

  func timer(_ metric: MetricDescription, _ values: String...) -> Timer {
    Timer(label: metric.name, dimensions: metric.dimensions(values), factory: factory ?? NOOPMetricsHandler.instance)
  }

  /// Counts in a series that is not kept here: it costs a lookup in the backend's table.
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

  /// Ends the series of a gauge, which would keep its last value.
  func remove(_ metric: MetricDescription, _ values: String...) {
    guard let factory else { return }
    factory.destroyMeter(factory.makeMeter(label: metric.name, dimensions: metric.dimensions(values)))
  }
}

extension MetricDescription {
  fileprivate func dimensions(_ values: [String]) -> [(String, String)] { Array(zip(labels, values)) }
}
