// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct SleepQueueTests {
  private let clock: ManualClock
  private let queue: SleepQueue
  /// The instants of the timers that were started.
  private let timers: Locked<[ResolverInstant]>

  init() {
    let (clock, timers) = (ManualClock(), Locked<[ResolverInstant]>([]))
    self.clock = clock
    self.timers = timers
    queue = SleepQueue(now: { clock.now }) { instant in
      timers.withLock { $0.append(instant) }
      try? await clock.sleep(until: instant)
    }
  }

  /// A task that sleeps; its result is when it was woken.
  private func sleeper(until seconds: Double) -> Task<ResolverInstant, any Error> {
    Task.immediate { [queue, clock] in
      try await queue.sleep(until: Sample.at(seconds))
      return clock.now
    }
  }

  @Test func `a task that sleeps is woken at its instant, and not before`() async throws {
    let sleeper = sleeper(until: 5)
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(4999))
    #expect(queue.count == 1)
    clock.advance(by: .milliseconds(1))
    #expect(try await sleeper.value == Sample.at(5))
    #expect(queue.count == 0)
  }

  @Test func `all who sleep until the same instant are woken by one timer`() async throws {
    let sleepers = (0..<100).map { _ in sleeper(until: 5) }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(5))
    for sleeper in sleepers { #expect(try await sleeper.value == Sample.at(5)) }
    #expect(timers.withLock { $0 } == [Sample.at(5)])
  }

  @Test func `who is cancelled leaves at once, and of a thousand one after the other one timer is left`() async {
    for number in 0..<1000 {
      let sleeper = sleeper(until: 60 + Double(number) / 1000)
      if number == 0 { await clock.waitForSleepers() }
      sleeper.cancel()
      #expect(queue.count == 0)
      await #expect(throws: CancellationError.self) { try await sleeper.value }
      clock.advance(by: .milliseconds(1))
    }
    #expect(timers.withLock { $0 } == [Sample.at(60)])
    clock.advance(by: .seconds(60))
    #expect(await clock.waitForNoSleepers())
  }

  @Test func `who sleeps on is woken though the timer was started for somebody who was cancelled`() async throws {
    let (cancelled, other) = (sleeper(until: 5), sleeper(until: 7))
    cancelled.cancel()
    await clock.waitForSleepers()
    clock.advance(by: .seconds(5))
    await clock.waitForSleepers()
    clock.advance(by: .seconds(2))
    #expect(try await other.value == Sample.at(7))
    #expect(timers.withLock { $0 } == [Sample.at(5), Sample.at(7)])
  }

  @Test func `an earlier instant gets a timer of its own, and the later timer still serves`() async throws {
    let late = sleeper(until: 10)
    await clock.waitForSleepers(1)
    let early = sleeper(until: 5)
    await clock.waitForSleepers(2)
    let middle = sleeper(until: 7)
    clock.advance(by: .seconds(5))
    #expect(try await early.value == Sample.at(5))
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(2))
    #expect(try await middle.value == Sample.at(7))
    clock.advance(by: .seconds(3))
    #expect(try await late.value == Sample.at(10))
    #expect(timers.withLock { $0 } == [10, 5, 7].map(Sample.at))
  }

  @Test func `an instant that has passed is not waited for, and needs no timer`() async throws {
    clock.advance(by: .seconds(5))
    for seconds in [-1e9, 0, 5] { try await queue.sleep(until: Sample.at(seconds)) }
    #expect(timers.withLock { $0 }.isEmpty)
  }

  @Test(arguments: [5.0, -5]) func `who is cancelled before does not sleep`(_ seconds: Double) async {
    let sleeper = Task { [queue] in
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      try await queue.sleep(until: Sample.at(seconds))
    }
    await #expect(throws: CancellationError.self) { try await sleeper.value }
    #expect(queue.count == 0 && timers.withLock { $0 }.isEmpty)
  }

  @Test func `where instant and cancellation come together, a task ends once, by the one or the other`() async {
    for _ in 0..<Sanitizer.volume(of: 1000) {
      let sleeper = Task.immediate { [queue, clock] in try await queue.sleep(until: clock.now + .seconds(1)) }
      await clock.waitForSleepers()
      let other = Task.detached { sleeper.cancel() }
      clock.advance(by: .seconds(1))
      await other.value
      _ = await sleeper.result
    }
    #expect(queue.count == 0)
  }

  @Test func `a timer that fires early is started again`() async throws {
    let fired = Locked(0)
    let queue = SleepQueue(now: { [clock] in clock.now }) { [clock] instant in
      let isEarly = fired.withLock { fired in
        fired += 1
        return fired < 3
      }
      if !isEarly { try? await clock.sleep(until: instant) }
    }
    let sleeper = Task.immediate { [clock] in
      try await queue.sleep(until: Sample.at(5))
      return clock.now
    }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(5))
    #expect(try await sleeper.value == Sample.at(5))
    #expect(fired.withLock { $0 } == 3)
  }
}
