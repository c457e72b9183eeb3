// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct WarmupJobTests {
  /// A plan without a deadline, so that only what is looked up sleeps.
  func plan(_ names: [String], _ change: (inout WarmupPlan) -> Void = { _ in }) -> WarmupPlan {
    var plan = WarmupPlan(names: names)
    plan.timeout = nil
    change(&plan)
    return plan
  }

  func names(_ count: Int) -> [String] { (0..<count).map { "h\($0).example" } }

  static let good: @Sendable (AddressQuestion) -> Script = Script.addresses("192.0.2.1")

  // MARK: Names

  @Test func `names are looked up once, however they are spelled and wherever they come from`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Self.good)
    let more = AsyncStream { feed in
      for name in ["b.example.", "BÜCHER.example", "c.example"] { feed.yield(name) }
      feed.finish()
    }
    let plan = plan([]) {
      $0.sources = [.names(["a.example", "A.Example", "b.example", "xn--bcher-kva.example"]), .sequence(more)]
    }
    let report = try await WarmupJob(plan, resolver: fixture.resolver).warmUp()
    #expect(report.names == 4 && report.duplicates == 3 && report.resolved == 4)
    #expect(fixture.transport.count == 4)
    #expect(report.end == .finished && report.readiness == .complete && report.isListComplete)
    #expect(report.queries == [.init(provider: "one", queries: 4, failed: 0)])
    #expect(fixture.resolver.cached("c.example")?.texts == ["192.0.2.1"])
  }

  @Test func `what is no name is reported with its place, and stops nothing`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Self.good)
    let text = AsyncStream { feed in
      feed.yield(Array("# list\na.example\nb..example\n192.0.2.7\n\nc.example\n".utf8))
      feed.finish()
    }
    let plan = plan([]) { $0.sources = [.lines(text, name: "hosts.txt")] }
    let report = try await WarmupJob(plan, resolver: fixture.resolver).warmUp()
    #expect(report.resolved == 2 && report.names == 2)
    #expect(report.rejected.map { "\($0.place?.description ?? "")" } == ["hosts.txt:3", "hosts.txt:4"])
    #expect(report.readiness == .complete)
  }

  @Test func `an empty list is done at once, and is enough for whoever wants nothing`() async throws {
    let fixture = try ResolverFixture()
    let report = try await WarmupJob(plan([]), resolver: fixture.resolver).warmUp()
    #expect(report.end == .finished && report.names == 0 && report.readiness == .missed)
    for minimum in [WarmupMinimum.names(0), .share(0)] {
      let report = try await WarmupJob(plan([]) { $0.minimum = minimum }, resolver: fixture.resolver).warmUp()
      #expect(report.readiness == .complete)
    }
  }

  @Test func `names that cannot be read are an error, and what was read before is done`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Self.good)
    let plan = plan([]) { $0.sources = [.names(["a.example"]), .file("/nowhere/hosts.txt")] }
    let job = try WarmupJob(plan, resolver: fixture.resolver)
    let error = await #expect(throws: DirectDNSError.self) { try await job.warmUp() }
    #expect(error?.code == .fileUnusable)
    let ready = await #expect(throws: DirectDNSError.self) { try await job.ready }
    #expect(ready?.code == .fileUnusable)
  }

  @Test func `a long sequence makes neither the cache nor the report larger than they may be`() async throws {
    let fixture = try ResolverFixture { $0.capacity = 100 }
    fixture.transport.answer { _ in .answer(.negative(.nameNotFound)) }
    let count = Sanitizer.volume(of: 3000, atLeast: WarmupReport.listLimit + 100)
    let handedOut = Locked(0)
    let names = AsyncStream<String> {
      let number = handedOut.withLock {
        $0 += 1
        return $0
      }
      return number <= count ? "h\(number).example" : nil
    }
    let job = try WarmupJob(plan([]) { $0.sources = [.sequence(names)] }, resolver: fixture.resolver)
    let report = try await job.warmUp()
    #expect(report.negative == count)
    #expect(report.failures.count == WarmupReport.listLimit)
    #expect(fixture.resolver.cacheStatistics.names <= 100)
  }

  @Test func `a sequence is asked for no more names than can soon be looked up`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.reply { _ in .silence }
    let handedOut = Watched(0)
    let names = AsyncStream<String> {
      let number = handedOut.change { count in
        count += 1
        return count
      }
      return "h\(number).example"
    }
    let job = try WarmupJob(plan([]) { $0.sources = [.sequence(names)] }, resolver: fixture.resolver)
    let running = Task { try await job.warmUp() }
    await handedOut.wait { $0 >= 64 + WarmupQueue.room }
    await fixture.clock.waitForSleepers(64)
    job.stop()
    let report = try await running.value
    #expect(handedOut.value <= 64 + WarmupQueue.room + 2)
    #expect(report.end == .stopped && !report.isListComplete && report.unfinished == report.names)
  }

  @Test func `a job whose resolver is shut down says that it was stopped`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.reply { _ in .silence }
    let job = try WarmupJob(plan(names(5)), resolver: fixture.resolver)
    let running = Task { try await job.warmUp() }
    await fixture.clock.waitForSleepers(5)
    fixture.resolver.shutdown()
    let outcome = await running.result
    guard case .failure(let error as DirectDNSError) = outcome else {
      let report = try outcome.get()
      #expect(report.end == .stopped && report.unfinished == 5 && report.readiness != .complete)
      return
    }
    #expect(error.code != .invalidConfiguration)
  }

  @Test func `a job whose resolver was shut down ends at once, and not at its rate`() async throws {
    let fixture = try ResolverFixture()
    fixture.resolver.shutdown()
    let job = try WarmupJob(plan(names(50)) { $0.rate = 1 }, resolver: fixture.resolver)
    let report = try await job.warmUp()
    #expect(report.end == .stopped && report.unfinished == report.names)
    #expect(fixture.clock.now == Sample.at(0))
  }

  // MARK: What is known

  @Test func `a second warm-up asks only for what is due`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer { .answer(.addresses("192.0.2.1", ttl: $0.host.text.hasPrefix("h0") ? 100 : 1000)) }
    _ = try await WarmupJob(plan(names(5)), resolver: fixture.resolver).warmUp()
    let again = try await WarmupJob(plan(names(5)), resolver: fixture.resolver).warmUp()
    #expect(again.fromCache == 5 && again.queries.isEmpty && fixture.transport.count == 5)
    fixture.clock.advance(by: .seconds(80))
    let third = try await WarmupJob(plan(names(5)), resolver: fixture.resolver).warmUp()
    #expect(third.fromCache == 4 && third.resolved == 1)
    #expect(third.queries == [.init(provider: "one", queries: 1, failed: 0)])
    #expect(fixture.transport.sent.last?.question.host.text == "h0.example")
  }

  @Test func `what the store has counts as such`() async throws {
    let clock = ManualClock()
    let store = MemoryAnswerStore(clock: clock)
    let first = try ResolverFixture(clock: clock) { $0.store = store }
    first.transport.answer(Self.good)
    _ = try await WarmupJob(plan(names(5)), resolver: first.resolver).warmUp()
    await first.resolver.flushStore()
    let second = try ResolverFixture(clock: clock) { $0.store = store }
    let report = try await WarmupJob(plan(names(5)), resolver: second.resolver).warmUp()
    #expect(report.fromStore == 5 && report.expired == 0 && report.readiness == .complete)
    #expect(second.transport.count == 0)
  }

  @Test func `a process starts from stored answers when every provider is dead, and says so`() async throws {
    let clock = ManualClock()
    let store = MemoryAnswerStore(clock: clock)
    let first = try ResolverFixture(clock: clock) { $0.store = store }
    first.transport.answer(Self.good)
    _ = try await WarmupJob(plan(names(5)), resolver: first.resolver).warmUp()
    await first.resolver.flushStore()
    clock.advance(by: .seconds(7200))
    let second = try ResolverFixture(clock: clock) { $0.store = store }
    let job = try WarmupJob(plan(names(5) + ["new.example"]) { $0.retry = .never }, resolver: second.resolver)
    _ = try await job.warmUp()
    let report = try await job.ready
    #expect(report.fromStore == 5 && report.expired == 5 && report.failed == 1)
    #expect(report.failures.map(\.host.text) == ["new.example"])
    #expect(report.readiness == .missed && report.minimum == .all)
    #expect(second.resolver.cached("h0.example")?.freshness == .stale)
  }

  // MARK: Failures

  @Test func `a name that fails is tried again after a pause, others meanwhile`() async throws {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    fixture.transport.answer { $0.host.text == "h0.example" ? .down : .answer(.addresses("192.0.2.1")) }
    let job = try WarmupJob(plan(names(3)), resolver: fixture.resolver)
    let running = Task { try await job.warmUp() }
    await fixture.transport.waitForSent(3)
    await fixture.clock.waitForSleepers()
    fixture.transport.answer(Self.good)
    fixture.clock.advance(by: .milliseconds(999))
    #expect(fixture.transport.count == 3)
    fixture.clock.advance(by: .milliseconds(101))
    let report = try await running.value
    #expect(report.resolved == 3 && report.readiness == .complete)
    #expect(fixture.transport.count == 4)
  }

  @Test func `a name that fails for good is told with everyone who was asked`() async throws {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    let job = try WarmupJob(plan(["a.example"]), resolver: fixture.resolver)
    let running = Task { try await job.warmUp() }
    for pause in [1100, 2200] {
      await fixture.clock.waitForSleepers()
      fixture.clock.advance(by: .milliseconds(Int64(pause)))
    }
    let report = try await running.value
    #expect(fixture.transport.count == 3)
    #expect(report.failed == 1 && report.reasons == [.init(code: .upstreamFailed, names: 1)])
    #expect(report.failures[0].message.contains("one: "))
    #expect(!report.isMinimumReached && report.readiness == .missed)
  }

  @Test func `a negative answer is not tried again`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer { _ in .answer(.negative(.nameNotFound)) }
    let report = try await WarmupJob(plan(["a.example"]), resolver: fixture.resolver).warmUp()
    #expect(report.negative == 1 && fixture.transport.count == 1)
    #expect(report.failures.map(\.code) == [.nameNotFound])
  }
}
