// SPDX-License-Identifier: Apache-2.0
import CoreMetrics
import Testing
import Tracing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct ResolverTelemetryTests {
  private let metrics = RecordingMetrics()

  @Test func `nothing is collected while the program has no metrics system, and counting is harmless`() {
    let metrics = ResolverTelemetry()
    #expect(!metrics.isCollected)
    for freshness in Resolution.Freshness.allCases { metrics.hit(freshness) }
    metrics.missed()
    metrics.evicted(3)
  }

  @Test func `a lookup is counted once, by what the cache had and by what came of it`() async throws {
    let fixture = try withMetricsFactory(metrics) { try ResolverFixture() }
    #expect(fixture.resolver.cached(Sample.name("other.example")) == nil)
    await fixture.settle(Sample.name("other.example"))
    try await fixture.learn(ttl: 100)
    for _ in 0..<3 { _ = try await fixture.resolver.resolve(ResolverFixture.host) }
    fixture.clock.advance(by: .seconds(80))
    _ = try await fixture.resolver.resolve(ResolverFixture.host)
    await fixture.settle()
    let counts = metrics.counts
    #expect(counts["directdns_lookups_total freshness=none outcome=missed"] == 1)
    #expect(counts["directdns_lookups_total freshness=none outcome=answered"] == 1)
    #expect(counts["directdns_lookups_total freshness=fresh outcome=answered"] == 3)
    #expect(counts["directdns_lookups_total freshness=due outcome=answered"] == 1)
    #expect(counts["directdns_lookup_duration_seconds outcome=answered"] == 1, "those that waited")
    #expect(counts["directdns_cache_refreshes_total kind=behind"] == 2)
  }

  @Test func `a stale answer that serves after a wait is counted as stale`() async throws {
    let fixture = try withMetricsFactory(metrics) { try ResolverFixture() }
    try await fixture.learn(ttl: 100)
    fixture.clock.advance(by: .seconds(200))
    fixture.transport.answer { _ in .error(.connect("refused")) }
    let found = try await fixture.outcome().get()
    #expect(found.freshness == .stale)
    #expect(metrics.counts["directdns_lookups_total freshness=stale outcome=answered"] == 1)
    #expect(metrics.counts["directdns_lookup_duration_seconds outcome=answered"] == 2)
  }

  @Test func `errors are counted by their code, known negative answers as fresh`() async throws {
    let fixture = try withMetricsFactory(metrics) { try ResolverFixture() }
    fixture.transport.answer { _ in .answer(.negative(.nameNotFound, ttl: 30)) }
    for _ in 0..<2 { _ = await fixture.failure() }
    _ = fixture.resolver.cached(ResolverFixture.host)
    #expect(metrics.counts["directdns_lookups_total freshness=none outcome=nameNotFound"] == 1)
    #expect(metrics.counts["directdns_lookups_total freshness=fresh outcome=nameNotFound"] == 2)
  }

  @Test func `what an alert looks at has a series before it happens`() async throws {
    let store = ScriptedStore(clock: ManualClock())
    try withMetricsFactory(metrics) {
      let fixture = try ResolverFixture { $0.store = store }
      _ = try DirectClient(DirectClientConfiguration(), resolver: fixture.resolver)
    }
    for series in [
      "lookups_total freshness=none outcome=upstreamFailed", "lookups_total freshness=none outcome=timedOut",
      "lookups_total freshness=stale outcome=answered", "upstream_breaker_open provider=one",
      "upstream_rate_limit_waits_total", "policy_refusals_total reason=addressForbidden",
      "store_failures_total store=scripted", "store_dropped_total store=scripted",
    ] { #expect(metrics.counts["directdns_\(series)"] == 0, "\(series)") }
  }

  @Test func `a provider that was removed has no breaker, neither open nor closed`() async throws {
    let fixture = try withMetricsFactory(metrics) { try ResolverFixture("one", "two") }
    func breakers() -> Set<String> {
      Set(
        metrics.counts.keys.filter { $0.contains("breaker_open") }.compactMap {
          $0.split(separator: "=").last.map(String.init)
        })
    }
    try await fixture.learn()
    #expect(breakers() == ["one", "two"])
    var configuration = fixture.resolver.configuration
    configuration.providers = ResolverFixture.configuration(["three", "two"]).providers
    try fixture.resolver.update(configuration)
    #expect(breakers() == ["two", "three"])
  }

  @Test func `a look for what is there at once is counted once, with the lookup that follows`() async throws {
    let fixture = try withMetricsFactory(metrics) { try ResolverFixture() }
    let host = ResolverFixture.host
    func lookups() -> [String: Double] {
      metrics.counts.filter { $0.key.hasPrefix("directdns_lookups_total") && $0.value > 0 }
    }
    #expect(fixture.resolver.answerAtOnce(host, LookupOptions()) == nil)
    #expect(lookups().isEmpty && fixture.transport.count == 0)
    try await fixture.learn(ttl: 100)
    #expect(lookups() == ["directdns_lookups_total freshness=none outcome=answered": 1])
    #expect(fixture.resolver.answerAtOnce(host, LookupOptions()) != nil)
    #expect(lookups()["directdns_lookups_total freshness=fresh outcome=answered"] == 1)
    // Stale: a lookup waits for the refresh first.
    fixture.clock.advance(by: .seconds(1000))
    #expect(fixture.resolver.answerAtOnce(host, LookupOptions()) == nil)
    #expect(lookups().values.reduce(0, +) == 2 && fixture.transport.count == 1)
  }

  @Test func `the number of cached names is that of all resolvers`() async throws {
    let (first, second) = try withMetricsFactory(metrics) { (try ResolverFixture(), try ResolverFixture()) }
    try await first.learn(host: Sample.name("a.example"))
    try await first.learn(host: Sample.name("b.example"))
    try await second.learn(host: Sample.name("a.example"))
    #expect(metrics.counts["directdns_cache_names"] == 3)
    first.resolver.invalidate(Sample.name("a.example"))
    #expect(metrics.counts["directdns_cache_names"] == 2)
    do {
      let third = try withMetricsFactory(metrics) { try DirectResolver(ResolverConfiguration(providers: [])) }
      third.metrics.holds(7)
      #expect(metrics.counts["directdns_cache_names"] == 9)
    }
    #expect(metrics.counts["directdns_cache_names"] == 2, "a resolver that has gone holds none")
  }
}
