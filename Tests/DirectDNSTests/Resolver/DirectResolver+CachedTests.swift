// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// What `cached` and an answered lookup give at each time of an answer's life.
@Suite(.timeLimit(.minutes(1)))
struct ResolverCachedTests {
  private static let host = ResolverFixture.host

  // MARK: The life of an answer

  @Test(arguments: [
    (0.0, Resolution.Freshness.fresh, 1), (74.999, .fresh, 1), (75, .due, 2), (99.999, .due, 2),
    (100, .grace, 2), (130, .grace, 2), (130.001, .stale, 2), (86_500, .stale, 2),
  ])
  func `an answer of 100 s is handed out at once with its freshness, and refreshed behind unless it is fresh`(
    _ age: Double, _ freshness: Resolution.Freshness, _ queries: Int
  ) async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn(ttl: 100)
    fixture.clock.advance(by: .seconds(age))
    let found = try #require(fixture.resolver.cached(Self.host))
    #expect(found.freshness == freshness)
    #expect(found.texts == ["192.0.2.1"])
    #expect(found.source == .provider("one"))
    #expect(abs((found.age - .seconds(age)) / .milliseconds(1)) < 1)
    await fixture.settle()
    #expect(fixture.transport.count == queries)
    #expect(fixture.refreshes == queries - 1)
    #expect(fixture.resolver.cached(Self.host)?.freshness == .fresh)
    #expect(fixture.transport.count == queries)
  }

  @Test func `an answer beyond 24 h after its end is gone, and asked for behind`() async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn(ttl: 100)
    fixture.clock.advance(by: .seconds(86_500) + .nanoseconds(1))
    #expect(fixture.resolver.cached(Self.host) == nil)
    await fixture.settle()
    #expect(fixture.resolver.cached(Self.host)?.freshness == .fresh)
    #expect(fixture.transport.count == 2)
  }

  @Test func `a name that nobody asked for is a miss at once, and asked for behind`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Script.addresses("192.0.2.1", after: .seconds(1)))
    #expect(fixture.resolver.cached(Self.host) == nil)
    await fixture.clock.waitForSleepers()
    #expect(fixture.resolver.cached(Self.host) == nil)
    fixture.clock.advance(by: .seconds(1))
    await fixture.settle()
    #expect(fixture.resolver.cached(Self.host)?.texts == ["192.0.2.1"])
    #expect(fixture.transport.count == 1)
  }

  @Test(arguments: [80.0, 110, 200])
  func `the refresh behind happens once, however many ask meanwhile`(_ age: Double) async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn(ttl: 100)
    fixture.transport.answer(Script.addresses("192.0.2.2", after: .seconds(1)))
    fixture.clock.advance(by: .seconds(age))
    for _ in 0..<50 { #expect(fixture.resolver.cached(Self.host)?.texts == ["192.0.2.1"]) }
    await fixture.clock.waitForSleepers()
    #expect(fixture.transport.count == 2)
    fixture.clock.advance(by: .seconds(1))
    await fixture.settle()
    #expect(fixture.resolver.cached(Self.host)?.texts == ["192.0.2.2"])
    #expect(fixture.transport.count == 2)
  }

  @Test func `a stale answer says so`() async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn(ttl: 100)
    fixture.transport.answer { _ in .down }
    fixture.clock.advance(by: .seconds(160))
    let stale = try #require(fixture.resolver.cached(Self.host))
    #expect(stale.freshness == .stale)
    #expect(stale.age == .seconds(160))
    #expect(stale.expiredFor == .seconds(60))
    #expect(stale.timeToLive == .seconds(30))
  }

  @Test func `a caller who refuses expired answers gets none, and one who prefers them any`() async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn(ttl: 100)
    fixture.transport.answer { _ in .down }
    fixture.clock.advance(by: .seconds(110))
    let resolver = fixture.resolver
    #expect(resolver.cached(Self.host, options: LookupOptions(expired: .refused)) == nil)
    #expect(resolver.cached(Self.host)?.freshness == .grace)
    fixture.clock.advance(by: .seconds(86_000))
    #expect(resolver.cached(Self.host, options: LookupOptions(expired: .preferred))?.freshness == .grace)
    #expect(resolver.cached(Self.host)?.freshness == .stale)
    await fixture.settle()
  }

  @Test func `a negative answer gives nothing and asks nobody while it is fresh`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer { _ in .answer(.negative(.nameNotFound, ttl: 60)) }
    _ = await fixture.failure()
    fixture.clock.advance(by: .seconds(59))
    #expect(fixture.resolver.cached(Self.host) == nil)
    await fixture.settle()
    #expect(fixture.transport.count == 1)
    fixture.clock.advance(by: .seconds(1))
    #expect(fixture.resolver.cached(Self.host) == nil)
    await fixture.settle()
    #expect(fixture.transport.count == 2)
  }

  @Test func `an answer of TTL 0 is not there for the next one`() async throws {
    let fixture = try ResolverFixture()
    let answer = try await fixture.learn(ttl: 0)
    #expect(answer.texts == ["192.0.2.1"])
    #expect(answer.timeToLive == .zero)
    #expect(fixture.resolver.cached(Self.host) == nil)
    await fixture.settle()
    #expect(fixture.transport.count == 2)
    fixture.transport.answer { _ in .down }
    fixture.clock.advance(by: .seconds(10))
    #expect(await fixture.failure()?.code == .upstreamFailed)
  }

  @Test func `the addresses come in an order that changes, never others`() async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn("192.0.2.1", "192.0.2.2", "192.0.2.3", ttl: 3600)
    var firsts: Set<String> = []
    for _ in 0..<200 {
      let texts = try #require(fixture.resolver.cached(Self.host)).texts
      #expect(texts.sorted() == ["192.0.2.1", "192.0.2.2", "192.0.2.3"])
      firsts.insert(texts[0])
      fixture.clock.advance(by: .milliseconds(10))
    }
    #expect(firsts.count == 3)
  }

  @Test func `only the families that a caller wants are handed out`() async throws {
    let fixture = try ResolverFixture { $0.families = .any }
    try await fixture.learn("192.0.2.1", "2001:db8::1")
    func cached(_ families: AddressFamilies) -> Set<String>? {
      fixture.resolver.cached(Self.host, options: LookupOptions(families: families)).map { Set($0.texts) }
    }
    await fixture.settle()
    #expect(cached(.ipv4) == ["192.0.2.1"])
    #expect(cached(.ipv6) == ["2001:db8::1"])
    #expect(cached(.any) == ["192.0.2.1", "2001:db8::1"])
    #expect(fixture.transport.count == 2)
  }

  // MARK: Names in all spellings

  @Test(arguments: [
    "www.example.net", "WWW.Example.NET", "www.example.net.", "WWW.EXAMPLE.NET.", "www%2Eexample%2enet",
    "www。example。net", "ｗｗｗ.example.net",
  ])
  func `every spelling of a name finds the one answer`(_ text: String) async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn()
    #expect(fixture.resolver.cached(text)?.texts == ["192.0.2.1"])
    #expect(try await fixture.resolver.resolve(text).texts == ["192.0.2.1"])
    #expect(fixture.transport.count == 1)
  }

  @Test func `an internationalised name is asked for by its A-labels`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Script.addresses("192.0.2.1"))
    #expect(try await fixture.resolver.resolve("Bücher.example").texts == ["192.0.2.1"])
    #expect(fixture.transport.sent.map(\.question.host.text) == ["xn--bcher-kva.example"])
    #expect(fixture.resolver.cached("bücher.EXAMPLE.")?.texts == ["192.0.2.1"])
    #expect(fixture.resolver.cached("xn--BCHER-kva.example")?.texts == ["192.0.2.1"])
    #expect(fixture.transport.count == 1)
  }

  @Test(arguments: ["", ".", "a..example", "a b.example", "a/b", "user@www.example.net", "[::1", "1.2.3.4.5"])
  func `what is no name is refused before any traffic`(_ text: String) async throws {
    let fixture = try ResolverFixture()
    #expect(fixture.resolver.cached(text) == nil)
    let error = await #expect(throws: DirectDNSError.self) { try await fixture.resolver.resolve(text) }
    #expect(error.map { [.invalidName, .invalidURL].contains($0.code) } == true)
    #expect(error?.message.isEmpty == false)
    #expect(fixture.transport.count == 0)
    #expect(fixture.system.count == 0)
  }

  // MARK: Addresses

  @Test(arguments: [
    ("192.0.2.1", "192.0.2.1"), ("192.0.2.1.", "192.0.2.1"), ("0x7f.1", "127.0.0.1"), ("127.1", "127.0.0.1"),
    ("2130706433", "127.0.0.1"), ("0177.0.0.1", "127.0.0.1"), ("%31", "0.0.0.1"), ("１２７.1", "127.0.0.1"),
    ("[2001:DB8::1]", "2001:db8::1"), ("[::ffff:192.0.2.1]", "::ffff:192.0.2.1"),
  ])
  func `an address in any spelling is its own answer`(_ text: String, _ address: String) async throws {
    let fixture = try ResolverFixture { $0.families = .any }
    let resolution = try await fixture.resolver.resolve(text)
    #expect(resolution.addresses == [Sample.address(address)])
    #expect(resolution.source == .literal)
    #expect(resolution.freshness == .fresh)
    #expect(resolution.timeToLive == nil)
    #expect(resolution.expiredFor == nil)
    #expect(fixture.resolver.cached(text) == resolution)
    #expect(fixture.transport.count + fixture.system.count == 0)
  }

  @Test func `an address of a family that is not wanted is none`() async throws {
    let fixture = try ResolverFixture()
    let error = await #expect(throws: DirectDNSError.self) {
      try await fixture.resolver.resolve("[2001:db8::1]")
    }
    #expect(error?.code == .noAddress)
    #expect(error?.message.contains("2001:db8::1") == true)
    #expect(fixture.resolver.cached("[2001:db8::1]") == nil)
  }

  // MARK: Names that stay at home

  @Test(arguments: [
    "localhost", "LOCALHOST.", "a.localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback",
  ])
  func `localhost is this machine, without DNS`(_ text: String) async throws {
    let fixture = try ResolverFixture { $0.families = .any }
    let resolution = try await fixture.resolver.resolve(text)
    #expect(Set(resolution.texts) == ["127.0.0.1", "::1"])
    #expect(resolution.source == .local)
    #expect(fixture.resolver.cached(text) == resolution)
    let ipv4 = try await fixture.resolver.resolve(text, options: LookupOptions(families: .ipv4))
    #expect(ipv4.texts == ["127.0.0.1"])
    #expect(fixture.transport.count + fixture.system.count == 0)
  }

  @Test(arguments: [("a.invalid", DirectDNSError.Code.nameNotFound), ("abc.onion", .refused)])
  func `names that must not be looked up are not`(_ text: String, _ code: DirectDNSError.Code) async throws {
    let fixture = try ResolverFixture()
    let error = await #expect(throws: DirectDNSError.self) { try await fixture.resolver.resolve(text) }
    #expect(error?.code == code)
    #expect(error?.message.contains(text) == true)
    #expect(fixture.resolver.cached(text) == nil)
    await fixture.settle(Sample.name(text))
    #expect(fixture.transport.count + fixture.system.count == 0)
  }

  @Test(arguments: ["printer", "printer.local", "db.internal", "nas.home.arpa", "git.corp.example"])
  func `names of this network go to the system's DNS and never to a provider`(_ text: String) async throws {
    let fixture = try ResolverFixture { $0.localZones.suffixes = [Sample.name("corp.example")] }
    fixture.system.answer(Script.addresses("10.0.0.7", ttl: 40))
    let resolution = try await fixture.resolver.resolve(text)
    #expect(resolution.texts == ["10.0.0.7"])
    #expect(resolution.source == .system)
    #expect(fixture.resolver.cached(text)?.texts == ["10.0.0.7"])
    fixture.clock.advance(by: .seconds(35))
    #expect(fixture.resolver.cached(text)?.freshness == .due)
    await fixture.settle(Sample.name(text))
    #expect(fixture.system.count == 2)
    #expect(fixture.transport.count == 0)
  }

  @Test func `without the system's DNS a name of this network is refused, and the error says what to do`()
    async throws
  {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    let error = await fixture.failure(Sample.name("printer.local"))
    #expect(error?.code == .refused)
    #expect(error?.message.contains("printer.local") == true)
    #expect(error?.message.contains("pin") == true)
    #expect(fixture.resolver.cached("printer.local") == nil)
    #expect(fixture.transport.count + fixture.system.count == 0)
  }

  @Test(arguments: ["www.example.net", "localhost", "a.invalid", "abc.onion", "printer.local"])
  func `a pin wins over everything`(_ text: String) async throws {
    let fixture = try ResolverFixture { configuration in
      configuration.families = .any
      configuration.localZones.pins = [Sample.name(text): Sample.addresses("192.0.2.99")]
    }
    let resolution = try await fixture.resolver.resolve(text)
    #expect(resolution.texts == ["192.0.2.99"])
    #expect(resolution.source == .pin)
    #expect(resolution.timeToLive == nil)
    #expect(fixture.resolver.cached(text + ".") == resolution)
    #expect(fixture.transport.count + fixture.system.count == 0)
  }

  @Test func `pins are tried as they are configured, and one that failed goes last for its time`() async throws {
    let pins = Sample.addresses("192.0.2.1", "192.0.2.2", "192.0.2.3")
    let fixture = try ResolverFixture { $0.localZones.pins = [ResolverFixture.host: pins] }
    func order() async throws -> [IPAddress] { Array(try await fixture.resolver.resolve(Self.host).addresses) }
    for _ in 0..<10 {
      #expect(try await order() == pins)
      fixture.clock.advance(by: .seconds(7))
    }
    fixture.resolver.report(.failed, for: pins[0])
    #expect(try await order() == [pins[1], pins[2], pins[0]])
    #expect(try fixture.resolver.freshOrOwnAnswer(ResolverFixture.host, LookupOptions())?.addresses.first == pins[1])
    fixture.clock.advance(by: .seconds(30))
    #expect(try await order() == pins)
    fixture.resolver.report(.slower(than: .milliseconds(250)), for: pins[0])
    fixture.resolver.report(.connected(in: .milliseconds(1)), for: pins[1])
    #expect(try await order() == [pins[1], pins[2], pins[0]])
  }

  @Test func `a pin without an address of the wanted family is not an address, and nobody is asked instead`()
    async throws
  {
    let fixture = try ResolverFixture {
      $0.localZones.pins = [ResolverFixture.host: Sample.addresses("2001:db8::1")]
    }
    let error = await fixture.failure()
    #expect(error?.code == .noAddress)
    #expect(error?.message.contains("www.example.net") == true)
    #expect(fixture.resolver.cached(Self.host) == nil)
    #expect(fixture.transport.count + fixture.system.count == 0)
  }
}
