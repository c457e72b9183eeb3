// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct SystemClockTests {
  private let clock = SystemClock()

  @Test func `time never goes back`() {
    var last = clock.now
    for _ in 0..<10_000 {
      let now = clock.now
      #expect(now >= last)
      last = now
    }
    var coarse = clock.coarseNow
    for _ in 0..<10_000 {
      let now = clock.coarseNow
      #expect(now >= coarse)
      coarse = now
    }
  }

  @Test func `the cheap clock is never ahead, and on the same time line`() {
    let coarse = clock.coarseNow
    let now = clock.now
    #expect(coarse <= now)
    #expect(now - coarse < .seconds(5))
  }

  /// By the machine's own clock, which goes on while it is suspended.
  @Test func `time goes on while the machine is suspended`() throws {
    #if os(Linux)
      var time = timespec()
      try #require(unsafe clock_gettime(CLOCK_BOOTTIME, &time) == 0)
      let machine = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
      #expect(clock.now.nanoseconds >= machine)
      #expect(clock.now - ResolverInstant(nanoseconds: machine) < .seconds(20))
    #endif
  }

  @Test func `the wall clock is the machine's`() {
    #expect(abs(clock.secondsSince1970 - Int64(Date().timeIntervalSince1970)) <= 2)
  }

  @Test func `sleeping ends at the instant and not before`() async throws {
    let until = clock.now + .milliseconds(5)
    try await clock.sleep(until: until)
    #expect(clock.now >= until)
  }

  @Test func `an instant that has passed is not waited for`() async throws {
    let begun = clock.now
    try await clock.sleep(until: begun - .seconds(3600))
    #expect(clock.now - begun < .seconds(20))
  }

  @Test func `a cancelled task does not sleep on`() async {
    let clock = clock
    let sleeper = Task { try await clock.sleep(until: clock.now + .seconds(30)) }
    let begun = clock.now
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
    #expect(clock.now - begun < .seconds(20))
  }

  @Test func `even the last instant can be waited for, and the wait can be left`() async {
    let clock = clock
    let sleeper = Task.immediate { try await clock.sleep(until: ResolverInstant(nanoseconds: .max)) }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }
}

struct SuspensionTests {
  @Test func `time that the machine was suspended counts, 50 ms after it woke at the latest`() {
    let suspension = Suspension()
    var (suspended, looks) = (Int64(7), 0)
    func total(at now: Int64) -> Int64 {
      suspension.total(
        at: now,
        elapsed: {
          looks += 1
          return now + suspended
        }, awake: { now })
    }
    #expect(total(at: 1_000) == 7)
    suspended = 3_600_000_000_007
    #expect(total(at: 1_000 + Suspension.interval - 1) == 7)
    #expect(total(at: 1_000 + Suspension.interval) == 3_600_000_000_007)
    #expect(looks == 2)
  }

  @Test func `it never becomes less, however badly the clocks are read`() {
    let suspension = Suspension()
    #expect(suspension.total(at: 0, elapsed: { 100 }, awake: { 0 }) == 100)
    let later = Suspension.interval
    #expect(suspension.total(at: later, elapsed: { later + 100 }, awake: { later + 10 }) == 100)
  }
}
