// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// Lookups that have to ask: what is waited for, and what serves when nobody answers.
@Suite(.timeLimit(.minutes(1)))
struct ResolverAskingTests {
  private static let host = ResolverFixture.host
  private static let gone = Duration.seconds(100 + 86_400 + 1)

  /// A fixture that knows an answer of 100 s, so long ago.
  private func knowing(
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

  // MARK: The life of an answer

  @Test(arguments: [(80.0, Resolution.Freshness.due), (110, .grace)])
  func `an answer that is due or in grace is handed out at once, while one refresh runs`(
    _ age: Double, _ freshness: Resolution.Freshness
  ) async throws {
    let fixture = try await knowing(age: .seconds(age))
    fixture.transport.answer(Script.addresses("192.0.2.2", ttl: 100, after: .seconds(1)))
    for _ in 0..<5 {
      let resolution = try await fixture.resolver.resolve(Self.host)
      #expect(resolution.freshness == freshness)
      #expect(resolution.texts == ["192.0.2.1"])
    }
    await fixture.clock.waitForSleepers()
    #expect(fixture.transport.count == 2)
    fixture.clock.advance(by: .seconds(1))
    await fixture.settle()
    #expect(try await fixture.resolver.resolve(Self.host).texts == ["192.0.2.2"])
    #expect(fixture.transport.count == 2)
  }

  @Test func `a stale answer waits for the refresh, and the fresh one is used when it comes in time`()
    async throws
  {
    let fixture = try await knowing(age: .seconds(200))
    fixture.transport.answer(Script.addresses("192.0.2.2", after: .milliseconds(299)))
    let lookup = fixture.begin()
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .milliseconds(299))
    let resolution = try await lookup.value.get()
    #expect(resolution.texts == ["192.0.2.2"])
    #expect(resolution.freshness == .fresh)
    #expect(await ProcessState.eventually { fixture.clock.sleeperCount == 0 })
  }

  @Test func `patience ends after 300 ms with the stale answer, and the refresh goes on`() async throws {
    let fixture = try await knowing(age: .seconds(200))
    fixture.transport.answer(Script.addresses("192.0.2.2", after: .seconds(1)))
    let lookup = fixture.begin()
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .milliseconds(300))
    let resolution = try await lookup.value.get()
    #expect(resolution.texts == ["192.0.2.1"])
    #expect(resolution.freshness == .stale)
    #expect(resolution.expiredFor == .milliseconds(100_300))
    fixture.clock.advance(by: .milliseconds(700))
    await fixture.settle()
    #expect(fixture.resolver.cached(Self.host)?.texts == ["192.0.2.2"])
    #expect(fixture.transport.count == 2)
    #expect(fixture.transport.cancelled.isEmpty)
  }

  @Test(arguments: [(0, 300), (100, 200), (299, 1), (300, 0), (2000, 0)])
  func `patience is the refresh's, and whoever comes while it is under way waits for the rest of it`(
    _ after: Int, _ rest: Int
  ) async throws {
    let fixture = try await knowing(age: .seconds(200))
    fixture.transport.answer { _ in .silence }
    let first = fixture.begin()
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .milliseconds(after))
    let second = fixture.begin()
    if rest > 0 {
      // It would have ended by now.
      fixture.clock.advance(by: .milliseconds(rest) - .nanoseconds(1))
      #expect(fixture.resolver.lookups.look { $0.lookupCount } > 0)
      fixture.clock.advance(by: .nanoseconds(1))
    }
    #expect(await second.value.resolution?.freshness == .stale)
    #expect(await first.value.resolution?.freshness == .stale)
    #expect(fixture.clock.now == Sample.at(200) + .milliseconds(after + rest))
    #expect(fixture.transport.count == 2)
  }

  @Test func `a family that has been silent for long holds up no answer of the other's`() async throws {
    let fixture = try ResolverFixture { $0.families = .any }
    fixture.transport.answer { $0.family == .ipv4 ? .answer(.addresses("192.0.2.1", ttl: 100)) : .silence }
    let first = fixture.begin()
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .milliseconds(50))
    #expect(await first.value.resolution?.texts == ["192.0.2.1"])
    // It may still come.
    let second = fixture.begin()
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .milliseconds(50))
    #expect(await second.value.resolution?.texts == ["192.0.2.1"])
    fixture.clock.advance(by: .milliseconds(200))
    for _ in 0..<3 { #expect(try await fixture.resolver.resolve(Self.host).texts == ["192.0.2.1"]) }
    #expect(fixture.clock.now == Sample.at(0.3))
    #expect(fixture.transport.count == 2)
  }

  @Test func `patience is not waited out when the refresh fails`() async throws {
    let fixture = try await knowing(age: .seconds(200))
    fixture.transport.answer { _ in .down }
    let resolution = try await fixture.resolver.resolve(Self.host)
    #expect(resolution.freshness == .stale)
    #expect(fixture.transport.count == 2)
    #expect(fixture.clock.now == Sample.at(200))
  }

  @Test func `a caller with less time than patience waits for less`() async throws {
    let fixture = try await knowing(age: .seconds(200))
    fixture.transport.answer { _ in .silence }
    let lookup = fixture.begin(options: LookupOptions(timeout: .milliseconds(50)))
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .milliseconds(50))
    #expect(await lookup.value.resolution?.freshness == .stale)
  }

  @Test func `a stale entry whose refresh failed is not asked for again for 30 s`() async throws {
    let fixture = try await knowing(age: .seconds(200))
    fixture.transport.answer { _ in .down }
    for (milliseconds, queries) in [(0, 2), (1000, 2), (28_999, 2), (1, 3), (29_999, 3), (1, 4)] {
      fixture.clock.advance(by: .milliseconds(milliseconds))
      #expect(try await fixture.resolver.resolve(Self.host).freshness == .stale)
      #expect(fixture.resolver.cached(Self.host)?.freshness == .stale)
      #expect(fixture.transport.count == queries)
    }
  }

  @Test func `the system's answers live for a minute at most, whatever the least that others live`() async throws {
    let fixture = try ResolverFixture { $0.cache.minimumTTL = .seconds(600) }
    fixture.transport.reply { _ in .down }
    fixture.system.answer(Script.addresses("192.0.2.9", ttl: 3000))
    #expect(await fixture.outcome().resolution?.timeToLive == .seconds(60))
  }

  @Test func `a stale entry of the system's DNS is not asked for again for 30 s either`() async throws {
    let fixture = try ResolverFixture()
    let printer = Sample.name("printer.local")
    fixture.system.answer(Script.addresses("10.0.0.7", ttl: 10))
    _ = await fixture.outcome(printer)
    fixture.clock.advance(by: .seconds(100))
    fixture.system.answer { _ in .error(.connectionLost("unplugged")) }
    for _ in 0..<29 {
      #expect(await fixture.outcome(printer).resolution?.freshness == .stale)
      fixture.clock.advance(by: .seconds(1))
    }
    #expect(fixture.system.count == 2)
    fixture.clock.advance(by: .seconds(1))
    _ = await fixture.outcome(printer)
    #expect(fixture.system.count == 3)
  }

  @Test func `a caller who refuses expired answers waits for a fresh one`() async throws {
    let fixture = try await knowing(age: .seconds(110))
    fixture.transport.answer(Script.addresses("192.0.2.2"))
    let fresh = try await fixture.resolver.resolve(Self.host, options: LookupOptions(expired: .refused))
    #expect(fresh.texts == ["192.0.2.2"])
    fixture.clock.advance(by: .seconds(400))
    fixture.transport.answer { _ in .down }
    #expect(await fixture.failure(options: LookupOptions(expired: .refused))?.code == .upstreamFailed)
    #expect(await fixture.outcome().resolution?.freshness == .stale)
  }

  @Test func `a caller who prefers expired answers gets any at once, while the refresh runs`() async throws {
    let fixture = try await knowing(age: .seconds(86_000))
    fixture.transport.answer(Script.addresses("192.0.2.2", after: .seconds(1)))
    let resolution = try await fixture.resolver.resolve(
      Self.host, options: LookupOptions(expired: .preferred))
    #expect(resolution.texts == ["192.0.2.1"])
    #expect(resolution.freshness == .grace)
    #expect(resolution.expiredFor == .seconds(85_900))
    await fixture.clock.waitForSleepers()
    #expect(fixture.transport.count == 2)
    fixture.clock.advance(by: .seconds(1))
    await fixture.settle()
  }

  @Test func `what is gone is never served, not even to those who prefer expired answers`() async throws {
    let fixture = try await knowing(age: Self.gone)
    fixture.transport.answer { _ in .down }
    #expect(await fixture.failure(options: LookupOptions(expired: .preferred))?.code == .upstreamFailed)
  }

  @Test func `a wait for a fresh answer ends with the expired one when that may serve by then`() async throws {
    let fixture = try await knowing(age: .seconds(99))
    fixture.resolver.networkDidChange()
    fixture.transport.answer { _ in .down }
    #expect(try await fixture.resolver.resolve(Self.host).freshness == .due)
    await fixture.settle()
    fixture.clock.advance(by: .seconds(60))
    #expect(try await fixture.resolver.resolve(Self.host).freshness == .stale)
  }

  // MARK: One flight

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
      #expect(error?.attempts.map(\.provider) == ["one"])
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

  // MARK: Failures

  @Test func `a failure is remembered for 1 s, then for twice as long each time, to 30 s`() async throws {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    fixture.transport.answer { _ in .code(.serverFailure) }
    for (index, seconds) in [1, 2, 4, 8, 16, 30, 30].enumerated() {
      #expect(await fixture.failure()?.code == .upstreamFailed)
      #expect(fixture.transport.count == index + 1)
      fixture.clock.advance(by: .seconds(seconds) - .nanoseconds(1))
      let error = await fixture.failure()
      #expect(error?.attempts.map(\.provider) == ["one"])
      #expect(fixture.transport.count == index + 1)
      fixture.clock.advance(by: .nanoseconds(1))
    }
  }

  @Test(arguments: [
    Script.code(.serverFailure), .code(.refused), .code(.formatError), .down, .error(.tls("expired")),
    .error(.connectionLost("reset")), .error(.bodyTooLarge), .status(500), .status(403), .status(302),
    .status(429),
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

  // MARK: Two families

  @Test func `A and AAAA are asked together`() async throws {
    let fixture = try ResolverFixture { $0.families = .any }
    fixture.transport.answer { _ in .silence }
    let lookup = fixture.begin()
    await fixture.clock.waitForSleepers(2)
    #expect(Set(fixture.transport.sent.map(\.question.family)) == [.ipv4, .ipv6])
    #expect(fixture.transport.sent.allSatisfy { $0.at == Sample.at(0) })
    lookup.cancel()
    _ = await lookup.value
  }

  /// A fixture whose families answer after so many milliseconds, or not with addresses.
  private func racing(_ ipv4: Script, _ ipv6: Script) throws -> ResolverFixture {
    let fixture = try ResolverFixture {
      $0.families = .any
      $0.usesSystemDNS = false
    }
    fixture.transport.answer { $0.family == .ipv4 ? ipv4 : ipv6 }
    return fixture
  }

  private static func four(_ milliseconds: Int = 0) -> Script {
    .answer(.addresses("192.0.2.1"), after: .milliseconds(milliseconds))
  }
  private static func six(_ milliseconds: Int = 0) -> Script {
    .answer(.addresses("2001:db8::1"), after: .milliseconds(milliseconds))
  }

  /// A fixture one of whose families answers at once, and the other one later.
  private func racing(first: IPAddress.Family, after milliseconds: Int) throws -> ResolverFixture {
    try first == .ipv4
      ? racing(Self.four(), Self.six(milliseconds)) : racing(Self.four(milliseconds), Self.six())
  }

  private static func text(_ family: IPAddress.Family) -> String { family == .ipv4 ? "192.0.2.1" : "2001:db8::1" }
  private static let both: Set = ["192.0.2.1", "2001:db8::1"]

  @Test(arguments: IPAddress.Family.allCases)
  func `the family that comes second has 50 ms more, whichever it is`(_ first: IPAddress.Family) async throws {
    let fixture = try racing(first: first, after: 49)
    let lookup = fixture.begin()
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .milliseconds(49))
    #expect(Set(try await lookup.value.get().texts) == Self.both)
  }

  @Test(arguments: IPAddress.Family.allCases)
  func `one family goes alone after 50 ms, and the other joins the entry later`(
    _ first: IPAddress.Family
  ) async throws {
    let fixture = try racing(first: first, after: 80)
    let lookup = fixture.begin()
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .milliseconds(50))
    #expect(try await lookup.value.get().texts == [Self.text(first)])
    fixture.clock.advance(by: .milliseconds(30))
    await fixture.settle()
    #expect(Set(fixture.resolver.cached(Self.host)?.texts ?? []) == Self.both)
    #expect(fixture.transport.count == 2)
  }

  @Test func `who connects has the preferred family at once`() async throws {
    let fixture = try racing(Self.four(500), Self.six(500))
    let first: IPAddress.Family = fixture.resolver.prefersIPv6 ? .ipv6 : .ipv4
    fixture.transport.answer { $0.family == first ? (first == .ipv6 ? Self.six() : Self.four()) : .silence }
    var options = LookupOptions()
    options.purpose = .connecting
    #expect(try await fixture.resolver.resolve(Self.host, options: options).texts == [Self.text(first)])
  }

  @Test(arguments: IPAddress.Family.allCases)
  func `a family that nobody asked for yet has 50 ms, while the cache has the other one`(
    _ known: IPAddress.Family
  ) async throws {
    let fixture = try racing(Self.four(), Self.six())
    _ = try await fixture.resolver.resolve(Self.host, options: LookupOptions(families: .init(known)))
    #expect(Set(try await fixture.resolver.resolve(Self.host).texts) == Self.both)
    let slow = try racing(first: known, after: 60)
    _ = try await slow.resolver.resolve(Self.host, options: LookupOptions(families: .init(known)))
    let lookup = slow.begin()
    await slow.clock.waitForSleepers(2)
    slow.clock.advance(by: .milliseconds(50))
    #expect(try await lookup.value.get().texts == [Self.text(known)])
    // Who connects is told of it by the race.
    var options = LookupOptions()
    options.purpose = .connecting
    #expect(try await slow.resolver.resolve(Self.host, options: options).texts == [Self.text(known)])
  }

  @Test func `a family that had none is not waited for again`() async throws {
    let fixture = try racing(
      .answer(.addresses("192.0.2.1", ttl: 3600)), .answer(.negative(.noAddress, ttl: 10)))
    _ = try await fixture.resolver.resolve(Self.host)
    fixture.clock.advance(by: .seconds(20))
    fixture.transport.answer { _ in .silence }
    #expect(try await fixture.resolver.resolve(Self.host).texts == ["192.0.2.1"])
    #expect(fixture.transport.sent.count { $0.question.family == .ipv6 } == 2)
  }

  @Test func `the first use of an answer begins where its server says`() async throws {
    let addresses = ["192.0.2.3", "192.0.2.1", "192.0.2.2"]
    for step in 0..<20 {
      let fixture = try ResolverFixture()
      fixture.clock.advance(by: .milliseconds(37 * step))
      fixture.transport.answer { _ in .answer(Answer(.addresses(addresses.map(Sample.address)), ttl: 100)) }
      #expect(try await fixture.resolver.resolve(Self.host).texts == addresses)
    }
  }

  @Test(arguments: [
    Script.answer(.negative(.noAddress)), .answer(.negative(.nameNotFound)), .code(.serverFailure), .down,
  ])
  func `a family that failed or has nothing does not end the lookup while the other is open`(
    _ script: Script
  ) async throws {
    for (fixture, expected) in [
      (try racing(Self.four(1000), script), "192.0.2.1"), (try racing(script, Self.six(1000)), "2001:db8::1"),
    ] {
      let lookup = fixture.begin()
      await fixture.clock.waitForSleepers()
      fixture.clock.advance(by: .milliseconds(1000))
      #expect(try await lookup.value.get().texts == [expected])
      #expect(fixture.resolver.cached(Self.host)?.texts == [expected])
    }
  }

  @Test func `not found only if both families say so`() async throws {
    let missing = Script.answer(.negative(.nameNotFound))
    let empty = Script.answer(.negative(.noAddress))
    #expect(await (try racing(missing, missing)).failure()?.code == .nameNotFound)
    #expect(await (try racing(missing, empty)).failure()?.code == .noAddress)
    #expect(await (try racing(empty, missing)).failure()?.code == .noAddress)
    #expect(await (try racing(empty, empty)).failure()?.code == .noAddress)
  }

  @Test func `a family that failed is no proof that the name does not exist`() async throws {
    let missing = Script.answer(.negative(.nameNotFound))
    #expect(await (try racing(missing, .down)).failure()?.code == .upstreamFailed)
    #expect(await (try racing(.down, missing)).failure()?.code == .upstreamFailed)
  }

  @Test func `a known negative answer of one family is not asked for again with the other`() async throws {
    let fixture = try racing(.answer(.negative(.noAddress, ttl: 300)), .code(.serverFailure))
    #expect(await fixture.failure()?.code == .upstreamFailed)
    fixture.clock.advance(by: .seconds(2))
    fixture.transport.answer { _ in Self.six() }
    #expect(try await fixture.resolver.resolve(Self.host).texts == ["2001:db8::1"])
    #expect(fixture.transport.sent.map(\.question.family).count { $0 == .ipv4 } == 1)
  }

  @Test(arguments: [AddressFamilies.ipv4, .ipv6])
  func `a caller who wants one family asks for no other`(_ families: AddressFamilies) async throws {
    let fixture = try racing(Self.four(), Self.six())
    let resolution = try await fixture.resolver.resolve(
      Self.host, options: LookupOptions(families: families))
    #expect(resolution.texts == (families == .ipv4 ? ["192.0.2.1"] : ["2001:db8::1"]))
    #expect(fixture.transport.count == 1)
    #expect(fixture.transport.sent.map(\.question.family) == families.members)
  }

  @Test func `two families with two lifetimes are refreshed each on its own`() async throws {
    let fixture = try racing(
      .answer(.addresses("192.0.2.1", ttl: 100)), .answer(.addresses("2001:db8::1", ttl: 1000)))
    _ = await fixture.outcome()
    await fixture.settle()
    fixture.clock.advance(by: .seconds(80))
    #expect(fixture.resolver.cached(Self.host)?.freshness == .due)
    await fixture.settle()
    #expect(fixture.transport.sent.map(\.question.family).count { $0 == .ipv4 } == 2)
    #expect(fixture.transport.sent.map(\.question.family).count { $0 == .ipv6 } == 1)
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
    #expect(error?.attempts.map(\.provider) == ["one"])
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
    #expect(error?.attempts.map(\.provider) == ["one"])
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
    #expect(error?.attempts.contains { $0.provider == "one" } == true)
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
    #expect(await fixture.failure()?.attempts.map(\.provider) == ["one", "system"])
    fixture.clock.advance(by: .milliseconds(999))
    #expect(await fixture.failure()?.attempts.map(\.provider) == ["one", "system"])
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
