import DirectDNS
import DirectDNSTesting
import Testing

/// How a pipeline that resolves names is tested without a network: a provider that obeys, and a clock moved by hand.
@Suite("A pipeline, tested offline")
struct PipelineTests {
  @Test func `an expired answer serves when the provider has died`() async throws {
    let records = RecordTable { $0.add("www.example.test", "192.0.2.1", ttl: 60) }
    let provider = try await FakeProvider.start(records: records)
    let clock = ManualClock()
    let url = "json+\(provider.url("/resolve"))"
    let resolver = try Resolver(ResolverConfiguration(providers: [try ProviderConfiguration(url)]), clock: clock)

    let first = try await resolver.resolve("www.example.test")
    #expect(first.freshness == .fresh)
    #expect(provider.requests.map(\.name) == ["www.example.test", "www.example.test"])  // A and AAAA

    provider.misbehave(.status(503))
    clock.advance(by: .seconds(600))
    let second = try await resolver.resolve("www.example.test")
    #expect(second.freshness == .stale)
    #expect(second.addresses == first.addresses)
    #expect(second.expiredFor == .seconds(540))

    resolver.shutDown()
    await provider.stop()
  }
}
