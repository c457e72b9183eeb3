// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// A resolver that goes on by another configuration.
@Suite(.timeLimit(.minutes(1)))
struct ResolverUpdatingTests {
  static let host = ResolverFixture.host

  func update(_ fixture: ResolverFixture, _ change: (inout ResolverConfiguration) -> Void) throws {
    var configuration = fixture.resolver.configuration
    change(&configuration)
    try fixture.resolver.update(configuration)
  }

  func providers(_ names: String...) -> [ProviderConfiguration] {
    ResolverFixture.configuration(names).providers
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
              #expect(throws: Never.self) {
                try update(fixture) {
                  $0.providers = round % 2 == 0 ? providers("two", "three") : providers("one")
                  $0.localZones.pins = round % 3 == 0 ? [Self.host: pinned] : [:]
                }
              }
            } else {
              await #expect(throws: Never.self) {
                let texts = try await fixture.resolver.resolve(Self.host).texts
                #expect(texts == ["192.0.2.1"] || texts == ["192.0.2.99"])
              }
            }
          }
        }
      }
    }
  }
}
