// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// What a resolver is told: outcomes of connections, changes of network, names to forget, its end.
@Suite(.timeLimit(.minutes(1)))
struct ResolverTests {
  private static let host = ResolverFixture.host

  // MARK: Reports

  @Test func `an address that was reported dead goes last, and comes back after 30 s`() async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn("192.0.2.1", "192.0.2.2", "192.0.2.3", ttl: 3600)
    fixture.resolver.report(.failed, for: Sample.address("192.0.2.2"))
    for _ in 0..<30 {
      let texts = try #require(fixture.resolver.cached(Self.host)).texts
      #expect(texts.last == "192.0.2.2")
      #expect(texts.count == 3)
      fixture.clock.advance(by: .milliseconds(900))
    }
    fixture.clock.advance(by: .seconds(3))
    var firsts: Set<String> = []
    for _ in 0..<100 {
      firsts.insert(try #require(fixture.resolver.cached(Self.host)).texts[0])
      fixture.clock.advance(by: .milliseconds(20))
    }
    #expect(firsts.contains("192.0.2.2"))
  }

  @Test func `the order follows reported connect times, for answers old and new`() async throws {
    let fixture = try ResolverFixture()
    fixture.resolver.report(.connected(in: .milliseconds(400)), for: Sample.address("192.0.2.1"))
    fixture.resolver.report(.connected(in: .milliseconds(10)), for: Sample.address("192.0.2.2"))
    fixture.resolver.report(.connected(in: .milliseconds(100)), for: Sample.address("192.0.2.3"))
    let expected = ["192.0.2.2", "192.0.2.3", "192.0.2.1"]
    #expect(try await fixture.learn("192.0.2.1", "192.0.2.2", "192.0.2.3").texts == expected)
    #expect(fixture.resolver.cached(Self.host)?.texts == expected)
    #expect(fixture.resolver.cached("WWW.example.net.")?.texts == expected)
    fixture.clock.advance(by: .seconds(110))
    #expect(fixture.resolver.cached(Self.host)?.texts == expected)
    fixture.clock.advance(by: .seconds(110))
    #expect(fixture.resolver.cached(Self.host)?.texts == expected)
    await fixture.settle()
  }

  @Test func `an address that stands alone is handed out even when it failed`() async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn("192.0.2.1")
    fixture.resolver.report(.failed, for: Sample.address("192.0.2.1"))
    #expect(fixture.resolver.cached(Self.host)?.texts == ["192.0.2.1"])
  }

  // MARK: The network

  @Test func `a change of network makes every entry due at once, and drops nothing`() async throws {
    let fixture = try ResolverFixture()
    let names = (0..<5).map { Sample.name("n\($0).example.net") }
    for name in names { try await fixture.learn(ttl: 3600, host: name) }
    fixture.clock.advance(by: .seconds(10))
    fixture.resolver.networkDidChange()
    #expect(fixture.transport.networkChanges == 1)
    #expect(fixture.transport.count == 5)
    for name in names { #expect(fixture.resolver.cached(name)?.freshness == .due) }
    for name in names { await fixture.settle(name) }
    #expect(fixture.transport.count == 10)
    for name in names { #expect(fixture.resolver.cached(name)?.freshness == .fresh) }
  }

  @Test func `a change of network forgets failures of providers and of the system's DNS`() async throws {
    let fixture = try ResolverFixture()
    _ = await fixture.failure()
    _ = await fixture.failure()
    #expect(fixture.transport.count == 1)
    #expect(fixture.system.count == 1)
    fixture.resolver.networkDidChange()
    _ = await fixture.failure()
    #expect(fixture.transport.count == 2)
    #expect(fixture.system.count == 2)
  }

  @Test func `a change of network lets a stale answer be refreshed at once`() async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn(ttl: 100)
    fixture.clock.advance(by: .seconds(200))
    fixture.transport.answer { _ in .down }
    #expect(try await fixture.resolver.resolve(Self.host).freshness == .stale)
    fixture.resolver.networkDidChange()
    fixture.transport.answer(Script.addresses("192.0.2.2"))
    #expect(try await fixture.resolver.resolve(Self.host).texts == ["192.0.2.2"])
  }

  @Test func `a change of network forgets which addresses failed`() async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn("192.0.2.1", "192.0.2.2", ttl: 3600)
    fixture.resolver.report(.failed, for: Sample.address("192.0.2.1"))
    fixture.resolver.networkDidChange()
    _ = fixture.resolver.cached(Self.host)
    await fixture.settle()
    var firsts: Set<String> = []
    for _ in 0..<100 {
      firsts.insert(try #require(fixture.resolver.cached(Self.host)).texts[0])
      fixture.clock.advance(by: .milliseconds(20))
    }
    #expect(firsts.contains("192.0.2.1"))
  }

  @Test func `a negative answer of the last network is asked for again`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer { _ in .answer(.negative(.nameNotFound, ttl: 300)) }
    _ = await fixture.failure()
    fixture.clock.advance(by: .seconds(1))
    fixture.resolver.networkDidChange()
    #expect(try await fixture.learn().texts == ["192.0.2.1"])
  }

  // MARK: Forgetting

  @Test func `a name that was invalidated is asked for again, others are not`() async throws {
    let fixture = try ResolverFixture()
    let other = Sample.name("other.example.net")
    try await fixture.learn()
    try await fixture.learn(host: other)
    fixture.resolver.invalidate(Self.host)
    fixture.transport.answer(Script.addresses("192.0.2.2"))
    #expect(try await fixture.resolver.resolve(Self.host).texts == ["192.0.2.2"])
    #expect(fixture.resolver.cached(other)?.texts == ["192.0.2.1"])
    #expect(fixture.transport.count == 3)
  }

  @Test func `a name is forgotten by its text, in any spelling, and other texts are refused`() async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn()
    try fixture.resolver.invalidate(Self.host.text.uppercased() + ".")
    #expect(fixture.resolver.cached(Self.host) == nil)
    let error = #expect(throws: DirectDNSError.self) { try fixture.resolver.invalidate("no name") }
    #expect(error?.code == .invalidName)
  }

  @Test func `an invalidated name is not served from before, even when nobody answers`() async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn()
    fixture.resolver.invalidate(Self.host)
    fixture.transport.answer { _ in .down }
    #expect(await fixture.failure(options: LookupOptions(expired: .preferred))?.code == .upstreamFailed)
  }

  @Test func `invalidating a name forgets its failures and negative answers`() async throws {
    let fixture = try ResolverFixture()
    _ = await fixture.failure()
    fixture.resolver.invalidate(Self.host)
    _ = await fixture.failure()
    #expect(fixture.transport.count == 2)
    #expect(fixture.system.count == 2)
    fixture.resolver.invalidate(Self.host)
    fixture.transport.answer { _ in .answer(.negative(.nameNotFound, ttl: 300)) }
    #expect(await fixture.failure()?.code == .nameNotFound)
    fixture.resolver.invalidate(Self.host)
    #expect(try await fixture.learn().texts == ["192.0.2.1"])
  }

  // MARK: The end

  @Test func `a resolver that was shut down serves what it has, and asks nobody`() async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn(ttl: 100)
    fixture.resolver.shutdown()
    #expect(fixture.transport.isShutDown)
    #expect(try await fixture.resolver.resolve(Self.host).freshness == .fresh)
    fixture.clock.advance(by: .seconds(110))
    #expect(fixture.resolver.cached(Self.host)?.freshness == .grace)
    #expect(try await fixture.resolver.resolve(Self.host).freshness == .grace)
    fixture.clock.advance(by: .seconds(110))
    #expect(try await fixture.resolver.resolve(Self.host).freshness == .stale)
    let error = await fixture.failure(Sample.name("other.example.net"))
    #expect(error?.code == .shutDown)
    #expect(error?.message.contains("other.example.net") == true)
    #expect(fixture.transport.count == 1)
    #expect(fixture.system.count == 0)
  }

  @Test func `lookups that wait when the resolver is shut down end with that`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer { _ in .silence }
    let lookups = [
      fixture.begin(), fixture.begin(), fixture.begin(Sample.name("other.example.net")),
    ]
    await fixture.clock.waitForSleepers(2)
    fixture.resolver.shutdown()
    for lookup in lookups { #expect(await lookup.value.error?.code == .shutDown) }
    #expect(fixture.system.count == 0)
    #expect(fixture.clock.now == Sample.at(0))
  }

  @Test func `a stale answer is there for those who wait when the resolver is shut down`() async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn(ttl: 100)
    fixture.clock.advance(by: .seconds(200))
    fixture.transport.answer { _ in .silence }
    let lookup = fixture.begin()
    await fixture.clock.waitForSleepers(2)
    fixture.resolver.shutdown()
    #expect(await lookup.value.resolution?.freshness == .stale)
  }

  @Test func `shutting down ends keep-alive`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Script.addresses("192.0.2.1"))
    fixture.resolver.keepAlive([Self.host])
    await fixture.transport.waitForSent(1)
    await fixture.settle()
    await fixture.clock.waitForSleepers()
    fixture.resolver.shutdown()
    await fixture.pass(.seconds(300))
    #expect(fixture.transport.count == 1)
  }

  @Test func `a resolver that nobody holds any more is freed, with the names that it kept alive`()
    async throws
  {
    let clock = ManualClock()
    let transport = ScriptedTransport(clock: clock)
    transport.answer(Script.addresses("192.0.2.1"))
    var configuration = ResolverFixture.configuration(["one"])
    configuration.families = .ipv4
    configuration.keepAlive = [Self.host]
    var resolver: DirectResolver? = try DirectResolver(
      configuration, transport: transport, clock: clock, system: ScriptedSystem(clock: clock))
    weak let seen = resolver
    await transport.waitForSent(1)
    await clock.waitForSleepers()
    resolver = nil
    #expect(seen == nil)
    #expect(await clock.waitForNoSleepers())
  }

  /// How often it was shut down.
  private final class Counted: HTTPTransport {
    let ends = Locked(0)

    func send(
      _ message: HTTPMessage, to endpoint: HTTPEndpoint, timeout: Duration
    ) async throws(HTTPTransportError) -> HTTPReply { throw .shutDown }

    func networkDidChange() {}
    func shutdown() { ends.withLock { $0 += 1 } }
  }

  @Test(arguments: 0...2)
  func `the transport is shut down once, at the latest when nobody holds the resolver any more`(_ calls: Int) throws {
    let transport = Counted()
    var resolver: DirectResolver? = try DirectResolver(transport: transport)
    for _ in 0..<calls { resolver?.shutdown() }
    resolver = nil
    #expect(transport.ends.withLock(\.self) == 1)
  }

  @Test(arguments: [HTTPTransportError.cancelled, .shutDown])
  func `a transport of the application's that gives up is a provider that fails, and no end of the resolver`(
    _ error: HTTPTransportError
  ) async throws {
    let fixture = try ResolverFixture("one", "two") { $0.usesSystemDNS = false }
    fixture.transport.reply { _ in .error(error) }
    let failure = try #require(await fixture.failure())
    #expect(failure.code == .upstreamFailed && failure.isTransient)
    #expect(failure.attempts.map(\.server) == ["one", "two"])
    fixture.transport.answer(Script.addresses("192.0.2.1"))
    #expect(try await fixture.resolver.resolve(Self.host).texts == ["192.0.2.1"])
  }

  // MARK: Many at once

  @Test func `a crowd of callers over many names gets each name's own addresses`() async throws {
    let fixture = try ResolverFixture { configuration in
      configuration.families = .any
      configuration.capacity = 64
    }
    // Every address tells its name's number; far more names than the cache holds.
    fixture.transport.answer { question in
      let number = UInt32(question.host.labels[0].dropFirst()) ?? 0
      let address = question.family == .ipv4 ? IPAddress.ipv4(number) : .ipv6(high: 7, low: UInt64(number))
      return .answer(Answer(.addresses([address]), ttl: 60))
    }
    let resolver = fixture.resolver
    let steps = Sanitizer.volume(of: 400, atLeast: 100)
    let results = await withTaskGroup(of: (found: Int, wrong: Int).self) { group in
      for task in 0..<8 {
        group.addTask {
          var random = SeededGenerator(seed: UInt64(task))
          var (all, wrong) = (0, 0)
          for step in 0..<steps {
            let number = Int.random(in: 1...200, using: &random)
            let spelling = step % 3 == 0 ? "N\(number).Example.Net." : "n\(number).example.net"
            let found = step % 2 == 0 ? resolver.cached(spelling) : try? await resolver.resolve(spelling)
            guard let found else { continue }
            all += 1
            let expected = [IPAddress.ipv4(UInt32(number)), .ipv6(high: 7, low: UInt64(number))]
            if found.addresses.isEmpty || !found.addresses.allSatisfy(expected.contains) { wrong += 1 }
          }
          return (all, wrong)
        }
      }
      return await group.reduce((found: 0, wrong: 0)) { ($0.found + $1.found, $0.wrong + $1.wrong) }
    }
    #expect(results.wrong == 0)
    // Every resolution has a result, and the cache knows about a third of the names.
    #expect(results.found > 8 * steps / 2)
    #expect(resolver.cacheStatistics.names <= 64)
  }
}
