// SPDX-License-Identifier: Apache-2.0
import Logging
import ServiceLifecycle
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct ResolverStoreTests {
  let clock = ManualClock()
  let store: ScriptedStore
  static let host = ResolverFixture.host
  static let question = AddressQuestion(host, .ipv4)

  init() { store = ScriptedStore(clock: clock) }

  /// A resolver with the store; others of the fleet are made alike.
  func member(_ configure: (inout ResolverConfiguration) -> Void = { _ in }) throws -> ResolverFixture {
    try ResolverFixture(clock: clock) { [store] configuration in
      configuration.store = store
      configure(&configuration)
    }
  }

  /// Puts an answer into the store, as another process would have.
  func remember(
    _ addresses: String..., askedAgo: Duration = .zero, ttl: Duration = .seconds(100), host: HostName = Self.host,
    negative: Answer.Negative? = nil
  ) {
    for family in IPAddress.Family.allCases {
      let own = addresses.map(Sample.address).filter { $0.family == family }
      guard !own.isEmpty || negative != nil else { continue }
      let asked = clock.wallNow - askedAgo
      store.memory.write([
        StoredAnswer(
          AddressQuestion(host, family), negative.map { .negative($0) } ?? .addresses(own), provider: "other",
          asked: asked, expires: asked + ttl, gone: asked + ttl + .seconds(86_400))
      ])
    }
  }

  var remembered: StoredAnswer? { store.memory.read([Self.question]).first }

  // MARK: Reading through

  @Test func `a name that the store knows is not asked for`() async throws {
    remember("192.0.2.7", askedAgo: .seconds(20))
    let fixture = try member()
    let resolution = try await fixture.resolver.resolve(Self.host)
    #expect(resolution.texts == ["192.0.2.7"])
    #expect(resolution.source == .store)
    #expect(resolution.freshness == .fresh)
    #expect(resolution.age == .seconds(20))
    #expect(resolution.timeToLive == .seconds(80))
    #expect(fixture.transport.asked.isEmpty)
  }

  @Test func `the store is not looked at for what the cache has`() async throws {
    let fixture = try member()
    try await fixture.learn()
    let reads = store.reads
    for _ in 0..<10 {
      _ = try await fixture.resolver.resolve(Self.host)
      #expect(fixture.resolver.cached(Self.host) != nil)
    }
    #expect(store.reads == reads)
  }

  @Test func `a lookup that does not wait has the store looked at behind it`() async throws {
    remember("192.0.2.7")
    let fixture = try member()
    #expect(fixture.resolver.cached(Self.host) == nil)
    await fixture.settle()
    #expect(fixture.resolver.cached(Self.host)?.texts == ["192.0.2.7"])
    #expect(fixture.transport.asked.isEmpty)
  }

  @Test(arguments: [(Duration.seconds(80), Resolution.Freshness.due), (.seconds(110), .grace)])
  func `a stored answer that is past its best serves at once, and is refreshed behind`(
    _ age: Duration, _ freshness: Resolution.Freshness
  ) async throws {
    remember("192.0.2.7", askedAgo: age)
    let fixture = try member()
    fixture.transport.answer(Script.addresses("192.0.2.8"))
    let resolution = try await fixture.resolver.resolve(Self.host)
    #expect(resolution.texts == ["192.0.2.7"])
    #expect(resolution.freshness == freshness)
    await fixture.settle()
    #expect(fixture.resolver.cached(Self.host)?.texts == ["192.0.2.8"])
    #expect(fixture.transport.asked.count == 1)
  }

  @Test func `a stale stored answer waits for the providers`() async throws {
    remember("192.0.2.7", askedAgo: .seconds(5000))
    let fixture = try member()
    fixture.transport.answer(Script.addresses("192.0.2.8"))
    #expect(try await fixture.resolver.resolve(Self.host).texts == ["192.0.2.8"])
  }

  @Test func `a process that starts while every provider is dead lives on what is stored`() async throws {
    remember("192.0.2.7", askedAgo: .seconds(5000))
    let fixture = try member()
    fixture.transport.answer { _ in .down }
    let resolution = try await fixture.resolver.resolve(Self.host)
    #expect(resolution.texts == ["192.0.2.7"])
    #expect(resolution.freshness == .stale)
    #expect(resolution.age == .seconds(5000))
    #expect(resolution.source == .store)
  }

  @Test func `who refuses expired answers does not get them from the store either`() async throws {
    remember("192.0.2.7", askedAgo: .seconds(5000))
    let fixture = try member()
    fixture.transport.answer { _ in .down }
    let error = await fixture.failure(options: LookupOptions(expired: .refused))
    #expect(error?.code == .upstreamFailed)
    #expect(fixture.transport.asked.count == 1)
  }

  @Test func `who prefers expired answers gets a stored one at once`() async throws {
    remember("192.0.2.7", askedAgo: .seconds(5000))
    let fixture = try member()
    fixture.transport.answer { _ in .silence }
    let resolution = try await fixture.resolver.resolve(Self.host, options: LookupOptions(expired: .preferred))
    #expect(resolution.texts == ["192.0.2.7"])
  }

  @Test func `an answer that nobody may use any more is a miss`() async throws {
    remember("192.0.2.7", askedAgo: .seconds(100_000))
    let fixture = try member()
    fixture.transport.answer { _ in .down }
    #expect(await fixture.failure()?.code == .upstreamFailed)
  }

  @Test func `a stored negative answer is told while it is fresh, and never afterwards`() async throws {
    remember(negative: .nameNotFound)
    let fixture = try member()
    fixture.transport.answer(Script.addresses("192.0.2.8"))
    #expect(await fixture.failure()?.code == .nameNotFound)
    #expect(fixture.transport.asked.isEmpty)
    clock.advance(by: .seconds(101))
    #expect(try await member().learn("192.0.2.8").texts == ["192.0.2.8"])
  }

  @Test(arguments: [(0, 0), (80, 80), (110, 110), (0, 110), (110, 0)])
  func `both families come from the store at once, fresh or not`(_ age4: Int, _ age6: Int) async throws {
    remember("192.0.2.7", askedAgo: .seconds(age4))
    remember("2001:db8::7", askedAgo: .seconds(age6))
    let fixture = try member { $0.families = .any }
    fixture.transport.answer { _ in .silence }
    let resolution = try await fixture.resolver.resolve(Self.host)
    #expect(Set(resolution.texts) == ["192.0.2.7", "2001:db8::7"])
  }

  @Test(arguments: IPAddress.Family.allCases)
  func `of a stored name whose one family is stale the provider's answer comes along`(
    _ stale: IPAddress.Family
  ) async throws {
    remember("192.0.2.7", askedAgo: .seconds(stale == .ipv4 ? 900 : 0))
    remember("2001:db8::7", askedAgo: .seconds(stale == .ipv6 ? 900 : 0))
    let fixture = try member { $0.families = .any }
    fixture.transport.answer { question in
      .answer(.addresses(question.family == .ipv4 ? "192.0.2.8" : "2001:db8::8"))
    }
    let resolution = try await fixture.resolver.resolve(Self.host)
    #expect(
      Set(resolution.texts)
        == (stale == .ipv4 ? ["192.0.2.8", "2001:db8::7"] : ["192.0.2.7", "2001:db8::8"]))
  }

  @Test func `a family that the store lacks is asked for, and an expired one does not wait for it`() async throws {
    remember("192.0.2.7", askedAgo: .seconds(110))
    let fixture = try member { $0.families = .any }
    fixture.transport.answer { _ in .silence }
    let lookup = fixture.begin()
    // Less than the time of a query: nobody answers, so it is the client response timeout that ends.
    await fixture.transport.waitForSent(1)
    clock.advance(by: .milliseconds(900))
    #expect(await lookup.value.resolution?.texts == ["192.0.2.7"])
  }

  // MARK: Clocks

  @Test func `an answer from the future is not fresh, and serves where nothing else can be had`() async throws {
    remember("192.0.2.7", askedAgo: .seconds(-3600))
    let fixture = try member()
    fixture.transport.answer { _ in .down }
    let resolution = try await fixture.resolver.resolve(Self.host)
    #expect(resolution.freshness == .stale)
    #expect(fixture.transport.asked.count == 1)
  }

  @Test(arguments: [-30, 30]) func `after the clock was set nothing stored before is fresh`(_ seconds: Int64)
    async throws
  {
    let fixture = try member()
    remember("192.0.2.7", askedAgo: .seconds(31))
    clock.setSecondsSince1970(clock.secondsSince1970 + seconds)
    fixture.transport.answer { _ in .down }
    #expect(try await fixture.resolver.resolve(Self.host).freshness == .stale)
  }

  @Test(arguments: [-3600, 3600]) func `after the clock was set what the cache has is as young as before`(
    _ seconds: Int64
  ) async throws {
    let fixture = try member()
    try await fixture.learn("192.0.2.1", ttl: 100)
    #expect(await fixture.resolver.flushStore().unwritten == 0)
    clock.advance(by: .seconds(80))
    clock.setSecondsSince1970(clock.secondsSince1970 + seconds)
    fixture.transport.answer { _ in .down }
    #expect(try await fixture.resolver.resolve(Self.host).freshness == .due)
    // The refresh behind it has looked into the store by now.
    await fixture.settle()
    #expect(fixture.resolver.cached(Self.host)?.freshness == .due)
  }

  @Test func `no stored answer lives longer than the resolver's own policy allows`() async throws {
    remember("192.0.2.7", askedAgo: .seconds(4000), ttl: .seconds(1_000_000))
    let fixture = try member()
    fixture.transport.answer { _ in .down }
    #expect(try await fixture.resolver.resolve(Self.host).freshness == .stale)
  }
}

@Suite(.timeLimit(.minutes(1)))
struct ResolverServiceTests {
  @Test func `a service group ends the resolver, and its store has what was learned`() async throws {
    let provider = try await FakeProvider.start(records: RecordTable { $0.add("www.shop.test", "192.0.2.1", ttl: 300) })
    let store = MemoryAnswerStore()
    var configuration = ResolverConfiguration(providers: [
      ProviderConfiguration(provider: JSONProvider(name: "fake", url: try WebURL(provider.url("/resolve"))))
    ])
    configuration.usesSystemDNS = false
    configuration.store = store
    let resolver = try DirectResolver(configuration)
    let group = ServiceGroup(
      services: [resolver], logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    let running = Task { try await group.run() }
    _ = try await resolver.resolve("www.shop.test")
    await group.triggerGracefulShutdown()
    try await running.value
    let question = AddressQuestion(try HostName("www.shop.test"), .ipv4)
    #expect(store.read([question]).count == 1)
    let error = await #expect(throws: DirectDNSError.self) { try await resolver.resolve("other.shop.test") }
    #expect(error?.code == .shutDown)
    await provider.stop()
  }
}
