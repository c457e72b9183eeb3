import Testing

@testable import DirectDNS

struct ResolverMetricsTests {
  @Test func `nothing is counted on the hot path while nobody collects`() {
    #expect(!ResolverMetrics().isCollected)
  }
}
