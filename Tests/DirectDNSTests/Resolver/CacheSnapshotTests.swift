import DirectDNSTesting
import Testing

@testable import DirectDNS

struct CacheSnapshotTests {
  @Test func `a snapshot tells what is known of each name, and the statistics how much that is`() async throws {
    let laboratory = try Laboratory()
    laboratory.transport.answer { _ in .answer(.addresses("192.0.2.1", ttl: 60, alias: "edge.example.net")) }
    _ = try await laboratory.resolver.resolve(Laboratory.host)
    laboratory.clock.advance(by: .seconds(50))
    let row = try #require(laboratory.resolver.snapshot().first)
    #expect(laboratory.resolver.snapshot().count == 1)
    #expect(row.host == Laboratory.host)
    #expect(row.family == .ipv4)
    #expect(row.content == .addresses(Sample.addresses("192.0.2.1")))
    #expect(row.canonicalName == Sample.name("edge.example.net"))
    #expect(row.freshness == .due)
    #expect(row.source == .provider("one"))
    #expect(row.age == .seconds(50))
    #expect(row.timeLeft == .seconds(10))
    #expect(!row.isKeptAlive)
    #expect(laboratory.resolver.cacheStatistics.names == 1)
    #expect(laboratory.resolver.cacheStatistics.bytes > 0)
    laboratory.resolver.invalidate(Laboratory.host)
    #expect(laboratory.resolver.snapshot().isEmpty)
  }
}
