// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// A resolver that goes on by another configuration.
@Suite(.timeLimit(.minutes(1)))
struct ResolverUpdatingTests {
  private static let host = ResolverFixture.host

  private func update(_ fixture: ResolverFixture, _ change: (inout ResolverConfiguration) -> Void) throws {
    var configuration = fixture.resolver.configuration
    change(&configuration)
    try fixture.resolver.update(configuration)
  }

  private func providers(_ names: String...) -> [ProviderConfiguration] {
    ResolverFixture.configuration(names).providers
  }

  // MARK: What stays

  @Test func `the cache stays, and answers say where they came from although that provider has gone`() async throws {
    let fixture = try ResolverFixture("one", "two")
    try await fixture.learn()
    try update(fixture) { $0.providers = providers("three", "two") }
    let kept = try #require(fixture.resolver.cached(Self.host))
    #expect(kept.source == .provider("one") && kept.freshness == .fresh)
    try await fixture.learn(host: Sample.name("new.example"))
    #expect(fixture.resolver.cached(Sample.name("new.example"))?.source == .provider("three"))
    #expect(fixture.resolver.snapshot().map(\.source) == [.provider("three"), .provider("one")])
    #expect(fixture.transport.asked == ["one", "three"])
  }

  @Test func `answers of the system's DNS are forgotten once it is switched off`() async throws {
    let fixture = try ResolverFixture("one")
    fixture.transport.answer { _ in .down }
    fixture.system.answer { _ in .answer(.addresses("192.0.2.66", ttl: 60)) }
    _ = try await fixture.resolver.resolve(Self.host)
    try update(fixture) { $0.usesSystemDNS = false }
    #expect(fixture.resolver.cached(Self.host) == nil && fixture.resolver.snapshot().isEmpty)

    // One that is under way counts no more, either.
    try update(fixture) { $0.usesSystemDNS = true }
    fixture.clock.advance(by: .seconds(2))
    fixture.system.answer { _ in .answer(.addresses("192.0.2.66", ttl: 60), after: .seconds(1)) }
    let lookup = fixture.begin()
    await fixture.system.waitForAsked(2)
    await fixture.clock.waitForSleepers()
    try update(fixture) { $0.usesSystemDNS = false }
    fixture.clock.advance(by: .seconds(1))
    _ = await lookup.value
    #expect(fixture.resolver.snapshot().isEmpty)
  }

  @Test func `a local name is refused once the system's DNS is switched off, whatever that has said of it`()
    async throws
  {
    let printer = Sample.name("printer.local")
    let fixture = try ResolverFixture("one")
    fixture.system.answer { _ in .answer(.addresses("10.0.0.9", ttl: 60)) }
    #expect(try await fixture.resolver.resolve(printer).texts == ["10.0.0.9"])
    try update(fixture) { $0.usesSystemDNS = false }
    #expect(fixture.resolver.cached(printer) == nil)
    #expect(await fixture.failure(printer)?.code == .refused)

    // One that is under way reaches those who wait for it, and nobody after them.
    try update(fixture) { $0.usesSystemDNS = true }
    let asked = fixture.system.count
    fixture.system.answer { _ in .answer(.addresses("10.0.0.8", ttl: 60), after: .seconds(1)) }
    let lookup = fixture.begin(printer)
    await fixture.system.waitForAsked(asked + 1)
    await fixture.clock.waitForSleepers()
    try update(fixture) { $0.usesSystemDNS = false }
    fixture.clock.advance(by: .seconds(1))
    #expect(try await lookup.value.get().texts == ["10.0.0.8"])
    #expect(fixture.resolver.cached(printer) == nil && fixture.transport.count == 0)
    #expect(await fixture.failure(printer)?.code == .refused)
  }

  @Test func `whoever waits for a name that is pinned meanwhile gets the pin, and so do all after him`() async throws {
    let fixture = try ResolverFixture("one")
    fixture.transport.answer { _ in .answer(.addresses("192.0.2.1", ttl: 3600), after: .seconds(2)) }
    let lookup = fixture.begin()
    await fixture.transport.waitForSent(1)
    try update(fixture) {
      $0.providers = providers("two")
      $0.localZones.pins = [Self.host: Sample.addresses("192.0.2.9")]
    }
    #expect(try await lookup.value.get().texts == ["192.0.2.9"])
    await fixture.pass(.seconds(3))
    #expect(fixture.resolver.cached(Self.host)?.source == .pin && fixture.transport.asked == ["one"])
  }

  @Test func `a kept-alive name that is looked up elsewhere for a while is asked for soon when it is back`()
    async throws
  {
    let fixture = try ResolverFixture("one") { $0.keepAlive = [Self.host] }
    fixture.transport.answer(Script.addresses("192.0.2.1", ttl: 3600))
    await fixture.transport.waitForSent(1)
    await fixture.settle()
    try update(fixture) { $0.localZones.pins = [Self.host: Sample.addresses("192.0.2.9")] }
    await fixture.pass(.seconds(2))
    try update(fixture) { $0.localZones.pins = [:] }
    await fixture.pass(.seconds(2))
    #expect(fixture.resolver.cached(Self.host)?.texts == ["192.0.2.1"])
  }

  @Test(arguments: [true, false])
  func `a lookup under way goes on, and its answer is kept unless its provider has gone`(_ isGone: Bool) async throws {
    let fixture = try ResolverFixture("one")
    fixture.transport.reply { _ in .answer(.addresses("192.0.2.7"), after: .seconds(1)) }
    let lookup = fixture.begin()
    await fixture.clock.waitForSleepers()
    try update(fixture) { $0.providers = isGone ? providers("two") : providers("two", "one") }
    fixture.clock.advance(by: .seconds(1))
    #expect(try await lookup.value.get().texts == ["192.0.2.7"])
    #expect(fixture.resolver.snapshot().map(\.source) == (isGone ? [] : [.provider("one")]))
  }

  @Test func `the breaker of a provider that stays is open still`() async throws {
    let fixture = try ResolverFixture("one", "two") { $0.hedges = false }
    fixture.transport.reply { $0.provider == "one" ? .down : .answer(.addresses("192.0.2.1")) }
    for number in 0..<4 { _ = await fixture.outcome(Sample.name("n\(number).example")) }
    #expect(fixture.transport.asked.last == "two")
    try update(fixture) { $0.providers = providers("one", "three") }
    _ = await fixture.outcome(Sample.name("later.example"))
    #expect(fixture.transport.asked.last == "three")
  }

  @Test func `what the resolver is built around stays as it was made`() throws {
    let fixture = try ResolverFixture { $0.capacity = 7 }
    try update(fixture) {
      $0.capacity = 1
      $0.storeTimeout = .seconds(9)
      $0.observer = nil
      $0.store = MemoryAnswerStore()
      $0.timeout = .seconds(2)
    }
    let configuration = fixture.resolver.configuration
    #expect(configuration.capacity == 7 && configuration.storeTimeout == .milliseconds(50))
    #expect(configuration.observer != nil && configuration.store == nil)
    #expect(configuration.timeout == .seconds(2))
  }

  // MARK: What changes

  @Test func `providers and families are those of the next lookup`() async throws {
    let fixture = try ResolverFixture("one")
    try update(fixture) {
      $0.providers = providers("two")
      $0.families = .ipv6
    }
    fixture.transport.answer { _ in .answer(.addresses("2001:db8::1")) }
    #expect(try await fixture.resolver.resolve(Self.host).texts == ["2001:db8::1"])
    #expect(fixture.transport.sent.map(\.question) == [AddressQuestion(Self.host, .ipv6)])
    #expect(fixture.resolver.cached(Self.host)?.texts == ["2001:db8::1"])
    #expect(fixture.resolver.cached(Self.host, options: LookupOptions(families: .ipv4)) == nil)
  }

  @Test func `the policy of the cache holds for the use of answers that are there, and the lifetime of new ones`()
    async throws
  {
    let fixture = try ResolverFixture()
    try await fixture.learn(ttl: 100)
    fixture.clock.advance(by: .seconds(80))
    try update(fixture) {
      $0.cache.refreshesAhead = false
      $0.cache.maximumTTL = .seconds(20)
      $0.cache.grace = .zero
      $0.cache.maximumStale = .seconds(5)
    }
    #expect(fixture.resolver.cached(Self.host)?.freshness == .fresh)
    fixture.clock.advance(by: .seconds(21))
    fixture.transport.reply { _ in .silence }
    #expect(fixture.resolver.cached(Self.host)?.freshness == .stale)
    fixture.clock.advance(by: .seconds(6))
    #expect(fixture.resolver.cached(Self.host) == nil)
    fixture.clock.advance(by: .seconds(60))
    await fixture.settle()
    let other = Sample.name("other.example")
    try await fixture.learn(ttl: 100, host: other)
    #expect(fixture.resolver.cached(other)?.timeToLive == .seconds(20))
  }

  @Test func `failures are forgotten, so that a new provider is asked at once`() async throws {
    let fixture = try ResolverFixture("one") { $0.usesSystemDNS = false }
    #expect(await fixture.failure()?.code == .upstreamFailed)
    #expect(await fixture.failure()?.code == .upstreamFailed)
    #expect(fixture.transport.count == 1)
    fixture.transport.reply { $0.provider == "two" ? .answer(.addresses("192.0.2.2")) : .down }
    try update(fixture) { $0.providers = providers("two") }
    #expect(await fixture.outcome().resolution?.texts == ["192.0.2.2"])
  }

  @Test func `the system's DNS is asked or not, and can be another`() async throws {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    #expect(await fixture.failure() != nil)
    #expect(fixture.system.count == 0)
    let other = ScriptedSystem(clock: fixture.clock)
    other.answer { _ in .answer(.addresses("192.0.2.8")) }
    var configuration = fixture.resolver.configuration
    configuration.usesSystemDNS = true
    try fixture.resolver.update(configuration, system: other)
    #expect(await fixture.outcome().resolution?.texts == ["192.0.2.8"])
    #expect(fixture.system.count == 0)
  }

  // MARK: Names that are looked up elsewhere

  @Test func `a pin holds at once, over an answer that is there, and no longer than it stands there`() async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn("192.0.2.1", ttl: 3600)
    try await fixture.learn("192.0.2.1", ttl: 3600, host: Sample.name("other.example"))
    try update(fixture) { $0.localZones.pins = [Self.host: Sample.addresses("192.0.2.99")] }
    #expect(fixture.resolver.cached(Self.host)?.source == .pin)
    #expect(fixture.resolver.cached("WWW.example.net.")?.texts == ["192.0.2.99"])
    #expect(try await fixture.resolver.resolve(Self.host).texts == ["192.0.2.99"])
    #expect(fixture.resolver.cached("other.example")?.source == .provider("one"))
    try update(fixture) { $0.localZones.pins = [:] }
    #expect(fixture.resolver.cached(Self.host) == nil)
    await fixture.settle()
    #expect(try await fixture.resolver.resolve(Self.host).texts == ["192.0.2.1"])
  }

  @Test func `an answer that was asked for before the pin came does not cover it`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.reply { _ in .answer(.addresses("192.0.2.7", ttl: 3600), after: .seconds(1)) }
    let lookup = fixture.begin()
    await fixture.clock.waitForSleepers()
    try update(fixture) { $0.localZones.pins = [Self.host: Sample.addresses("192.0.2.99")] }
    fixture.clock.advance(by: .seconds(1))
    _ = await lookup.value
    await fixture.settle()
    #expect(fixture.resolver.cached(Self.host)?.texts == ["192.0.2.99"])
  }

  @Test func `a name that became local is asked of the system's DNS alone`() async throws {
    let fixture = try ResolverFixture()
    let name = Sample.name("intra.corp.example")
    try await fixture.learn("192.0.2.1", ttl: 3600, host: name)
    try update(fixture) { $0.localZones.suffixes = [Sample.name("corp.example")] }
    fixture.system.answer { _ in .answer(.addresses("10.0.0.1")) }
    #expect(try await fixture.resolver.resolve(name).texts == ["10.0.0.1"])
    #expect(fixture.transport.count == 1)
  }

  @Test func `what the system's DNS has denied is asked of the first provider, and what it has named stays`()
    async throws
  {
    let fixture = try ResolverFixture { $0.providers = [] }
    let other = Sample.name("other.example")
    fixture.system.answer { question in
      question.host == other
        ? .answer(.addresses("192.0.2.66", ttl: 60)) : .answer(.negative(.nameNotFound, ttl: 60))
    }
    #expect(await fixture.failure()?.code == .nameNotFound)
    #expect(try await fixture.resolver.resolve(other).texts == ["192.0.2.66"])
    fixture.transport.answer { _ in .answer(.addresses("192.0.2.1", ttl: 3600)) }
    try update(fixture) { $0.providers = providers("one") }
    #expect(await fixture.outcome().resolution?.texts == ["192.0.2.1"])
    #expect(fixture.resolver.cached(other)?.source == .system)
    // What a provider has said outlives the last one of them.
    try update(fixture) { $0.providers = [] }
    #expect(fixture.resolver.cached(Self.host)?.source == .provider("one"))
  }

  @Test func `the same settings once more leave what has failed alone`() async throws {
    let fixture = try ResolverFixture("one") { $0.usesSystemDNS = false }
    #expect(await fixture.failure()?.code == .upstreamFailed)
    try fixture.resolver.update(fixture.resolver.configuration)
    #expect(await fixture.failure()?.code == .upstreamFailed)
    #expect(fixture.transport.count == 1)
  }

  // MARK: Names that are kept alive

  @Test func `names come to be kept alive and cease to be, and those set by hand stay`() async throws {
    let fixture = try ResolverFixture { $0.keepAlive = [Sample.name("old.example")] }
    fixture.transport.answer { _ in .answer(.addresses("192.0.2.1", ttl: 3600)) }
    await fixture.transport.waitForSent(1)
    fixture.resolver.keepAlive(adding: [Sample.name("mine.example")])
    try update(fixture) { $0.keepAlive = [Sample.name("new.example")] }
    // Those that were kept alive before may be asked for once more, so a number tells nothing.
    let names = ["mine.example", "new.example"].map(Sample.name)
    await fixture.transport.waitForSent(names[0], names[1])
    for name in names { await fixture.settle(name) }
    let kept = Set(fixture.resolver.snapshot().filter(\.isKeptAlive).map(\.host.text))
    #expect(kept == ["mine.example", "new.example"])
    fixture.resolver.shutdown()
  }

  // MARK: What is wrong

  @Test func `a configuration that cannot be used changes nothing`() async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn(ttl: 3600)
    for change: (inout ResolverConfiguration) -> Void in [
      { $0.timeout = .zero }, { $0.families = [] }, { $0.cache.minimumTTL = .seconds(99_999) },
      {
        $0.providers = []
        $0.usesSystemDNS = false
      },
    ] {
      let error = #expect(throws: DirectDNSError.self) {
        try update(fixture) {
          $0.localZones.pins = [Self.host: Sample.addresses("192.0.2.99")]
          change(&$0)
        }
      }
      #expect(error?.code == .invalidConfiguration)
    }
    #expect(fixture.resolver.cached(Self.host)?.source == .provider("one"))
    #expect(fixture.resolver.configuration.timeout == .seconds(5))
  }

  @Test func `a resolver of its own transport trusts others from the next request on, if their files are there`() throws
  {
    let authority = try TestCertificateAuthority()
    let file = try authority.makeFile()
    let resolver = try DirectResolver()
    var configuration = resolver.configuration
    configuration.trust.privateAuthorities = ["/there/is/none.pem"]
    configuration.timeout = .seconds(1)
    let error = #expect(throws: DirectDNSError.self) { try resolver.update(configuration) }
    #expect(error?.message.contains("/there/is/none.pem") == true)
    #expect(resolver.configuration.timeout == .seconds(5))
    configuration.trust.privateAuthorities = [file.path]
    try resolver.update(configuration)
    #expect(resolver.configuration.timeout == .seconds(1))
    resolver.shutdown()
  }

  @Test func `names of providers are counted over a resolver's life`() throws {
    let fixture = try ResolverFixture()
    for number in 1..<SourceNames.providerLimit {
      try update(fixture) { $0.providers = providers("n\(number)") }
    }
    let error = #expect(throws: DirectDNSError.self) {
      try update(fixture) { $0.providers = providers("last") }
    }
    #expect(error?.code == .invalidConfiguration && error?.message.contains("254") == true)
    try update(fixture) { $0.providers = providers("one", "n5") }
  }

  @Test func `lookups and updates at the same time see one configuration or the other`() async throws {
    let fixture = try ResolverFixture("one", "two")
    try await fixture.learn(ttl: 3600)
    let pinned = Sample.addresses("192.0.2.99")
    await withDiscardingTaskGroup { group in
      for number in 0..<4 {
        group.addTask {
          for round in 0..<Sanitizer.volume(of: 200, atLeast: 50) {
            if number == 0 {
              try? update(fixture) {
                $0.providers = round % 2 == 0 ? providers("two", "three") : providers("one")
                $0.localZones.pins = round % 3 == 0 ? [Self.host: pinned] : [:]
              }
            } else if let texts = try? await fixture.resolver.resolve(Self.host).texts {
              #expect(texts == ["192.0.2.1"] || texts == ["192.0.2.99"])
            }
          }
        }
      }
    }
  }
}
