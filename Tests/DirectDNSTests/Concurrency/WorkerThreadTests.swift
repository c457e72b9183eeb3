// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct WorkerThreadTests {
  @Test func `many bodies that block run side by side`() async {
    // Each waits for all others: with fewer threads than bodies none would ever end.
    let count = 24
    let arrived = Locked(0)
    let gate = DispatchSemaphore(value: 0)
    await withDiscardingTaskGroup { group in
      for number in 0..<count {
        group.addTask {
          await withCheckedContinuation { continuation in
            WorkerThread.start("test-\(number)") {
              let isLast = arrived.withLock { arrived -> Bool in
                arrived += 1
                return arrived == count
              }
              if isLast { for _ in 1..<count { gate.signal() } } else { gate.wait() }
              continuation.resume()
            }
          }
        }
      }
    }
    #expect(arrived.withLock { $0 } == count)
  }
}
