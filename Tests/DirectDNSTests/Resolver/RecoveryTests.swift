// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// After an outage: the first answer of a server that is back ends the waits of all that it failed.
@Suite(.timeLimit(.minutes(1)))
struct RecoveryTests {
  private static func names(_ count: Int) -> [HostName] { (0..<count).map { Sample.name("n\($0).example.net") } }
  private static let stranger = Sample.name("never-asked-before.example")

  /// A resolver that knows names whose answers have just expired, and whose provider has been out for so long.
  ///
  /// Each name is looked up once a second meanwhile.
  private func outage(
    _ seconds: Int, _ names: [HostName], script: Script = .status(503), expired: Bool = true,
    configure: (inout ResolverConfiguration) -> Void = { $0.usesSystemDNS = false }
  ) async throws -> ResolverFixture {
    let fixture = try ResolverFixture(configure: configure)
    if expired {
      for name in names { try await fixture.learn(ttl: 10, host: name) }
      fixture.clock.advance(by: .seconds(100))
    }
    fixture.transport.answer { _ in script }
    for _ in 0..<seconds {
      for name in names { _ = await fixture.outcome(name) }
      fixture.clock.advance(by: .seconds(1))
    }
    fixture.transport.answer(Script.addresses("192.0.2.99", ttl: 1000))
    return fixture
  }

  @Test(arguments: [15, 40, 100], [1, 10, 100])
  func `an expired answer is fresh again within 2 s of a server's first success, and each is asked for once`(
    _ seconds: Int, _ count: Int
  ) async throws {
    let names = Self.names(count)
    let fixture = try await outage(seconds, names)
    // Whatever the waits are at that moment: some of them end by themselves in some of the cases.
    fixture.clock.advance(by: .milliseconds(10))
    _ = await fixture.outcome(Self.stranger)
    let before = fixture.transport.count
    var (fresh, most) = (0, 0)
    for _ in 0..<21 {
      let sent = fixture.transport.count
      fresh = 0
      for name in names where await fixture.outcome(name).resolution?.freshness == .fresh { fresh += 1 }
      most = max(most, fixture.transport.count - sent)
      fixture.clock.advance(by: .milliseconds(100))
    }
    #expect(fresh == count)
    #expect(fixture.transport.count == before + count)
    // Spread: a twentieth of them in each 100 ms, and five at least.
    let share = max(count / 20 + 1, 6)
    #expect(most <= share)
  }

  @Test func `a reply to a question for records ends them too`() async throws {
    let names = Self.names(3)
    let fixture = try await outage(5, names)
    _ = try? await fixture.resolver.askProviders(for: Self.stranger, .ipv4, timeout: .seconds(3))
    fixture.clock.advance(by: .milliseconds(40))
    for name in names { #expect(await fixture.outcome(name).resolution?.texts == ["192.0.2.99"]) }
  }

  @Test func `few names wait for nothing`() async throws {
    let names = Self.names(3)
    let fixture = try await outage(5, names)
    _ = await fixture.outcome(Self.stranger)
    fixture.clock.advance(by: .milliseconds(40))
    for name in names { #expect(await fixture.outcome(name).resolution?.texts == ["192.0.2.99"]) }
  }

  @Test(arguments: [Script.down, .error(.timedOut), .error(.tls("expired")), .code(.serverFailure)])
  func `in whatever way the server was out`(_ script: Script) async throws {
    let names = Self.names(2)
    let fixture = try await outage(5, names, script: script)
    _ = await fixture.outcome(Self.stranger)
    fixture.clock.advance(by: .seconds(2))
    for name in names { #expect(await fixture.outcome(name).resolution?.freshness == .fresh) }
  }

  @Test func `names without an answer are asked for again too`() async throws {
    let names = Self.names(20)
    let fixture = try await outage(20, names, expired: false)
    #expect(await fixture.outcome(names[0]).error?.code == .upstreamFailed)
    _ = await fixture.outcome(Self.stranger)
    fixture.clock.advance(by: .seconds(2))
    for name in names { #expect(await fixture.outcome(name).resolution?.freshness == .fresh) }
  }

  @Test func `what the system's DNS failed is asked for again when that is back`() async throws {
    let fixture = try ResolverFixture()
    let names = [Sample.name("printer.local"), Sample.name("nas.local")]
    fixture.system.answer(Script.addresses("10.0.0.7", ttl: 10))
    _ = await fixture.outcome(names[0])
    fixture.clock.advance(by: .seconds(100))
    fixture.system.answer { _ in .error(.connectionLost("unplugged")) }
    for _ in 0..<10 {
      #expect(await fixture.outcome(names[0]).resolution?.freshness == .stale)
      #expect(await fixture.outcome(names[1]).error != nil)
      fixture.clock.advance(by: .milliseconds(900))
    }
    fixture.system.answer(Script.addresses("10.0.0.9", ttl: 10))
    _ = await fixture.outcome(Sample.name("new.local"))
    fixture.clock.advance(by: .milliseconds(100))
    for name in names { #expect(await fixture.outcome(name).resolution?.texts == ["10.0.0.9"]) }
  }

  @Test func `another server's success ends no wait of what it was not asked for`() async throws {
    let fixture = try ResolverFixture("one", "two") { $0.usesSystemDNS = false }
    try await fixture.learn(ttl: 10)
    fixture.clock.advance(by: .seconds(100))
    // One says 429 and is not asked again: the name waits for the second one alone.
    fixture.transport.reply { $0.provider == "one" ? .status(429, retryAfter: 5) : .answer(.addresses("192.0.2.8")) }
    _ = await fixture.outcome(Self.stranger)
    fixture.transport.reply { _ in .down }
    _ = await fixture.outcome()
    #expect(fixture.transport.asked.suffix(1) == ["two"])
    fixture.clock.advance(by: .seconds(6))
    fixture.transport.reply { $0.provider == "one" ? .answer(.addresses("192.0.2.99")) : .down }
    _ = await fixture.outcome(Sample.name("second.example"))
    fixture.clock.advance(by: .seconds(5))
    let count = fixture.transport.count
    #expect(await fixture.outcome().resolution?.freshness == .stale)
    #expect(fixture.transport.count == count)
  }

  @Test func `a name that is broken by itself is not asked for with each answer to others`() async throws {
    let broken = ResolverFixture.host
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    try await fixture.learn(ttl: 10, host: broken)
    fixture.clock.advance(by: .seconds(100))
    fixture.transport.answer { $0.host == broken ? .code(.serverFailure) : .answer(.addresses("192.0.2.1", ttl: 0)) }
    for _ in 0..<300 {
      _ = await fixture.outcome(broken)
      _ = await fixture.outcome(Self.stranger)
      fixture.clock.advance(by: .seconds(1))
    }
    let asked = fixture.transport.sent.filter { $0.question.host == broken }.map(\.at)
    // After 1, 2, 4, 8 and 16 s, then every 30 s.
    #expect((12...16).contains(asked.count), "\(asked)")
    for (earlier, later) in zip(asked.dropFirst(8), asked.dropFirst(9)) { #expect(later - earlier >= .seconds(30)) }
  }

  @Test func `a name that is kept alive is refreshed as soon as its server is back, without being asked for`()
    async throws
  {
    let names = Self.names(5)
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    fixture.transport.answer(Script.addresses("192.0.2.1", ttl: 100))
    fixture.resolver.keepAlive(Set(names))
    await fixture.transport.waitForSent(5)
    await fixture.pass(.zero)
    fixture.transport.answer { _ in .status(503) }
    for _ in 0..<150 { await fixture.pass(.seconds(1)) }
    fixture.transport.answer(Script.addresses("192.0.2.99", ttl: 1000))
    let before = fixture.transport.count
    _ = await fixture.outcome(Self.stranger)
    for place in 0..<5 {
      await fixture.pass(.zero)
      #expect(fixture.transport.count == before + 1 + place + 1)
      await fixture.pass(.milliseconds(20))
    }
    for name in names { #expect(fixture.resolver.cached(name)?.texts == ["192.0.2.99"]) }
    #expect(fixture.transport.count == before + 1 + 5)
  }
}
