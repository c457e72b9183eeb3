// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct ResolverEventTests {
  /// An event as a short text.
  private func text(_ event: ResolverEvent) -> String {
    switch event {
    case .query(let query):
      "\(query.provider) \(query.question.type)\(query.isHedge ? " hedge" : ""): \(query.outcome)"
    case .hit(let host, let freshness): "hit \(host) \(freshness)"
    case .refresh(let host): "refresh \(host)"
    case .evicted(let count): "evicted \(count)"
    case .recordQuery(let query): "\(query.provider) \(query.question)"
    case .store(let name, .failed): "\(name) failed"
    case .store(let name, .recovered): "\(name) recovered"
    case .store(let name, .dropped(let count)): "\(name) dropped \(count)"
    }
  }

  @Test func `a lookup's life is told as it happens`() async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn(ttl: 100)
    fixture.clock.advance(by: .seconds(80))
    _ = fixture.resolver.cached(ResolverFixture.host)
    await fixture.settle()
    fixture.clock.advance(by: .seconds(200))
    fixture.transport.answer { _ in .down }
    _ = try await fixture.resolver.resolve(ResolverFixture.host)
    let told = fixture.events.map(text)
    #expect(told.count { $0 == "one A: 1 address, TTL 100 s" } == 2)
    #expect(told.contains("hit www.example.net due"))
    #expect(told.contains("refresh www.example.net"))
    #expect(told.suffix(2) == ["one A: no connection: refused", "hit www.example.net stale"])
  }

  @Test func `the system's DNS is told of like a provider`() async throws {
    let fixture = try ResolverFixture()
    fixture.system.answer(Script.addresses("192.0.2.9", ttl: 300))
    _ = await fixture.outcome()
    #expect(
      fixture.events.map(text) == ["one A: no connection: refused", "system A: 1 address, TTL 60 s"])
    #expect(fixture.queries.last?.origin == "system")
  }

  @Test func `a hedge is marked`() async throws {
    let fixture = try ResolverFixture("one", "two")
    fixture.transport.reply { $0.provider == "one" ? .silence : .answer(.addresses("192.0.2.1", ttl: 60)) }
    let lookup = fixture.begin()
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .milliseconds(150))
    _ = try await lookup.value.get()
    #expect(fixture.events.map(text).contains("two A hedge: 1 address, TTL 60 s"))
    // The loser is told of when its transport has let go of it.
    await fixture.waitForEvents { events in
      events.contains { event in
        if case .query(let query) = event { query.provider == "one" && !query.isHedge } else { false }
      }
    }
  }

  @Test func `a query's time is told`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Script.addresses("192.0.2.1", after: .milliseconds(70)))
    let lookup = fixture.begin()
    await fixture.clock.waitForSleepers()
    fixture.clock.advance(by: .milliseconds(70))
    _ = try await lookup.value.get()
    #expect(fixture.queries.map(\.duration) == [.milliseconds(70)])
  }

  @Test func `names that had to leave the cache are counted`() async throws {
    let fixture = try ResolverFixture { $0.capacity = 2 }
    for number in 0..<4 { try await fixture.learn(host: Sample.name("n\(number).example")) }
    #expect(fixture.events.map(text).count { $0 == "evicted 1" } == 2)
  }
}
