// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// What serves when no provider answers: what is known, and the system's DNS.
extension ResolverAskingTests {
  // MARK: Failures

  @Test func `while no provider answers, the system's answer is renewed by the system, and not used up to its end`()
    async throws
  {
    let fixture = try ResolverFixture()
    fixture.transport.answer { _ in .down }
    for number in 1...5 {
      fixture.system.answer { _ in .answer(.addresses("192.0.2.\(number)", ttl: 10)) }
      _ = try await fixture.resolver.resolve(Self.host)
      await fixture.settle()
      // The answer that was served is the one before, and the next lookup has this one.
      #expect(try await fixture.resolver.resolve(Self.host).texts == ["192.0.2.\(number)"])
      await fixture.settle()
      fixture.clock.advance(by: .seconds(60))
    }
  }

  @Test func `a failure is remembered for 1 s, then for twice as long each time, to 30 s`() async throws {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    fixture.transport.answer { _ in .code(.serverFailure) }
    for (index, seconds) in [1, 2, 4, 8, 16, 30, 30].enumerated() {
      #expect(await fixture.failure()?.code == .upstreamFailed)
      #expect(fixture.transport.count == index + 1)
      fixture.clock.advance(by: .seconds(seconds) - .nanoseconds(1))
      let error = await fixture.failure()
      #expect(error?.attempts.map(\.server) == ["one"])
      #expect(fixture.transport.count == index + 1)
      fixture.clock.advance(by: .nanoseconds(1))
    }
  }

  @Test(arguments: [
    Script.code(.serverFailure), .code(.refused), .code(.formatError), .down, .error(.tls("expired")),
    .error(.connectionLost("reset")), .error(.bodyTooLarge), .status(500), .status(403), .status(302),
    .status(429, retryAfter: 60),
  ])
  func `a failure never replaces an answer`(_ script: Script) async throws {
    let fixture = try await knowing(age: .seconds(200))
    fixture.transport.answer { _ in script }
    #expect(try await fixture.resolver.resolve(Self.host).texts == ["192.0.2.1"])
    #expect(fixture.transport.count == 2)
    #expect(fixture.resolver.snapshot().map(\.content) == [.addresses(Sample.addresses("192.0.2.1"))])
  }

  /// A resolver whose one provider takes a query in five seconds, and has just been asked.
  private func exhausted(known: Bool) async throws -> ResolverFixture {
    let fixture = try ResolverFixture {
      $0.usesSystemDNS = false
      $0.providers[0].rateLimit = RateLimit(perSecond: 0.2, burst: 1)
    }
    if known { try await fixture.learn(ttl: 10) }
    fixture.clock.advance(by: .seconds(100))
    try await fixture.learn(host: Sample.name("other.example"))
    return fixture
  }

  @Test func `a lookup that could not have its turn in time is not remembered as a failure`() async throws {
    let fixture = try await exhausted(known: false)
    #expect(await fixture.failure()?.attempts.first?.reason == "its request rate is used up")
    fixture.clock.advance(by: .milliseconds(500))
    let lookup = fixture.begin()
    await fixture.pass(.milliseconds(4500))
    #expect(await lookup.value.resolution?.texts == ["192.0.2.1"])
  }

  @Test func `an expired answer whose refresh could not have its turn in time is refreshed when it can`() async throws {
    let fixture = try await exhausted(known: true)
    #expect(await fixture.outcome().resolution?.freshness == .stale)
    fixture.clock.advance(by: .seconds(5))
    #expect(await fixture.outcome().resolution?.freshness == .fresh)
  }

  @Test func `an answer ends the memory of failures`() async throws {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    fixture.transport.answer { _ in .down }
    for seconds in [1, 2, 4] {
      _ = await fixture.failure()
      fixture.clock.advance(by: .seconds(seconds))
    }
    try await fixture.learn(ttl: 0)
    fixture.transport.answer { _ in .down }
    _ = await fixture.failure()
    fixture.clock.advance(by: .seconds(1))
    let count = fixture.transport.count
    _ = await fixture.failure()
    #expect(fixture.transport.count == count + 1)
  }

  // MARK: Falling back on the system's DNS

  @Test
  func `when every provider failed the system's DNS is asked, and its answer is marked and lives for 60 s`()
    async throws
  {
    let fixture = try ResolverFixture()
    fixture.system.answer(Script.addresses("192.0.2.9", ttl: 3600))
    let resolution = try await fixture.resolver.resolve(Self.host)
    #expect(resolution.texts == ["192.0.2.9"])
    #expect(resolution.source == .system)
    #expect(resolution.timeToLive == .seconds(60))
    #expect(fixture.transport.count == 1)
    #expect(fixture.system.asked.map(\.question) == [AddressQuestion(Self.host, .ipv4)])
    #expect(fixture.resolver.cached(Self.host)?.source == .system)
    #expect(fixture.resolver.cached(Self.host)?.timeToLive == .seconds(60))
    #expect(fixture.system.count == 1)
  }

  @Test func `a provider that is back replaces the system's answer`() async throws {
    let fixture = try ResolverFixture()
    fixture.system.answer(Script.addresses("192.0.2.9", ttl: 3600))
    _ = await fixture.outcome()
    fixture.transport.answer(Script.addresses("192.0.2.1"))
    fixture.clock.advance(by: .seconds(50))
    #expect(fixture.resolver.cached(Self.host)?.freshness == .due)
    await fixture.settle()
    #expect(fixture.resolver.cached(Self.host)?.source == .provider("one"))
    #expect(fixture.system.count == 1)
  }

  @Test(arguments: [101.0, 150, 86_400])
  func `the system's DNS is not asked while there is an expired answer`(_ age: Double) async throws {
    let fixture = try await knowing(age: .seconds(age))
    fixture.transport.answer { _ in .down }
    fixture.system.answer(Script.addresses("192.0.2.9"))
    #expect(try await fixture.resolver.resolve(Self.host).texts == ["192.0.2.1"])
    await fixture.settle()
    #expect(fixture.system.count == 0)
  }

  @Test func `the system's answer never overwrites a provider's entry`() async throws {
    let fixture = try await knowing(age: .seconds(150))
    fixture.transport.answer { _ in .down }
    fixture.system.answer(Script.addresses("192.0.2.9", ttl: 60))
    let refusing = LookupOptions(expired: .refused)
    let resolution = try await fixture.resolver.resolve(Self.host, options: refusing)
    #expect(resolution.texts == ["192.0.2.9"])
    #expect(resolution.source == .system)
    #expect(fixture.resolver.snapshot().map(\.source) == [.provider("one")])
    #expect(fixture.resolver.cached(Self.host)?.texts == ["192.0.2.1"])
  }

  @Test func `it is kept where a provider's negative answer is over`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer { _ in .answer(.negative(.nameNotFound, ttl: 10)) }
    _ = await fixture.failure()
    fixture.clock.advance(by: .seconds(11))
    fixture.transport.answer { _ in .down }
    fixture.system.answer(Script.addresses("192.0.2.9", ttl: 60))
    for _ in 0..<3 { #expect(try await fixture.resolver.resolve(Self.host).texts == ["192.0.2.9"]) }
    #expect(fixture.system.count == 1)
  }

  // A captive portal's DNS says of every name that it does not exist.
  @Test(arguments: [(Answer.Negative.nameNotFound, "does not exist"), (.noAddress, "has no address")])
  func `the system's DNS alone cannot say that a name does not exist, and what it says is told`(
    _ kind: Answer.Negative, _ words: String
  ) async throws {
    let fixture = try ResolverFixture()
    fixture.system.answer { _ in .answer(.negative(kind, ttl: nil)) }
    let error = await fixture.failure()
    #expect(error?.code == .upstreamFailed)
    #expect(error?.message.contains("the system's DNS") == true)
    #expect(error?.message.contains(words) == true)
    #expect(error?.attempts.map(\.server) == ["one"])
    for _ in 0..<100 { #expect(await fixture.failure()?.message == error?.message) }
    #expect(fixture.system.count == 1)
  }

  @Test(arguments: [Duration?.none, .seconds(5)])
  func `what the system's DNS says and nobody keeps leaves what is remembered of the providers`(
    _ negativeTTL: Duration?
  ) async throws {
    let fixture = try ResolverFixture { $0.cache.negativeTTLWithoutSOA = negativeTTL }
    fixture.transport.reply { _ in .down }
    fixture.system.answer { _ in .answer(.negative(.nameNotFound)) }
    #expect(await fixture.failure()?.code == .upstreamFailed)
    // Within the second for which the failure is remembered.
    fixture.clock.advance(by: .milliseconds(500))
    #expect(await fixture.failure()?.code == .upstreamFailed)
    #expect(fixture.transport.count == 1)
    fixture.clock.advance(by: .seconds(1))
    _ = await fixture.failure()
    #expect(fixture.transport.count == 2)
  }

  @Test func `addresses of the system's DNS that are not kept leave it too`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.reply { _ in .down }
    fixture.system.answer(Script.addresses("192.0.2.9", ttl: 0))
    for _ in 0..<3 { #expect(await fixture.outcome().resolution?.texts == ["192.0.2.9"]) }
    #expect(fixture.transport.count == 1 && fixture.system.count == 3)
  }

  @Test func `without the system's DNS nobody asks it`() async throws {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    let error = await fixture.failure()
    #expect(error?.code == .upstreamFailed)
    #expect(error?.attempts.map(\.server) == ["one"])
    #expect(fixture.system.count == 0)
  }

  @Test func `the system's DNS gets what is left of the lookup's time`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer { _ in .silence }
    fixture.system.answer(Script.addresses("192.0.2.9"))
    let lookup = fixture.begin()
    await fixture.clock.waitForSleepers()
    fixture.clock.advance(by: .milliseconds(3500))
    #expect(try await lookup.value.get().source == .system)
    #expect(fixture.system.asked.map(\.timeout) == [.milliseconds(1500)])
  }

  @Test func `a lookup ends at its deadline, whatever the system's DNS does`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer { _ in .silence }
    fixture.system.answer { _ in .silence }
    let lookup = fixture.begin()
    await fixture.clock.waitForSleepers()
    fixture.clock.advance(by: .milliseconds(3500))
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .milliseconds(1500))
    let error = await lookup.value.error
    #expect(error?.attempts.contains { $0.server == "one" } == true)
    #expect(fixture.clock.now == Sample.at(5))
    await fixture.settle()
  }

  @Test func `a caller without time left does not begin to ask the system's DNS`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Script.addresses("192.0.2.1", after: .seconds(4)))
    let patient = fixture.begin(options: LookupOptions(timeout: .seconds(60)))
    await fixture.clock.waitForSleepers()
    let hurried = fixture.begin(options: LookupOptions(timeout: .seconds(1)))
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .seconds(1))
    #expect(await hurried.value.error?.code == .timedOut)
    #expect(fixture.system.count == 0)
    fixture.clock.advance(by: .seconds(3))
    #expect(try await patient.value.get().texts == ["192.0.2.1"])
  }

  @Test func `a failure of the system's DNS is remembered too`() async throws {
    let fixture = try ResolverFixture()
    #expect(await fixture.failure()?.attempts.map(\.server) == ["one", "system"])
    fixture.clock.advance(by: .milliseconds(999))
    #expect(await fixture.failure()?.attempts.map(\.server) == ["one", "system"])
    #expect(fixture.system.count == 1)
    fixture.clock.advance(by: .milliseconds(1))
    _ = await fixture.failure()
    #expect(fixture.system.count == 2)
  }

  @Test func `without providers the system's DNS alone is asked`() async throws {
    let fixture = try ResolverFixture { $0.providers = [] }
    fixture.system.answer(Script.addresses("192.0.2.9"))
    #expect(try await fixture.resolver.resolve(Self.host).source == .system)
  }

  @Test func `many callers who fall back share one query`() async throws {
    let fixture = try ResolverFixture()
    fixture.system.answer(Script.addresses("192.0.2.9", after: .milliseconds(100)))
    let lookups = (0..<30).map { _ in fixture.begin() }
    await fixture.system.waitForAsked(1)
    // One query, and the deadline of those who wait for it.
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .milliseconds(100))
    for lookup in lookups { #expect(try await lookup.value.get().texts == ["192.0.2.9"]) }
    #expect(fixture.system.count == 1)
  }
}
