// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct DeadlineTests {
  let clock = ManualClock()

  @Test func `what comes in time is returned, and nothing sleeps on`() async {
    let value = await Deadline.wait(until: clock.now + .seconds(1), clock) { 1 }
    #expect(value == 1)
    #expect(await clock.waitForNoSleepers())
  }

  @Test func `a wait ends in time, and what comes later is put back`() async {
    let gate = Watched(false)
    let late = Watched<Int?>(nil)
    let wait = Task.immediate { [clock] in
      await Deadline.wait(until: clock.now + .seconds(1), clock, late: { value in late.change { $0 = value } }) {
        // Hears no cancellation, like a call to C.
        _ = await Task.detached { await gate.wait { $0 } }.value
        return 2
      }
    }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    #expect(await wait.value == nil)
    gate.change { $0 = true }
    await late.wait { $0 == 2 }
  }

  @Test func `a body that keeps its thread is given up in time, too`() async {
    let gate = DispatchSemaphore(value: 0)
    let wait = Task.immediate { [clock] in
      await Deadline.wait(until: clock.now + .seconds(1), clock) {
        gate.wait(timeout: .now() + 20)
      }
    }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    #expect(await wait.value == nil)
    gate.signal()
  }

  @Test func `a task that is cancelled waits no longer where it may leave`() async {
    for (mayLeave, expected) in [(true, nil), (false, 3)] {
      let gate = Watched(false)
      let wait = Task.immediate { [clock] in
        await Deadline.wait(until: clock.now + .seconds(1), clock, endsIfCancelled: mayLeave) {
          await gate.wait { $0 }
          return 3
        }
      }
      await clock.waitForSleepers()
      wait.cancel()
      if !mayLeave { gate.change { $0 = true } }
      #expect(await wait.value == expected)
      gate.change { $0 = true }
    }
  }

  @Test(arguments: [nil, 0, 5])
  func `a late body is told that nobody waits, at once or when its last instant has come`(_ last: Int64?) async {
    let told = Watched<Bool?>(nil)
    let began = clock.now
    let wait = Task.immediate { [clock] in
      await Deadline.wait(
        until: began + .seconds(1), clock, lastUntil: last.map { began + .seconds($0) },
        late: { isTold in told.change { $0 = isTold } }
      ) {
        try? await clock.sleep(until: began + .seconds(1000))
        return Task.isCancelled
      }
    }
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(1))
    #expect(await wait.value == nil)
    if last == 5 {
      await clock.waitForSleepers(2)
      #expect(told.value == nil)
      clock.advance(by: .seconds(4))
    }
    await told.wait { $0 != nil }
    #expect(told.value == true)
    #expect(await clock.waitForNoSleepers())
  }
}
