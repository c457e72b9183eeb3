// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// What a warm-up owes to who listens, and does not owe to who has stopped.
@Suite(.timeLimit(.minutes(1)))
struct WarmupEventsTests {
  private static let count = WarmupChannel.room * 3

  private func job(_ fixture: ResolverFixture) throws -> WarmupJob {
    fixture.transport.answer(Script.addresses("192.0.2.1"))
    var plan = WarmupPlan(names: (0..<Self.count).map { "h\($0).example" })
    plan.timeout = nil
    return try WarmupJob(plan, resolver: fixture.resolver)
  }

  @Test func `who leaves the loop by break holds up no start, even if the sequence is kept`() async throws {
    let fixture = try ResolverFixture()
    let job = try job(fixture)
    let events = job.events()
    let running = Task { try await job.warmUp() }
    for await _ in events { break }
    #expect(try await running.value.resolved == Self.count)
    for await _ in events { Issue.record("a second loop gets nothing") }
  }

  @Test func `who begins to listen after the end hears all of it`() async throws {
    let fixture = try ResolverFixture()
    let job = try job(fixture)
    let events = job.events()
    #expect(try await job.warmUp().resolved == Self.count)
    #expect(await events.reduce(0) { count, _ in count + 1 } == Self.count)
  }
}
