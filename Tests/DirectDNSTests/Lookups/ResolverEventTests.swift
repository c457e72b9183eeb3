import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct ResolverEventTests {
  /// An event as a short text.
  private func text(_ event: ResolverEvent) -> String {
    switch event {
    case .attempt(let attempt):
      "\(attempt.provider) \(attempt.question.type)\(attempt.isHedge ? " hedge" : ""): \(attempt.outcome)"
    case .hit(let host, let freshness): "hit \(host) \(freshness)"
    case .refresh(let host): "refresh \(host)"
    case .evicted(let count): "evicted \(count)"
    case .store(let name, .failed): "\(name) failed"
    case .store(let name, .recovered): "\(name) recovered"
    case .store(let name, .dropped(let count)): "\(name) dropped \(count)"
    }
  }

  @Test func `a lookup's life is told as it happens`() async throws {
    let laboratory = try Laboratory()
    try await laboratory.learn(ttl: 100)
    laboratory.clock.advance(by: .seconds(80))
    _ = laboratory.resolver.cached(Laboratory.host)
    await laboratory.settle()
    laboratory.clock.advance(by: .seconds(200))
    laboratory.transport.answer { _ in .down }
    _ = try await laboratory.resolver.resolve(Laboratory.host)
    let told = laboratory.events.map(text)
    #expect(told.count { $0 == "one A: 1 address, TTL 100 s" } == 2)
    #expect(told.contains("hit www.example.net due"))
    #expect(told.contains("refresh www.example.net"))
    #expect(told.suffix(2) == ["one A: no connection: refused", "hit www.example.net stale"])
  }

  @Test func `the system's DNS is told of like a provider`() async throws {
    let laboratory = try Laboratory()
    laboratory.system.answer(Script.addresses("192.0.2.9", ttl: 300))
    _ = await laboratory.outcome()
    #expect(
      laboratory.events.map(text) == ["one A: no connection: refused", "system A: 1 address, TTL 60 s"])
    #expect(laboratory.attempts.last?.origin == "system")
  }

  @Test func `a hedge is marked`() async throws {
    let laboratory = try Laboratory("one", "two")
    laboratory.transport.reply { $0.provider == "one" ? .silence : .answer(.addresses("192.0.2.1", ttl: 60)) }
    let lookup = laboratory.begin()
    await laboratory.clock.waitForSleepers(2)
    laboratory.clock.advance(by: .milliseconds(150))
    _ = try await lookup.value.get()
    #expect(laboratory.events.map(text).contains("two A hedge: 1 address, TTL 60 s"))
    // The loser is told of when its transport has let go of it.
    #expect(await ProcessState.eventually { laboratory.attempts.contains { $0.provider == "one" && !$0.isHedge } })
  }

  @Test func `an attempt's time is told`() async throws {
    let laboratory = try Laboratory()
    laboratory.transport.answer(Script.addresses("192.0.2.1", after: .milliseconds(70)))
    let lookup = laboratory.begin()
    await laboratory.clock.waitForSleepers()
    laboratory.clock.advance(by: .milliseconds(70))
    _ = try await lookup.value.get()
    #expect(laboratory.attempts.map(\.duration) == [.milliseconds(70)])
  }

  @Test func `names that had to leave the cache are counted`() async throws {
    let laboratory = try Laboratory { $0.capacity = 2 }
    for number in 0..<4 { try await laboratory.learn(host: Sample.name("n\(number).example")) }
    #expect(laboratory.events.map(text).count { $0 == "evicted 1" } == 2)
  }
}
