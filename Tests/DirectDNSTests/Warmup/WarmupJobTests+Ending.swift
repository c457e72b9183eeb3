// SPDX-License-Identifier: Apache-2.0
import CoreMetrics
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// How a warm-up ends, what it tells, and what it keeps alive.
extension WarmupJobTests {
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
    let metrics = RecordingMetrics()
    let job = try WarmupJob(plan, resolver: fixture.resolver, metrics: MetricSource(metrics))
    let running = Task { try await job.warmUp() }
    await fixture.transport.waitForSent(4)
    await fixture.clock.waitForSleepers(3)
    fixture.clock.advance(by: .milliseconds(500))
    let report = try await running.value
    #expect(report.end == .deadline && report.endedEarly && report.durationMs == 500)
    #expect((report.resolved, report.failed, report.unfinished) == (1, 1, 2))
    #expect(report.failures.map(\.host.text) == ["bad.example"])
    #expect(report.isMinimumReached && report.readiness == .degraded)
    let counted = ["resolved", "failed", "unfinished"].map {
      metrics.counts["directdns_warmup_names_total outcome=\($0)"]
    }
    #expect(counted == [1, 1, 2] && metrics.counts["directdns_warmup_ready"] == 0.5)
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
      (WarmupPlan.Shortfall.accepted, WarmupMinimum.all, nil), (.fails, .all, DirectDNSError.Code.warmupMissed),
      (.fails, .share(0.6), nil),
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
      #expect(job.state.withLock(\.keptAlive.isEmpty), "the resolver has them")
    }
  }
}
