// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct QueryTallyTests {
  @Test func `a query that was given up is no failure`() {
    var tally = QueryTally()
    tally.note(.success(.addresses("192.0.2.1")))
    tally.note(.failure(ProviderFailure(.cancelled, "given up")))
    tally.noteCancelled()
    tally.note(.failure(ProviderFailure(.response, "SERVFAIL")))
    #expect(tally.queries == 4 && tally.failed == 1)
    #expect((tally - QueryTally()) == tally)
    #expect((tally - tally) == QueryTally())
  }

  @Test func `a resolver counts what it asks of each provider and of the system's DNS`() async throws {
    let fixture = try ResolverFixture("one", "two")
    fixture.system.answer(Script.addresses("192.0.2.9"))
    _ = try await fixture.resolver.resolve(ResolverFixture.host)
    let tallies = fixture.resolver.tallies
    #expect(tallies.map(\.source) == ["one", "two", "system"])
    #expect(tallies.map(\.tally.queries) == [1, 1, 1])
    #expect(tallies.map(\.tally.failed) == [1, 1, 0])
  }
}
