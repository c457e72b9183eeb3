internal import CoreMetrics

/// Counters of what the cache did.
///
/// Nothing is counted while nobody collects: a cached lookup takes some 60 ns.
struct ResolverMetrics: Sendable {
  let isCollected: Bool
  private let hits: [Counter]
  private let misses: Counter
  private let evictions: Counter

  init() {
    isCollected = !(MetricsSystem.factory is NOOPMetricsHandler)
    hits = Resolution.Freshness.allCases.map {
      Counter(label: "directdns_cache_lookups", dimensions: [("freshness", $0.rawValue)])
    }
    misses = Counter(label: "directdns_cache_lookups", dimensions: [("freshness", "miss")])
    evictions = Counter(label: "directdns_cache_evictions")
  }

  func hit(_ freshness: Resolution.Freshness) {
    guard let index = Resolution.Freshness.allCases.firstIndex(of: freshness) else { return }
    hits[index].increment()
  }

  func missed() { misses.increment() }

  func evicted(_ count: Int) { evictions.increment(by: count) }
}
