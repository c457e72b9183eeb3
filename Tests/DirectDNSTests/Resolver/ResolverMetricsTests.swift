import Testing

@testable import DirectDNS

struct ResolverMetricsTests {
  @Test func `nothing is collected while the program has no metrics system, and counting is harmless`() {
    let metrics = ResolverMetrics()
    #expect(!metrics.isCollected)
    for freshness in Resolution.Freshness.allCases { metrics.hit(freshness) }
    metrics.missed()
    metrics.evicted(3)
  }
}
