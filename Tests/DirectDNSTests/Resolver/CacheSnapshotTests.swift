// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct CacheSnapshotTests {
  @Test func `an empty cache has an empty snapshot`() throws {
    let fixture = try ResolverFixture()
    #expect(fixture.resolver.snapshot().isEmpty)
    #expect(fixture.resolver.cacheStatistics.names == 0)
  }

  @Test func `a snapshot shows every answer by name and family, IPv4 first`() async throws {
    let fixture = try ResolverFixture { $0.families = .any }
    for name in ["b.example", "a.example"] {
      try await fixture.learn("192.0.2.1", "2001:db8::1", host: Sample.name(name))
      await fixture.settle(Sample.name(name))
    }
    let snapshot = fixture.resolver.snapshot()
    #expect(snapshot.map(\.host.text) == ["a.example", "a.example", "b.example", "b.example"])
    #expect(snapshot.map(\.family) == [.ipv4, .ipv6, .ipv4, .ipv6])
    #expect(snapshot[0].content == .addresses(Sample.addresses("192.0.2.1")))
    #expect(snapshot[1].content == .addresses(Sample.addresses("2001:db8::1")))
    #expect(fixture.resolver.cacheStatistics.names == 2)
    #expect(fixture.resolver.cacheStatistics.bytes > 0)
  }

  @Test(arguments: [
    (10.0, Resolution.Freshness.fresh), (80, .due), (110, .grace), (1000, .stale), (90_000, .stale),
  ])
  func `an answer's age, time left and freshness are shown, and looking refreshes nothing`(
    _ age: Double, _ freshness: Resolution.Freshness
  ) async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer { _ in .answer(.addresses("192.0.2.1", ttl: 100, alias: "edge.example.net")) }
    _ = await fixture.outcome()
    fixture.clock.advance(by: .seconds(age))
    let shown = try #require(fixture.resolver.snapshot().first)
    #expect(shown.host == ResolverFixture.host)
    #expect(shown.canonicalName == Sample.name("edge.example.net"))
    #expect(shown.freshness == freshness)
    #expect(shown.source == .provider("one"))
    #expect(shown.age == .seconds(age))
    #expect(shown.timeLeft == .seconds(100 - age))
    #expect(!shown.isKeptAlive)
    await fixture.settle()
    #expect(fixture.transport.count == 1)
  }

  @Test func `negative answers and the system's are shown as such`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer { _ in .answer(.negative(.nameNotFound, ttl: 60)) }
    _ = await fixture.failure(Sample.name("a.example"))
    fixture.transport.answer { _ in .down }
    fixture.system.answer { _ in .answer(.addresses("192.0.2.9")) }
    _ = await fixture.outcome(Sample.name("b.example"))
    let snapshot = fixture.resolver.snapshot()
    #expect(snapshot.map(\.content) == [.negative(.nameNotFound), .addresses(Sample.addresses("192.0.2.9"))])
    #expect(snapshot.map(\.source) == [.provider("one"), .system])
  }

  @Test func `kept-alive names are marked`() async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn()
    fixture.resolver.keepAlive([ResolverFixture.host])
    #expect(fixture.resolver.snapshot().map(\.isKeptAlive) == [true])
    fixture.resolver.keepAlive([])
    #expect(fixture.resolver.snapshot().map(\.isKeptAlive) == [false])
  }

  @Test func `an address leads back to the names whose answers have it, expired and pinned ones too`() async throws {
    let fixture = try ResolverFixture {
      $0.localZones.pins = [Sample.name("pin.example"): Sample.addresses("192.0.2.1")]
    }
    try await fixture.learn("192.0.2.1", host: Sample.name("b.example"))
    try await fixture.learn("192.0.2.1", host: Sample.name("a.example"))
    try await fixture.learn("192.0.2.2", host: Sample.name("c.example"))
    fixture.clock.advance(by: .seconds(1000))
    func names(_ address: String) -> [String] {
      Sample.addresses(address).flatMap { fixture.resolver.names(of: $0) }.map(\.text)
    }
    #expect(names("192.0.2.1") == ["a.example", "b.example", "pin.example"])
    #expect(names("192.0.2.2") == ["c.example"])
    #expect(names("192.0.2.3") == [])
    #expect(names("2001:db8::1") == [])
  }
}
