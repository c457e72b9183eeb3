import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct CacheSnapshotTests {
  @Test func `an empty cache has an empty snapshot`() throws {
    let laboratory = try Laboratory()
    #expect(laboratory.resolver.snapshot().isEmpty)
    #expect(laboratory.resolver.cacheStatistics.names == 0)
  }

  @Test func `a snapshot shows every answer by name and family, IPv4 first`() async throws {
    let laboratory = try Laboratory { $0.families = .any }
    for name in ["b.example", "a.example"] {
      try await laboratory.learn("192.0.2.1", "2001:db8::1", host: Sample.name(name))
      await laboratory.settle(Sample.name(name))
    }
    let snapshot = laboratory.resolver.snapshot()
    #expect(snapshot.map(\.host.text) == ["a.example", "a.example", "b.example", "b.example"])
    #expect(snapshot.map(\.family) == [.ipv4, .ipv6, .ipv4, .ipv6])
    #expect(snapshot[0].content == .addresses(Sample.addresses("192.0.2.1")))
    #expect(snapshot[1].content == .addresses(Sample.addresses("2001:db8::1")))
    #expect(laboratory.resolver.cacheStatistics.names == 2)
    #expect(laboratory.resolver.cacheStatistics.bytes > 0)
  }

  @Test(arguments: [
    (10.0, Resolution.Freshness.fresh), (80, .due), (110, .grace), (1000, .stale), (90_000, .stale),
  ])
  func `an answer's age, time left and freshness are shown, and looking refreshes nothing`(
    _ age: Double, _ freshness: Resolution.Freshness
  ) async throws {
    let laboratory = try Laboratory()
    laboratory.transport.answer { _ in .answer(.addresses("192.0.2.1", ttl: 100, alias: "edge.example.net")) }
    _ = await laboratory.outcome()
    laboratory.clock.advance(by: .seconds(age))
    let shown = try #require(laboratory.resolver.snapshot().first)
    #expect(shown.host == Laboratory.host)
    #expect(shown.canonicalName == Sample.name("edge.example.net"))
    #expect(shown.freshness == freshness)
    #expect(shown.source == .provider("one"))
    #expect(shown.age == .seconds(age))
    #expect(shown.timeLeft == .seconds(100 - age))
    #expect(!shown.isKeptAlive)
    await laboratory.settle()
    #expect(laboratory.transport.count == 1)
  }

  @Test func `negative answers and the system's are shown as such`() async throws {
    let laboratory = try Laboratory()
    laboratory.transport.answer { _ in .answer(.negative(.nameNotFound, ttl: 60)) }
    _ = await laboratory.failure(Sample.name("a.example"))
    laboratory.transport.answer { _ in .down }
    laboratory.system.answer { _ in .answer(.addresses("192.0.2.9")) }
    _ = await laboratory.outcome(Sample.name("b.example"))
    let snapshot = laboratory.resolver.snapshot()
    #expect(snapshot.map(\.content) == [.negative(.nameNotFound), .addresses(Sample.addresses("192.0.2.9"))])
    #expect(snapshot.map(\.source) == [.provider("one"), .system])
  }

  @Test func `kept-alive names are marked`() async throws {
    let laboratory = try Laboratory()
    try await laboratory.learn()
    laboratory.resolver.keepAlive([Laboratory.host])
    #expect(laboratory.resolver.snapshot().map(\.isKeptAlive) == [true])
    laboratory.resolver.keepAlive([])
    #expect(laboratory.resolver.snapshot().map(\.isKeptAlive) == [false])
  }

  @Test func `an address leads back to the names whose answers have it, expired and pinned ones too`() async throws {
    let laboratory = try Laboratory { $0.localZones.pins = [Sample.name("pin.example"): Sample.addresses("192.0.2.1")] }
    try await laboratory.learn("192.0.2.1", host: Sample.name("b.example"))
    try await laboratory.learn("192.0.2.1", host: Sample.name("a.example"))
    try await laboratory.learn("192.0.2.2", host: Sample.name("c.example"))
    laboratory.clock.advance(by: .seconds(1000))
    func names(_ address: String) -> [String] {
      Sample.addresses(address).flatMap { laboratory.resolver.names(of: $0) }.map(\.text)
    }
    #expect(names("192.0.2.1") == ["a.example", "b.example", "pin.example"])
    #expect(names("192.0.2.2") == ["c.example"])
    #expect(names("192.0.2.3") == [])
    #expect(names("2001:db8::1") == [])
  }
}
