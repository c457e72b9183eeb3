// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct BlockingPoolTests {
  @Test func `what the work returns comes back`() async {
    let pool = BlockingPool("test", width: 2)
    #expect(await pool.run { 6 * 7 } == 42)
    #expect(await pool.run { "again" } == "again")
  }

  @Test func `a reader that has gone is an error of the thread that writes, and no signal for the process`() async {
    #expect(await BlockingPool("test", width: 1).run { SignalMask.blocksSIGPIPE })
    // Somebody else's thread stays what it is.
    let (before, during) = (SignalMask.blocksSIGPIPE, Locked<Bool?>(nil))
    BlockingPool("test", width: 1) { _, _ in false }.add { during.withLock { $0 = SignalMask.blocksSIGPIPE } }
    #expect(during.withLock(\.self) == before)
  }

  @Test func `where no thread can be started, the one that brings the work does it`() async {
    let pool = BlockingPool("test", width: 2) { _, _ in false }
    #expect(await pool.run { 1 } == 1)
    #expect(await pool.run { 2 } == 2)
    #expect(pool.threadCount == 0)
  }

  @Test func `a thread without work waits for more, and ends when none comes`() async {
    let (starts, ends) = (Watched(0), Watched(0))
    let start: WorkerThread.Start = { name, body in
      starts.change { $0 += 1 }
      return WorkerThread.start(name) {
        body()
        ends.change { $0 += 1 }
      }
    }
    let patient = BlockingPool("test", width: 2, idleLimit: .seconds(60), startThread: start)
    for number in 0..<10 { #expect(await patient.run { number } == number) }
    // The first may not have got round to waiting when the second piece comes.
    #expect(starts.value <= 2 && patient.threadCount == starts.value)
    let hasty = BlockingPool("test", width: 2, idleLimit: .zero, startThread: start)
    for round in 1...50 {
      #expect(await hasty.run { round } == round)
      if round % 10 == 0 { await ends.wait { $0 == starts.value - patient.threadCount } }
    }
    #expect(hasty.threadCount == 0)
  }

  @Test func `no more work runs at once than the pool is wide, and none is lost`() async {
    let pool = BlockingPool("test", width: 3)
    let gate = DispatchSemaphore(value: 0)
    let state = Watched((running: 0, most: 0, done: 0))
    let work = (0..<60).map { _ in
      Task.immediate {
        await pool.run {
          state.change {
            $0.running += 1
            $0.most = max($0.most, $0.running)
          }
          gate.wait()
          state.change {
            $0.running -= 1
            $0.done += 1
          }
        }
      }
    }
    await state.wait { $0.running == 3 }
    for _ in work { gate.signal() }
    for task in work { await task.value }
    #expect(state.value.done == 60)
    #expect(state.value.most == 3)
  }

  @Test func `work that blocks keeps no one else waiting while a thread is free`() async {
    let pool = BlockingPool("test", width: 2)
    let gate = DispatchSemaphore(value: 0)
    async let blocked: Void = pool.run { gate.wait() }
    #expect(await pool.run { 1 } == 1)
    #expect(await pool.run { 2 } == 2)
    gate.signal()
    await blocked
  }

  @Test func `waiting work is done in the order of its arrival`() async {
    let pool = BlockingPool("test", width: 1)
    let gate = DispatchSemaphore(value: 0)
    let order = Locked<[Int]>([])
    let isBusy = Watched(false)
    let first = Task.immediate {
      await pool.run {
        isBusy.change { $0 = true }
        gate.wait()
      }
    }
    await isBusy.wait { $0 }
    // Each has arrived when the line below it runs.
    let others = (0..<10).map { number in
      Task.immediate { await pool.run { order.withLock { $0.append(number) } } }
    }
    gate.signal()
    await first.value
    for other in others { await other.value }
    #expect(order.withLock { $0 } == Array(0..<10))
  }
}

/// What the thread that asks does without.
enum SignalMask {
  static var blocksSIGPIPE: Bool {
    var mask = sigset_t()
    unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
    return unsafe sigismember(&mask, SIGPIPE) == 1
  }
}
