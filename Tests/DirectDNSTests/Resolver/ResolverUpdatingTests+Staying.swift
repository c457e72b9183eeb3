// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// What stays as it is when a resolver goes on by another configuration.
extension ResolverUpdatingTests {
  @Test func `the cache stays, and answers say where they came from although that provider has gone`() async throws {
    let fixture = try ResolverFixture("one", "two")
    try await fixture.learn()
    try update(fixture) { $0.providers = providers("three", "two") }
    let kept = try #require(fixture.resolver.cached(Self.host))
    #expect(kept.source == .provider("one") && kept.freshness == .fresh)
    try await fixture.learn(host: Sample.name("new.example"))
    #expect(fixture.resolver.cached(Sample.name("new.example"))?.source == .provider("three"))
    #expect(fixture.resolver.snapshot().map(\.source) == [.provider("three"), .provider("one")])
    #expect(fixture.transport.asked == ["one", "three"])
  }

  @Test func `answers of the system's DNS are forgotten once it is switched off`() async throws {
    let fixture = try ResolverFixture("one")
    fixture.transport.answer { _ in .down }
    fixture.system.answer { _ in .answer(.addresses("192.0.2.66", ttl: 60)) }
    _ = try await fixture.resolver.resolve(Self.host)
    #expect(fixture.resolver.snapshot().map(\.source) == [.system])
    try update(fixture) { $0.usesSystemDNS = false }
    #expect(fixture.resolver.cached(Self.host) == nil && fixture.resolver.snapshot().isEmpty)

    // One that is under way counts no more, either.
    try update(fixture) { $0.usesSystemDNS = true }
    fixture.clock.advance(by: .seconds(2))
    fixture.system.answer { _ in .answer(.addresses("192.0.2.66", ttl: 60), after: .seconds(1)) }
    let lookup = fixture.begin()
    await fixture.system.waitForAsked(2)
    await fixture.clock.waitForSleepers()
    try update(fixture) { $0.usesSystemDNS = false }
    fixture.clock.advance(by: .seconds(1))
    _ = await lookup.value
    #expect(fixture.resolver.snapshot().isEmpty)
  }

  @Test(arguments: [true, false])
  func `a lookup under way goes on, and its answer is kept unless its provider has gone`(_ isGone: Bool) async throws {
    let fixture = try ResolverFixture("one")
    fixture.transport.reply { _ in .answer(.addresses("192.0.2.7"), after: .seconds(1)) }
    let lookup = fixture.begin()
    await fixture.clock.waitForSleepers()
    try update(fixture) { $0.providers = isGone ? providers("two") : providers("two", "one") }
    fixture.clock.advance(by: .seconds(1))
    #expect(try await lookup.value.get().texts == ["192.0.2.7"])
    #expect(fixture.resolver.snapshot().map(\.source) == (isGone ? [] : [.provider("one")]))
  }

  @Test func `the breaker of a provider that stays is open still`() async throws {
    let fixture = try ResolverFixture("one", "two") { $0.hedges = false }
    fixture.transport.reply { $0.provider == "one" ? .down : .answer(.addresses("192.0.2.1")) }
    for number in 0..<4 { _ = await fixture.outcome(Sample.name("n\(number).example")) }
    #expect(fixture.transport.asked.last == "two")
    try update(fixture) { $0.providers = providers("one", "three") }
    _ = await fixture.outcome(Sample.name("later.example"))
    #expect(fixture.transport.asked.last == "three")
  }

  @Test func `what the resolver is built around stays as it was made`() throws {
    let fixture = try ResolverFixture { $0.capacity = 7 }
    try update(fixture) {
      $0.capacity = 1
      $0.storeTimeout = .seconds(9)
      $0.observer = nil
      $0.store = MemoryAnswerStore()
      $0.timeout = .seconds(2)
    }
    let configuration = fixture.resolver.configuration
    #expect(configuration.capacity == 7 && configuration.storeTimeout == .milliseconds(50))
    #expect(configuration.observer != nil && configuration.store == nil)
    #expect(configuration.timeout == .seconds(2))
  }

  @Test func `the same settings once more leave what has failed alone`() async throws {
    let fixture = try ResolverFixture("one") { $0.usesSystemDNS = false }
    #expect(await fixture.failure()?.code == .upstreamFailed)
    try fixture.resolver.update(fixture.resolver.configuration)
    #expect(await fixture.failure()?.code == .upstreamFailed)
    #expect(fixture.transport.count == 1)
  }
}
