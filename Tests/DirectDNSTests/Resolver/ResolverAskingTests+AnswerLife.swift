// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// An answer that is due, in grace or expired.
extension ResolverAskingTests {
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
    #expect(await fixture.clock.waitForNoSleepers())
  }

  @Test func `after the client response timeout the stale answer serves, and the refresh goes on`() async throws {
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
  func `the client response timeout is the refresh's, and whoever comes while it is under way waits for the rest of it`(
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
      fixture.resolver.lookups.send { $0.timePassed(at: $1) }
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

  @Test func `the client response timeout is not waited out when the refresh fails`() async throws {
    let fixture = try await knowing(age: .seconds(200))
    fixture.transport.answer { _ in .down }
    let resolution = try await fixture.resolver.resolve(Self.host)
    #expect(resolution.freshness == .stale)
    #expect(fixture.transport.count == 2)
    #expect(fixture.clock.now == Sample.at(200))
  }

  @Test func `a caller with less time than the client response timeout waits for less`() async throws {
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
}
