// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct KeepAliveTests {
  private static let host = ResolverFixture.host

  /// A fixture whose one kept-alive name has been asked for once.
  private func begun(
    ttl: UInt32 = 100, _ names: Set<HostName> = [host],
    _ script: (@Sendable (AddressQuestion) -> Script)? = nil
  ) async throws -> ResolverFixture {
    let fixture = try ResolverFixture { $0.cache.minimumTTL = .zero }
    fixture.transport.answer(script ?? Script.addresses("192.0.2.1", ttl: ttl))
    fixture.resolver.keepAlive(names)
    await fixture.transport.waitForSent(names.count)
    for name in names { await fixture.settle(name) }
    await fixture.clock.waitForSleepers()
    return fixture
  }

  @Test func `no more names are kept alive than there is room for, and those first that were`() throws {
    let fixture = try ResolverFixture { $0.capacity = 2 }
    func keep(_ names: String...) -> [String] {
      fixture.resolver.keepAlive(Set(names.map { Sample.name($0) }))
      return fixture.resolver.lookups.look { $0.keptAlive.names.map(\.description).sorted() }
    }
    #expect(keep("c.example", "b.example", "a.example") == ["a.example", "b.example"])
    #expect(keep("c.example") == ["c.example"])
    #expect(keep("a.example", "b.example", "c.example") == ["a.example", "c.example"])
    #expect(fixture.resolver.cacheStatistics.names == 2)
  }

  @Test func `a kept-alive name that is forgotten is asked for anew at once`() async throws {
    let fixture = try await begun(ttl: 3600)
    fixture.transport.answer(Script.addresses("192.0.2.2", ttl: 3600))
    fixture.resolver.invalidate(Self.host)
    await fixture.transport.waitForSent(2)
    await fixture.settle()
    #expect(fixture.resolver.cached(Self.host)?.texts == ["192.0.2.2"])
  }

  @Test func `what failed on the network before is asked for again within two seconds`() async throws {
    let fixture = try await begun(ttl: 10)
    fixture.transport.answer { _ in .down }
    for count in 2...5 {
      await fixture.clock.waitForSleepers()
      fixture.clock.advance(by: .seconds(10))
      await fixture.transport.waitForSent(count)
      await fixture.settle()
    }
    fixture.transport.answer(Script.addresses("192.0.2.2", ttl: 10))
    fixture.resolver.networkDidChange()
    await fixture.clock.waitForSleepers()
    fixture.clock.advance(by: .seconds(2))
    await fixture.transport.waitForSent(6)
    await fixture.settle()
    #expect(fixture.resolver.cached(Self.host)?.texts == ["192.0.2.2"])
  }

  @Test func `a kept-alive name is asked for before anyone wants it`() async throws {
    let fixture = try await begun()
    #expect(fixture.resolver.cached(Self.host)?.texts == ["192.0.2.1"])
    #expect(fixture.transport.count == 1)
  }

  @Test(arguments: [UInt32(1), 10, 100, 3600])
  func `it is refreshed between 65 and 85 % of its TTL, again and again`(_ ttl: UInt32) async throws {
    let fixture = try await begun(ttl: ttl)
    for round in 1...5 {
      await fixture.pass(.seconds(Int64(ttl)) * 649 / 1000)
      #expect(fixture.transport.count == round)
      fixture.clock.advance(by: .seconds(Int64(ttl)) * 202 / 1000)
      await fixture.transport.waitForSent(round + 1)
      await fixture.settle()
      let refreshed = try #require(fixture.transport.sent.last?.at)
      #expect(refreshed == fixture.clock.now)
    }
  }

  @Test func `names that were asked for together are not refreshed together`() async throws {
    let names = Set((0..<40).map { Sample.name("n\($0).example.net") })
    let fixture = try await begun(ttl: 1000, names)
    fixture.clock.advance(by: .seconds(640))
    for _ in 0..<36 {
      // Whoever is due is refreshed, and its next time is settled.
      await fixture.pass(.seconds(6))
    }
    #expect(fixture.transport.count == 80)
    #expect(Set(fixture.transport.sent.suffix(40).map(\.at)).count > 10)
  }

  @Test func `an answer of TTL 0 is asked for again after a while, not at once and for ever`() async throws {
    let fixture = try await begun(ttl: 0)
    #expect(fixture.transport.count == 1)
    fixture.clock.advance(by: .seconds(1))
    await fixture.transport.waitForSent(2)
    await fixture.settle()
    await fixture.clock.waitForSleepers()
    #expect(fixture.transport.count == 2)
  }

  @Test func `a negative answer without an SOA is asked for again after a while`() async throws {
    let fixture = try await begun { _ in .answer(.negative(.nameNotFound, ttl: nil)) }
    #expect(fixture.transport.count == 1)
  }

  @Test func `after a failure it tries again in 1 s, then 2 s, and then at its usual time`() async throws {
    let fixture = try await begun(ttl: 100)
    fixture.transport.reply { _ in .down }
    fixture.clock.advance(by: .seconds(85))
    await fixture.transport.waitForSent(2)
    await fixture.settle()
    await fixture.clock.waitForSleepers()
    fixture.clock.advance(by: .seconds(1))
    await fixture.transport.waitForSent(3)
    await fixture.settle()
    await fixture.clock.waitForSleepers()
    fixture.transport.answer(Script.addresses("192.0.2.2", ttl: 100))
    await fixture.pass(.seconds(1))
    #expect(fixture.transport.count == 3)
    fixture.clock.advance(by: .seconds(1))
    await fixture.transport.waitForSent(4)
    await fixture.settle()
    await fixture.clock.waitForSleepers()
    #expect(fixture.resolver.cached(Self.host)?.texts == ["192.0.2.2"])
    await fixture.pass(.seconds(64))
    #expect(fixture.transport.count == 4)
  }

  /// A fixture whose one kept-alive name is asked for by both families; A lives 60 s.
  private func both(ipv6: @escaping @Sendable () -> Script) async throws -> ResolverFixture {
    let fixture = try ResolverFixture {
      $0.cache.minimumTTL = .zero
      $0.families = .any
    }
    fixture.transport.answer { question in
      question.family == .ipv4 ? .answer(.addresses("192.0.2.1", ttl: 60)) : ipv6()
    }
    fixture.resolver.keepAlive([Self.host])
    await fixture.transport.waitForSent(2)
    await fixture.settle()
    return fixture
  }

  private func asked(_ fixture: ResolverFixture, _ family: IPAddress.Family) -> Int {
    fixture.transport.sent.count { $0.question.family == family }
  }

  @Test func `each family is asked for by its own lifetime`() async throws {
    let fixture = try await both { .answer(.addresses("2001:db8::1", ttl: 6)) }
    for _ in 0..<30 { await fixture.pass(.seconds(1)) }
    #expect(asked(fixture, .ipv4) == 1 && (5...9).contains(asked(fixture, .ipv6)))
    for _ in 0..<30 { await fixture.pass(.seconds(1)) }
    #expect(asked(fixture, .ipv4) == 2)
  }

  @Test func `a family that fails waits like any failure, and the other is left alone`() async throws {
    let isDown = Locked(false)
    let fixture = try await both { isDown.withLock(\.self) ? .status(500) : .answer(.addresses("2001:db8::1", ttl: 4)) }
    isDown.withLock { $0 = true }
    for _ in 0..<38 { await fixture.pass(.seconds(1)) }
    // After 1, 2, 4, 8 and 16 s.
    #expect(asked(fixture, .ipv4) == 1 && (5...7).contains(asked(fixture, .ipv6)))
    isDown.withLock { $0 = false }
    for _ in 0..<31 { await fixture.pass(.seconds(1)) }
    #expect(fixture.resolver.cached(Self.host)?.texts.contains("2001:db8::1") == true)
  }

  @Test(arguments: [
    Script.status(500), .answer(.negative(.noAddress, ttl: 5)), .answer(.negative(.noAddress, ttl: nil)),
  ])
  func `a family that never had an address goes along with the other`(_ script: Script) async throws {
    let fixture = try await both { script }
    for _ in 0..<120 { await fixture.pass(.seconds(1)) }
    #expect(asked(fixture, .ipv6) == asked(fixture, .ipv4) && (2...4).contains(asked(fixture, .ipv4)))
  }

  @Test func `a name that is no longer kept alive is left alone`() async throws {
    let fixture = try await begun()
    fixture.resolver.keepAlive([])
    await fixture.pass(.seconds(90))
    #expect(fixture.transport.count == 1)
    #expect(await fixture.clock.waitForNoSleepers())
  }

  @Test func `names that nobody can be asked for are not asked for`() async throws {
    let names = [Sample.name("localhost"), Sample.name("a.onion"), Sample.name("a.invalid")]
    let fixture = try ResolverFixture { $0.keepAlive = Set(names) }
    await fixture.clock.waitForSleepers()
    #expect(fixture.resolver.lookups.look { $0.keptAlive.failing.count } == 3)
    #expect(fixture.transport.count == 0)
    #expect(fixture.system.count == 0)
  }

  @Test func `a slow name keeps no other waiting`() async throws {
    let slow = Sample.name("slow.example.net")
    let fixture = try ResolverFixture { $0.cache.minimumTTL = .zero }
    fixture.transport.answer { $0.host == slow ? .silence : .answer(.addresses("192.0.2.1", ttl: 1)) }
    fixture.resolver.keepAlive([Self.host, slow])
    await fixture.transport.waitForSent(2)
    for round in 3...5 {
      // One waits for its turn, the other for its reply.
      await fixture.settle(Self.host)
      await fixture.clock.waitForSleepers(2)
      fixture.clock.advance(by: .milliseconds(850))
      await fixture.transport.waitForSent(round)
    }
    #expect(fixture.transport.sent.count { $0.question.host == slow } == 1)
  }
}
