// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ManualClockTests {
  let clock = ManualClock()

  @Test func `a clock stands still until it is moved`() {
    let before = clock.now
    #expect(clock.now == before)
    clock.advance(by: .milliseconds(1500))
    #expect(clock.now - before == .milliseconds(1500))
  }

  @Test func `the wall clock moves along, in whole seconds`() {
    clock.advance(by: .milliseconds(999))
    #expect(clock.secondsSince1970 == 1_700_000_000)
    clock.advance(by: .milliseconds(1))
    #expect(clock.secondsSince1970 == 1_700_000_001)
  }

  @Test func `the wall clock can jump alone, back too`() {
    clock.advance(by: .seconds(10))
    let before = clock.now
    clock.setSecondsSince1970(1000)
    #expect(clock.secondsSince1970 == 1000)
    #expect(clock.now == before)
    clock.advance(by: .seconds(5))
    #expect(clock.secondsSince1970 == 1005)
  }

  /// The years 9999, 2300 and 1600, and what no calendar has.
  @Test(arguments: [253_402_300_799, 10_413_792_000, -11_676_096_000, Int64.max, .min])
  func `the wall clock can show any date`(_ seconds: Int64) {
    let clock = ManualClock(secondsSince1970: seconds)
    #expect(clock.secondsSince1970 == seconds)
    let (milliseconds, overflows) = seconds.multipliedReportingOverflow(by: 1000)
    #expect(clock.wallNow.milliseconds == (overflows ? seconds : milliseconds))
    clock.advance(by: .seconds(5))
    clock.setSecondsSince1970(seconds)
    #expect(clock.secondsSince1970 == seconds)
  }

  @Test func `the wall clock goes on for 240 years, and the time line ends after 292`() {
    let year = Duration.seconds(31_557_600)
    clock.advance(by: year * 240)
    #expect(clock.secondsSince1970 == 1_700_000_000 + 240 * 31_557_600)
    clock.advance(by: year * 240)
    #expect(clock.now == ResolverInstant(nanoseconds: .max))
    #expect(clock.secondsSince1970 == 1_700_000_000 + Int64.max / 1_000_000_000)
  }

  @Test func `before 1970 a second begins as a whole, too`() {
    let clock = ManualClock(secondsSince1970: -5)
    clock.advance(by: .milliseconds(1500))
    #expect(clock.secondsSince1970 == -4 && clock.wallNow.milliseconds == -3500)
  }

  @Test @MainActor func `those whose instant has come wake, and see the new time`() async {
    let clock = clock
    var woken: [Int] = []
    let tasks = [3, 1, 2, 9].map { second in
      Task { @MainActor in
        try await clock.sleep(until: ResolverInstant(nanoseconds: 0) + .seconds(second))
        #expect(clock.now == ResolverInstant(nanoseconds: 0) + .seconds(5))
        woken.append(second)
      }
    }
    await clock.waitForSleepers(4)
    clock.advance(by: .seconds(5))
    for task in tasks.prefix(3) { _ = await task.result }
    // Each comes here by way of a pool of threads, which keep no order.
    #expect(woken.sorted() == [1, 2, 3])
    #expect(clock.sleeperCount == 1)
    tasks[3].cancel()
  }

  @Test func `an instant that has come is not waited for`() async throws {
    clock.advance(by: .seconds(1))
    try await clock.sleep(until: clock.now)
    #expect(clock.sleeperCount == 0)
  }

  @Test func `a cancelled sleeper ends with CancellationError and leaves no trace`() async {
    let clock = clock
    let task = Task { try await clock.sleep(until: clock.now + .seconds(1)) }
    await clock.waitForSleepers()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(clock.sleeperCount == 0)
  }

  @Test func `a task that is cancelled already does not sleep`() async {
    let clock = clock
    await withThrowingTaskGroup(of: Void.self) { group in
      group.cancelAll()
      group.addTask { try await clock.sleep(until: clock.now + .seconds(1)) }
      await #expect(throws: CancellationError.self) { try await group.waitForAll() }
    }
  }

  @Test func `it moves to the first of those who wake soon, and waits for one`() async throws {
    let clock = clock
    let moving = Task { await clock.advanceToSleeper(within: .seconds(10)) }
    let late = Task { try await clock.sleep(until: ResolverInstant(nanoseconds: 0) + .seconds(11)) }
    #expect(await clock.waitForSleepers())
    try await clock.sleep(until: ResolverInstant(nanoseconds: 0) + .seconds(3))
    #expect(await moving.value && clock.now == ResolverInstant(nanoseconds: 0) + .seconds(3))
    #expect(await clock.advanceToSleeper(within: .seconds(10)))
    try await late.value
    let waiting = Task { await clock.advanceToSleeper(within: .seconds(10)) }
    waiting.cancel()
    #expect(await waiting.value == false)
  }

  @Test func `whoever waits until nobody sleeps goes on when the last one wakes or leaves`() async {
    let clock = clock
    #expect(await clock.waitForNoSleepers())
    let sleepers = [1, 2].map { second in
      Task { try await clock.sleep(until: ResolverInstant(nanoseconds: 0) + .seconds(second)) }
    }
    await clock.waitForSleepers(2)
    let waiting = Task.immediate { await clock.waitForNoSleepers() }
    clock.advance(by: .seconds(1))
    #expect(clock.sleeperCount == 1)
    sleepers[1].cancel()
    #expect(await waiting.value && clock.sleeperCount == 0)
  }

  @Test func `waiting for sleepers ends when its task is cancelled`() async {
    let clock = clock
    let task = Task { await clock.waitForSleepers() }
    task.cancel()
    #expect(await task.value == false)
    #expect(clock.sleeperCount == 0)
  }
}
