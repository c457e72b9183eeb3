// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct WarmupJobTests {
  /// A plan without a deadline, so that only what is looked up sleeps.
  private func plan(_ names: [String], _ change: (inout WarmupPlan) -> Void = { _ in }) -> WarmupPlan {
    var plan = WarmupPlan(names: names)
    plan.timeout = nil
    change(&plan)
    return plan
  }

  private func names(_ count: Int) -> [String] { (0..<count).map { "h\($0).example" } }

  private static let good: @Sendable (AddressQuestion) -> Script = Script.addresses("192.0.2.1")

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
    #expect(report.end == .finished && report.standing == .complete && report.isListComplete)
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
    #expect(report.standing == .complete)
  }

  @Test func `an empty list is done at once, and is enough for whoever wants nothing`() async throws {
    let fixture = try ResolverFixture()
    let report = try await WarmupJob(plan([]), resolver: fixture.resolver).warmUp()
    #expect(report.end == .finished && report.names == 0 && report.standing == .missed)
    for minimum in [WarmupMinimum.names(0), .share(0)] {
      let report = try await WarmupJob(plan([]) { $0.minimum = minimum }, resolver: fixture.resolver).warmUp()
      #expect(report.standing == .complete)
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
    let handedOut = Locked(0)
    let names = AsyncStream<String> {
      let number = handedOut.withLock {
        $0 += 1
        return $0
      }
      return number <= 3000 ? "h\(number).example" : nil
    }
    let job = try WarmupJob(plan([]) { $0.sources = [.sequence(names)] }, resolver: fixture.resolver)
    let report = try await job.warmUp()
    #expect(report.negative == 3000)
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
      #expect(report.end == .stopped && report.unfinished == 5 && report.standing != .complete)
      return
    }
    #expect(error.code != .invalidConfiguration)
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
    #expect(report.fromStore == 5 && report.expired == 0 && report.standing == .complete)
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
    #expect(report.standing == .missed && report.minimum == .all)
    #expect(second.resolver.cached("h0.example")?.freshness == .stale)
  }

  // MARK: Pace

  @Test func `no more names are under way than the plan wants`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Script.addresses("192.0.2.1", after: .seconds(1)))
    let job = try WarmupJob(plan(names(9)) { $0.concurrency = 4 }, resolver: fixture.resolver)
    let running = Task { try await job.warmUp() }
    for sent in [4, 8, 9] {
      await fixture.transport.waitForSent(sent)
      await fixture.clock.waitForSleepers(sent == 9 ? 1 : 4)
      #expect(fixture.transport.count == sent)
      fixture.clock.advance(by: .seconds(1))
    }
    #expect(try await running.value.resolved == 9)
  }

  @Test func `no more names begin in a second than the plan wants`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Self.good)
    let job = try WarmupJob(plan(names(5)) { $0.rate = 4 }, resolver: fixture.resolver)
    let running = Task { try await job.warmUp() }
    for sent in 1...4 {
      await fixture.transport.waitForSent(sent)
      await fixture.clock.waitForSleepers()
      #expect(fixture.transport.count == sent)
      fixture.clock.advance(by: .milliseconds(250))
    }
    let report = try await running.value
    #expect(report.resolved == 5 && report.durationMs == 1000)
  }

  @Test func `with one provider of a low rate names wait for their turn, and none fails by its deadline`() async throws
  {
    let fixture = try ResolverFixture {
      $0.families = .any
      $0.providers[0].rateLimit = RateLimit(perSecond: 20)
      $0.usesSystemDNS = false
    }
    fixture.transport.answer(Self.good)
    let job = try WarmupJob(plan(names(200)), resolver: fixture.resolver)
    let running = Task { try await job.warmUp() }
    // 400 queries, of which 20 may go out at once, and then one every 50 ms; steps that never end just there.
    let step = Duration.microseconds(47_300)
    var elapsed = Duration.zero
    while fixture.transport.count < 400 {
      // Those who are about to wait for their turn get a moment for it; who comes late loses a turn and no more.
      for _ in 0..<1000 where fixture.clock.sleeperCount < min(18, 400 - fixture.transport.count) {
        await Task.yield()
      }
      #expect(fixture.transport.count <= 20 + Int(elapsed / .milliseconds(50)))
      fixture.clock.advance(by: step)
      elapsed += step
    }
    let report = try await running.value
    #expect(report.resolved == 200 && report.failed == 0)
    #expect((18_900...21_000).contains(report.durationMs))
  }

  @Test func `a provider that says 429 is left alone until its Retry-After is over, and no name is lost`() async throws
  {
    let fixture = try ResolverFixture {
      $0.usesSystemDNS = false
      // Time moves on although replies may still be on their way: that is not to end a lookup.
      $0.timeout = .seconds(3600)
    }
    // A server that takes five queries in any second.
    let taken = Locked<[Int64: Int]>([:])
    fixture.transport.reply { sent in
      let second = sent.at.nanoseconds / 1_000_000_000
      let count = taken.withLock {
        $0[second, default: 0] += 1
        return $0[second, default: 0]
      }
      return count <= 5 ? .answer(.addresses("192.0.2.1")) : .status(429, retryAfter: 2)
    }
    let job = try WarmupJob(plan(names(40)), resolver: fixture.resolver)
    let running = Task { try await job.warmUp() }
    let time = Task { [clock = fixture.clock] in
      while !Task.isCancelled {
        await clock.waitForSleepers()
        // Most of those who can go on do so before time moves.
        for _ in 0..<500 { await Task.yield() }
        clock.advance(by: .milliseconds(500))
      }
    }
    let report = try await running.value
    time.cancel()
    #expect(report.resolved == 40 && report.failed == 0)
    let refused = fixture.transport.sent.count - 40
    #expect(refused < 100, "it asks fewer at a time when it is turned away")
  }

  @Test
  func `a provider that asks for no query for a day is asked again after an hour, and the report says so meanwhile`()
    async throws
  {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    fixture.transport.reply { _ in .status(429, retryAfter: 86_400) }
    let job = try WarmupJob(plan(names(3)), resolver: fixture.resolver)
    let running = Task { try await job.warmUp() }
    #expect(await ProcessState.eventually { job.report.pause != nil })
    #expect(job.report.pause == WarmupReport.Pause(provider: "one", left: .seconds(3600)))
    #expect(job.report.summary.contains("one wanted no query for 3600 s more (429)"))
    let asked = fixture.transport.count
    fixture.transport.answer(Self.good)
    await fixture.clock.waitForSleepers()
    fixture.clock.advance(by: .seconds(3599))
    #expect(fixture.transport.count == asked)
    await fixture.clock.waitForSleepers()
    fixture.clock.advance(by: .seconds(1))
    let report = try await running.value
    #expect(report.resolved == 3 && report.pause == nil)
  }

  @Test func `where one provider wants no query the other is asked, and nothing pauses`() async throws {
    let fixture = try ResolverFixture("one", "two") { $0.usesSystemDNS = false }
    fixture.transport.reply {
      $0.provider == "one" ? .status(429, retryAfter: 86_400) : .answer(.addresses("192.0.2.1"))
    }
    let job = try WarmupJob(plan(names(40)), resolver: fixture.resolver)
    let report = try await job.warmUp()
    #expect(report.resolved == 40 && report.pause == nil)
  }

  @Test func `a warm-up whose time ends in a pause says whom it waited for`() async throws {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    fixture.transport.reply { _ in .status(429, retryAfter: 100) }
    let job = try WarmupJob(plan(names(3)) { $0.timeout = .seconds(60) }, resolver: fixture.resolver)
    let running = Task { try await job.warmUp() }
    #expect(await ProcessState.eventually { job.report.pause != nil })
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .seconds(60))
    let report = try await running.value
    #expect(report.end == .deadline && report.pause == WarmupReport.Pause(provider: "one", left: .seconds(40)))
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
    #expect(report.resolved == 3 && report.standing == .complete)
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
    #expect(!report.isMinimumReached && report.standing == .missed)
  }

  @Test func `a negative answer is not tried again`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer { _ in .answer(.negative(.nameNotFound)) }
    let report = try await WarmupJob(plan(["a.example"]), resolver: fixture.resolver).warmUp()
    #expect(report.negative == 1 && fixture.transport.count == 1)
    #expect(report.failures.map(\.code) == [.nameNotFound])
  }

  // MARK: The end

  @Test func `at the deadline it ends, what is done stays, and what had failed has failed`() async throws {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    fixture.transport.answer {
      switch $0.host.text {
      case "good.example": .answer(.addresses("192.0.2.1"))
      case "bad.example": .down
      default: .silence
      }
    }
    let plan = plan(["good.example", "bad.example", "slow.example", "late.example"]) {
      $0.timeout = .milliseconds(500)
      $0.concurrency = 2
      $0.minimum = .names(1)
    }
    let job = try WarmupJob(plan, resolver: fixture.resolver)
    let running = Task { try await job.warmUp() }
    await fixture.transport.waitForSent(4)
    await fixture.clock.waitForSleepers(3)
    fixture.clock.advance(by: .milliseconds(500))
    let report = try await running.value
    #expect(report.end == .deadline && report.wasCutShort && report.durationMs == 500)
    #expect((report.resolved, report.failed, report.unfinished) == (1, 1, 2))
    #expect(report.failures.map(\.host.text) == ["bad.example"])
    #expect(report.isMinimumReached && report.standing == .degraded)
  }

  @Test func `a task that is cancelled ends it, and the report comes all the same`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.reply { _ in .silence }
    let job = try WarmupJob(plan(names(3)), resolver: fixture.resolver)
    let running = Task { try await job.warmUp() }
    await fixture.clock.waitForSleepers(3)
    #expect(job.report.end == .running && job.report.names == 3)
    running.cancel()
    let report = try await running.value
    #expect(report.end == .stopped && report.unfinished == 3)
    #expect(try await job.ready == report)
  }

  @Test func `a source that hands out nothing does not hold up the end`() async throws {
    let fixture = try ResolverFixture()
    let gate = Gate()
    let names = AsyncStream<String> {
      try? await gate.pass()
      return nil
    }
    let job = try WarmupJob(
      plan([]) {
        $0.sources = [.sequence(names)]
        $0.timeout = .seconds(1)
      }, resolver: fixture.resolver)
    let running = Task { try await job.warmUp() }
    await gate.waitForArrivals()
    await fixture.clock.waitForSleepers()
    fixture.clock.advance(by: .seconds(1))
    #expect(try await running.value.end == .deadline)
    gate.open()
  }

  @Test func `one that was stopped before it runs ends at once, whatever its sources do`() async throws {
    let fixture = try ResolverFixture()
    let (names, feed) = AsyncStream.makeStream(of: String.self)
    let job = try WarmupJob(plan([]) { $0.sources = [.sequence(names)] }, resolver: fixture.resolver)
    job.stop()
    #expect(try await job.warmUp().end == .stopped)
    feed.finish()
  }

  @Test func `everyone who waits gets the report, whenever they come`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Self.good)
    let job = try WarmupJob(plan(names(3)), resolver: fixture.resolver)
    let waiters = (0..<5).map { _ in Task.immediate { try await job.ready } }
    let report = try await job.warmUp()
    for waiter in waiters { #expect(try await waiter.value == report) }
    #expect(try await job.ready == report)
  }

  @Test func `who is cancelled waits no longer, and the others do`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Self.good)
    let job = try WarmupJob(plan(names(3)), resolver: fixture.resolver)
    let other = Task.immediate { try await job.ready }
    let task = Task.immediate { () -> DirectDNSError.Code? in
      do throws(DirectDNSError) { _ = try await job.ready } catch { return error.code }
      return nil
    }
    task.cancel()
    #expect(await task.value == .cancelled)
    #expect(try await job.warmUp() == other.value)
  }

  @Test func `it runs once, and whoever runs it again gets the same report`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer(Self.good)
    let job = try WarmupJob(plan(names(3)), resolver: fixture.resolver)
    let first = try await job.warmUp()
    #expect(try await job.warmUp() == first)
    #expect(fixture.transport.count == 3)
    #expect(job.report == first)
  }

  @Test func `whoever waits hears of a missed minimum as the plan says`() async throws {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    fixture.transport.answer { $0.host.text == "h0.example" ? .down : .answer(.addresses("192.0.2.1")) }
    for (shortfall, minimum, code) in [
      (WarmupPlan.Shortfall.accepted, WarmupMinimum.all, nil), (.thrown, .all, DirectDNSError.Code.warmupMissed),
      (.thrown, .share(0.6), nil),
    ] {
      let job = try WarmupJob(
        plan(names(3)) { ($0.shortfall, $0.minimum, $0.retry) = (shortfall, minimum, .never) },
        resolver: fixture.resolver)
      let report = try await job.warmUp()
      do throws(DirectDNSError) {
        #expect(try await job.ready == report)
        #expect(code == nil)
      } catch {
        #expect(error.code == code)
        #expect(error.message.contains("2 of 3 names have an address"))
        #expect(error.message.contains("1 upstreamFailed"))
      }
    }
  }

  // MARK: Events

  @Test func `each name is told as it is done`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer { $0.host.text == "h1.example" ? .answer(.negative(.noAddress)) : Self.good($0) }
    let job = try WarmupJob(plan(names(3) + ["x..y"]), resolver: fixture.resolver)
    let events = job.events()
    let running = Task { try await job.warmUp() }
    var kinds: [String: WarmupOutcome.Kind] = [:]
    var rejections = 0
    for await event in events {
      switch event {
      case .name(let outcome):
        kinds[outcome.host.text] = outcome.kind
        #expect(outcome.tries == 1)
      case .rejected: rejections += 1
      }
    }
    #expect(kinds == ["h0.example": .resolved, "h1.example": .negative, "h2.example": .resolved])
    #expect(rejections == 1)
    _ = try await running.value
    var late = 0
    for await _ in job.events() { late += 1 }
    #expect(late == 0)
  }

  @Test func `who listens to a job that never ran hears the end of it when the job goes`() async throws {
    let fixture = try ResolverFixture()
    var job: WarmupJob? = try WarmupJob(plan(names(1)), resolver: fixture.resolver)
    let events = try #require(job?.events())
    let listening = Task.immediate { await events.reduce(0) { count, _ in count + 1 } }
    job = nil
    #expect(await listening.value == 0)
  }

  // MARK: Keep-alive

  @Test func `names are kept alive afterwards as the plan says`() async throws {
    for (keepAlive, expected) in [
      (WarmupPlan.KeepAlive.none, ["own.example"]), (.all, ["h0.example", "h1.example", "own.example"]),
      (.names([Sample.name("h1.example")]), ["h1.example", "own.example"]),
    ] {
      let fixture = try ResolverFixture()
      fixture.transport.answer {
        $0.host.text == "none.example" ? .answer(.negative(.nameNotFound)) : Self.good($0)
      }
      fixture.resolver.keepAlive([Sample.name("own.example")])
      let job = try WarmupJob(
        plan(["h0.example", "h1.example", "none.example"]) { $0.keepAlive = keepAlive }, resolver: fixture.resolver)
      _ = try await job.warmUp()
      await fixture.clock.waitForSleepers()
      let kept = fixture.resolver.snapshot().filter(\.isKeptAlive).map(\.host.text)
      #expect(kept == expected)
    }
  }
}
