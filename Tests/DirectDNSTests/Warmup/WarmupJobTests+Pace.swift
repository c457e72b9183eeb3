// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// How fast names are asked for, and what a 429 changes.
extension WarmupJobTests {
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

  @Test func `names that nobody is asked about leave the resolver's thread to others in between`() async throws {
    let provider = JSONProvider(name: "unasked", url: try WebURL("https://192.0.2.1/resolve"))
    let resolver = try DirectResolver(ResolverConfiguration(providers: [ProviderConfiguration(provider: provider)]))
    let count = 5000
    let text = (0..<count).map { "n\($0).localhost\n" }.joined()
    // In one piece, so that all of them wait from the beginning.
    let lines = AsyncStream { feed in
      feed.yield(Array(text.utf8))
      feed.finish()
    }
    let plan = plan([]) {
      $0.sources = [.lines(lines, name: "names")]
      $0.concurrency = 1
    }
    let job = try WarmupJob(plan, resolver: resolver)
    let running = Task { try await job.warmUp() }
    let most = await withTaskExecutorPreference(resolver.executor) {
      var (done, most) = (0, 0)
      while job.report.end == .running {
        let answered = job.report.answered
        (done, most) = (answered, max(most, answered - done))
        // A task that begins and ends on that thread, and is gone after two of its turns.
        await withDiscardingTaskGroup { group in group.addTask {} }
      }
      return max(most, count - done)
    }
    #expect(most < 1000, "\(most)")
    #expect(try await running.value.answered == count)
    resolver.shutdown()
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
      // Time stands until those have gone whose turn it was by then.
      let due = min(400, 20 + Int(elapsed / .milliseconds(50)))
      await fixture.transport.waitForSent(due)
      #expect(fixture.transport.count == due)
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
      // The end of a lookup's time is none of the instants that time goes to.
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
    // Time goes from one pause's end to the next, and stands while nobody waits for one.
    let time = Task { [clock = fixture.clock] in while await clock.advanceToSleeper(within: .seconds(60)) {} }
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
    // One at a time: another's 429 might come after time has been moved, and make a longer pause of it.
    let job = try WarmupJob(plan(names(3)) { $0.concurrency = 1 }, resolver: fixture.resolver)
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
    let job = try WarmupJob(
      plan(names(3)) { ($0.timeout, $0.concurrency) = (.seconds(60), 1) }, resolver: fixture.resolver)
    let running = Task { try await job.warmUp() }
    #expect(await ProcessState.eventually { job.report.pause != nil })
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .seconds(60))
    let report = try await running.value
    #expect(report.end == .deadline && report.pause == WarmupReport.Pause(provider: "one", left: .seconds(40)))
  }
}
