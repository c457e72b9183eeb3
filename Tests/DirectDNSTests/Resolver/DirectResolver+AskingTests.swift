// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// Lookups that have to ask: what is waited for, and what serves when nobody answers.
@Suite(.timeLimit(.minutes(1)))
struct ResolverAskingTests {
  static let host = ResolverFixture.host
  static let gone = Duration.seconds(100 + 86_400 + 1)

  /// A fixture that knows an answer of 100 s, so long ago.
  func knowing(
    age: Duration, configure: (inout ResolverConfiguration) -> Void = { _ in }
  ) async throws -> ResolverFixture {
    let fixture = try ResolverFixture(configure: configure)
    try await fixture.learn(ttl: 100)
    fixture.clock.advance(by: age)
    return fixture
  }

  // MARK: Answers

  @Test func `a miss asks, and the answer says where it is from`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer { _ in
      .answer(.addresses("192.0.2.1", "192.0.2.2", ttl: 60, alias: "edge.example.net"))
    }
    let resolution = try await fixture.resolver.resolve(Self.host)
    #expect(resolution.texts.sorted() == ["192.0.2.1", "192.0.2.2"])
    #expect(resolution.canonicalName == Sample.name("edge.example.net"))
    #expect(resolution.source == .provider("one"))
    #expect(resolution.freshness == .fresh)
    #expect(resolution.timeToLive == .seconds(60))
    #expect(resolution.age == .zero)
    #expect(fixture.transport.sent.map(\.question) == [AddressQuestion(Self.host, .ipv4)])
  }

  @Test(arguments: [[], AddressFamilies(rawValue: 4)])
  func `a lookup of no family asks nobody, and says of no name that it does not exist`(
    _ families: AddressFamilies
  ) async throws {
    let fixture = try await knowing(age: .zero)
    let options = LookupOptions(families: families)
    for host in [Self.host, try HostName("other.example.com"), try HostName("localhost")] {
      let lookup = await #expect(throws: DirectDNSError.self) {
        try await fixture.resolver.resolve(host, options: options)
      }
      #expect(lookup?.code == .invalidRequest && lookup?.message.contains("families is empty") == true)
      let ordinary = await #expect(throws: DirectDNSError.self) {
        try await fixture.resolver.resolveWithSystemDNS(host, options: options)
      }
      #expect(ordinary?.code == .invalidRequest)
      #expect(fixture.resolver.cached(host, options: options) == nil)
    }
    #expect(fixture.transport.sent.count == 1)
  }

  @Test func `a lifetime counts from when the query was sent`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Script.addresses("192.0.2.1", ttl: 100, after: .seconds(2)))
    let lookup = fixture.begin()
    await fixture.clock.waitForSleepers()
    fixture.clock.advance(by: .seconds(2))
    let resolution = try await lookup.value.get()
    #expect(resolution.age == .seconds(2))
    #expect(resolution.timeToLive == .seconds(98))
    #expect(fixture.resolver.cached(Self.host)?.timeToLive == .seconds(98))
  }

  @Test func `at least 1 s is left on arrival`() async throws {
    let fixture = try ResolverFixture { $0.cache.minimumTTL = .zero }
    fixture.transport.answer(Script.addresses("192.0.2.1", ttl: 1, after: .seconds(2)))
    let lookup = fixture.begin()
    await fixture.clock.waitForSleepers()
    fixture.clock.advance(by: .seconds(2))
    #expect(try await lookup.value.get().timeToLive == .seconds(1))
    #expect(fixture.resolver.cached(Self.host)?.timeToLive == .seconds(1))
  }

  @Test func `an answer of TTL 0 serves all who wait, and no one later`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Script.addresses("192.0.2.1", ttl: 0, after: .seconds(1)))
    let lookups = (0..<10).map { _ in fixture.begin() }
    await fixture.clock.waitForSleepers()
    fixture.clock.advance(by: .seconds(1))
    for lookup in lookups {
      let resolution = try await lookup.value.get()
      #expect(resolution.texts == ["192.0.2.1"])
      #expect(resolution.timeToLive == .zero)
    }
    #expect(fixture.transport.count == 1)
    fixture.transport.answer { _ in .down }
    #expect(await fixture.failure()?.code == .upstreamFailed)
    #expect(fixture.transport.count == 2)
  }

  @Test func `a name whose answer became TTL 0 is never served from before`() async throws {
    let fixture = try await knowing(age: .seconds(80))
    fixture.transport.answer(Script.addresses("192.0.2.2", ttl: 0))
    #expect(try await fixture.resolver.resolve(Self.host).freshness == .due)
    await fixture.settle()
    #expect(try await fixture.resolver.resolve(Self.host).texts == ["192.0.2.2"])
    fixture.transport.answer { _ in .down }
    #expect(await fixture.failure()?.code == .upstreamFailed)
  }

  // MARK: One query for many callers

  @Test func `any number of callers for one name share one query`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Script.addresses("192.0.2.1", after: .seconds(1)))
    let lookups = (0..<100).map { _ in fixture.begin() }
    await fixture.clock.waitForSleepers()
    #expect(fixture.transport.count == 1)
    fixture.clock.advance(by: .seconds(1))
    for lookup in lookups { #expect(try await lookup.value.get().texts == ["192.0.2.1"]) }
    #expect(fixture.transport.count == 1)
  }

  @Test func `an error reaches all who wait`() async throws {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    fixture.transport.answer { _ in .error(.connect("refused"), after: .seconds(1)) }
    let lookups = (0..<20).map { _ in fixture.begin() }
    await fixture.clock.waitForSleepers()
    fixture.clock.advance(by: .seconds(1))
    for lookup in lookups {
      let error = await lookup.value.error
      #expect(error?.code == .upstreamFailed)
      #expect(error?.attempts.map(\.server) == ["one"])
    }
    #expect(fixture.transport.count == 1)
  }

  @Test func `different names never wait for each other`() async throws {
    let fixture = try ResolverFixture()
    let slow = Sample.name("slow.example.net")
    fixture.transport.answer { $0.host == slow ? .silence : .answer(.addresses("192.0.2.1")) }
    let waiting = fixture.begin(slow)
    await fixture.clock.waitForSleepers()
    #expect(try await fixture.resolver.resolve(Self.host).texts == ["192.0.2.1"])
    fixture.clock.advance(by: .milliseconds(3500))
    #expect(await waiting.value.error?.code == .upstreamFailed)
  }

  @Test func `a cancelled caller leaves alone, and the query goes on for the others`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Script.addresses("192.0.2.1", after: .seconds(1)))
    let leaver = fixture.begin()
    let stayer = fixture.begin()
    await fixture.clock.waitForSleepers()
    leaver.cancel()
    let error = await leaver.value.error
    #expect(error?.code == .cancelled)
    #expect(error?.message.contains("www.example.net") == true)
    #expect(error?.underlying is CancellationError)
    fixture.clock.advance(by: .seconds(1))
    #expect(try await stayer.value.get().texts == ["192.0.2.1"])
    #expect(fixture.transport.cancelled.isEmpty)
  }

  @Test func `the query goes on when its only caller leaves, and its answer is kept`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Script.addresses("192.0.2.1", after: .seconds(1)))
    let leaver = fixture.begin()
    await fixture.clock.waitForSleepers()
    leaver.cancel()
    #expect(await leaver.value.error?.code == .cancelled)
    fixture.clock.advance(by: .seconds(1))
    await fixture.settle()
    #expect(fixture.resolver.cached(Self.host)?.texts == ["192.0.2.1"])
    #expect(fixture.transport.count == 1)
  }

  @Test func `a caller waits for as long as it wants to, whoever began the query`() async throws {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    fixture.transport.answer(Script.addresses("192.0.2.1", after: .seconds(20)))
    let patient = fixture.begin(options: LookupOptions(timeout: .seconds(60)))
    await fixture.clock.waitForSleepers()
    let usual = fixture.begin()
    let hurried = fixture.begin(options: LookupOptions(timeout: .seconds(1)))
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .seconds(1))
    #expect(await hurried.value.error?.code == .timedOut)
    fixture.clock.advance(by: .seconds(4))
    #expect(await usual.value.error?.code == .timedOut)
    fixture.clock.advance(by: .seconds(15))
    #expect(try await patient.value.get().texts == ["192.0.2.1"])
    #expect(fixture.transport.count == 1)
  }

  // MARK: Negative answers

  @Test(arguments: [
    (Answer.Negative.nameNotFound, DirectDNSError.Code.nameNotFound), (.noAddress, .noAddress),
  ])
  func `a negative answer is an error, and kept for its lifetime`(
    _ kind: Answer.Negative, _ code: DirectDNSError.Code
  ) async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer { _ in .answer(.negative(kind, ttl: 60)) }
    for _ in 0..<3 {
      let error = await fixture.failure()
      #expect(error?.code == code)
      #expect(error?.message.contains("www.example.net") == true)
    }
    #expect(fixture.transport.count == 1)
    fixture.clock.advance(by: .seconds(60) - .nanoseconds(1))
    #expect(await fixture.failure()?.code == code)
    #expect(fixture.transport.count == 1)
    fixture.clock.advance(by: .nanoseconds(1))
    #expect(await fixture.failure()?.code == code)
    #expect(fixture.transport.count == 2)
    #expect(fixture.system.count == 0)
  }

  @Test func `a negative answer without an SOA is not kept`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer { _ in .answer(.negative(.nameNotFound, ttl: nil)) }
    for count in 1...3 {
      #expect(await fixture.failure()?.code == .nameNotFound)
      #expect(fixture.transport.count == count)
    }
  }

  @Test func `a negative answer replaces a stale one at once`() async throws {
    let fixture = try await knowing(age: .seconds(200))
    fixture.transport.answer { _ in .answer(.negative(.nameNotFound, ttl: 60)) }
    #expect(await fixture.failure()?.code == .nameNotFound)
    fixture.transport.answer { _ in .down }
    fixture.clock.advance(by: .seconds(61))
    #expect(await fixture.failure(options: LookupOptions(expired: .preferred))?.code == .upstreamFailed)
  }

  @Test func `a negative answer that is not kept replaces a stale one all the same`() async throws {
    let fixture = try await knowing(age: .seconds(200))
    fixture.transport.answer { _ in .answer(.negative(.nameNotFound, ttl: nil)) }
    #expect(await fixture.failure()?.code == .nameNotFound)
    #expect(fixture.resolver.snapshot().isEmpty)
  }

  @Test func `stale errors are never served`() async throws {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    fixture.transport.answer { _ in .answer(.negative(.nameNotFound, ttl: 60)) }
    #expect(await fixture.failure()?.code == .nameNotFound)
    fixture.clock.advance(by: .seconds(60))
    fixture.transport.answer { _ in .down }
    for expired in ExpiredUse.allCases {
      #expect(await fixture.failure(options: LookupOptions(expired: expired))?.code == .upstreamFailed)
    }
  }
}
