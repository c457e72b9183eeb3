// SPDX-License-Identifier: Apache-2.0
import Logging
import ServiceLifecycle
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// Several processes beside one store.
extension ResolverStoreTests {
  @Test func `one member asks, and the others get its answer`() async throws {
    let (first, second) = (try member(), try member())
    for fixture in [first, second] {
      fixture.transport.answer(Script.addresses("192.0.2.1", after: .milliseconds(20)))
    }
    let lookups = [first.begin(), second.begin()]
    #expect(await ProcessState.eventually { second.resolver.lookups.look(\.waitsForLease) })
    clock.advance(by: .milliseconds(20))
    #expect(await lookups[0].value.resolution?.source == .provider("one"))
    await store.wait(for: .endLease(Self.question))
    clock.advance(by: .milliseconds(30))
    #expect(await lookups[1].value.resolution?.source == .store)
    #expect(second.transport.asked.isEmpty)
  }

  @Test func `who has an answer that is due serves it, while another refreshes`() async throws {
    let (first, second) = (try member(), try member())
    try await first.learn("192.0.2.1", ttl: 100)
    await first.resolver.flushStore()
    _ = try await second.resolver.resolve(Self.host)
    clock.advance(by: .seconds(80))
    for fixture in [first, second] {
      fixture.transport.answer(Script.addresses("192.0.2.2", after: .milliseconds(20)))
    }
    #expect(first.resolver.cached(Self.host)?.freshness == .due)
    #expect(second.resolver.cached(Self.host)?.freshness == .due)
    #expect(await ProcessState.eventually { second.resolver.lookups.look(\.waitsForLease) })
    clock.advance(by: .milliseconds(20))
    await first.settle()
    await store.wait(for: .endLease(Self.question))
    await first.resolver.flushStore()
    clock.advance(by: .milliseconds(30))
    await second.settle()
    #expect(second.resolver.cached(Self.host)?.texts == ["192.0.2.2"])
    #expect(second.transport.asked.isEmpty)
  }

  @Test func `a member whose holder died asks itself after the client response timeout`() async throws {
    #expect(store.memory.takeLease(on: Self.question, holder: "dead", for: .seconds(6)))
    let fixture = try member()
    fixture.transport.answer(Script.addresses("192.0.2.1"))
    let begun = clock.now
    let lookup = fixture.begin()
    for _ in 0..<6 {
      await clock.waitForSleepers()
      clock.advance(by: .milliseconds(50))
    }
    #expect(await lookup.value.resolution?.texts == ["192.0.2.1"])
    #expect(clock.now - begun == .milliseconds(300))
    // The dead one's lease is left to end by itself.
    #expect(!store.calls.contains(.endLease(Self.question)))
  }

  @Test func `a member that failed lets the next one try`() async throws {
    let (first, second) = (try member(), try member())
    first.transport.answer { _ in .down }
    second.transport.answer(Script.addresses("192.0.2.1"))
    #expect(await first.failure()?.code == .upstreamFailed)
    // The call is recorded before the lease has ended.
    await first.resolver.flushStore()
    #expect(try await second.resolver.resolve(Self.host).texts == ["192.0.2.1"])
  }

  @Test func `an answer that came just before the lease was had is used`() async throws {
    let fixture = try member()
    store.hang(.leasing)
    let lookup = fixture.begin()
    await store.wait(for: .takeLease(Self.question))
    remember("192.0.2.7")
    store.hang()
    #expect(await lookup.value.resolution?.source == .store)
    #expect(fixture.transport.asked.isEmpty)
    await store.wait(for: .endLease(Self.question))
  }
}
