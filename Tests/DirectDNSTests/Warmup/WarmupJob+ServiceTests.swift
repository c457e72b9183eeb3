// SPDX-License-Identifier: Apache-2.0
import Logging
import ServiceLifecycle
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// A warm-up in a service group, before the pipeline that needs it.
@Suite(.timeLimit(.minutes(1)))
struct WarmupJobServiceTests {
  /// Waits for the warm-up, then for the end.
  private struct Pipeline: Service {
    let warmup: WarmupJob
    let began = Watched<WarmupReport?>(nil)

    func run() async throws {
      let report = try await warmup.ready
      began.change { $0 = report }
      try await gracefulShutdown()
    }
  }

  private func job(
    _ fixture: ResolverFixture, _ change: (inout WarmupPlan) -> Void = { _ in }
  ) throws -> WarmupJob {
    var plan = WarmupPlan(names: ["a.example", "b.example"])
    plan.timeout = nil
    plan.retry = .never
    change(&plan)
    return try WarmupJob(plan, resolver: fixture.resolver)
  }

  private func group(_ services: any Service...) -> ServiceGroup {
    ServiceGroup(services: services, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
  }

  @Test func `a pipeline begins when the warm-up has ended, and not before`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Script.addresses("192.0.2.1", after: .seconds(1)))
    let warmup = try job(fixture)
    let pipeline = Pipeline(warmup: warmup)
    let group = group(warmup, pipeline)
    let running = Task { try await group.run() }
    await fixture.transport.waitForSent(2)
    await fixture.clock.waitForSleepers(2)
    #expect(pipeline.began.value == nil)
    fixture.clock.advance(by: .seconds(1))
    await pipeline.began.wait { $0 != nil }
    #expect(pipeline.began.value?.readiness == .complete)
    await group.triggerGracefulShutdown()
    try await running.value
  }

  @Test func `a pipeline begins degraded, and is told`() async throws {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    let warmup = try job(fixture)
    let pipeline = Pipeline(warmup: warmup)
    let group = group(warmup, pipeline)
    let running = Task { try await group.run() }
    await pipeline.began.wait { $0 != nil }
    #expect(pipeline.began.value?.readiness == .missed)
    await group.triggerGracefulShutdown()
    try await running.value
  }

  @Test func `where the plan wants that, a missed minimum ends the group, and the pipeline never begins`() async throws
  {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    let warmup = try job(fixture) { $0.shortfall = .fails }
    let pipeline = Pipeline(warmup: warmup)
    let error = await #expect(throws: DirectDNSError.self) { try await group(warmup, pipeline).run() }
    #expect(error?.code == .warmupMissed)
    #expect(pipeline.began.value == nil)
  }

  @Test func `a shutdown that comes first stops the warm-up, and the pipeline never begins`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.reply { _ in .silence }
    let warmup = try job(fixture)
    let pipeline = Pipeline(warmup: warmup)
    let group = group(warmup, pipeline)
    let running = Task { try await group.run() }
    await fixture.transport.waitForSent(2)
    await fixture.clock.waitForSleepers(2)
    warmup.stop(.stopped, DirectDNSError(.shutDown, "ended"))
    let error = await #expect(throws: DirectDNSError.self) { try await running.value }
    #expect(error?.code == .shutDown)
    #expect(pipeline.began.value == nil)
  }

  @Test func `at the end the store has been told`() async throws {
    let clock = ManualClock()
    let store = MemoryAnswerStore(clock: clock)
    let fixture = try ResolverFixture(clock: clock) { $0.store = store }
    fixture.transport.answer(Script.addresses("192.0.2.1"))
    let warmup = try job(fixture)
    let pipeline = Pipeline(warmup: warmup)
    let group = group(warmup, pipeline)
    let running = Task { try await group.run() }
    await pipeline.began.wait { $0 != nil }
    await group.triggerGracefulShutdown()
    try await running.value
    #expect(store.read([AddressQuestion(Sample.name("a.example"), .ipv4)]).count == 1)
  }
}
