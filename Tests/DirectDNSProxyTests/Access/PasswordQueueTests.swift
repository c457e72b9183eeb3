// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

@Suite("Where passwords are checked", .timeLimit(.minutes(1)))
struct PasswordQueueTests {
  private struct Seen {
    var running = 0
    var most = 0
    var done = 0
  }

  @Test func `no more are checked at a time than may be, and each has its turn`() async {
    let (queue, seen, proceed) = (PasswordQueue(width: 2), Watched(Seen()), DispatchSemaphore(value: 0))
    for _ in 0..<20 {
      queue.add {
        seen.change {
          $0.running += 1
          $0.most = max($0.most, $0.running)
        }
        proceed.wait()
        seen.change {
          $0.running -= 1
          $0.done += 1
        }
      }
    }
    await seen.wait { $0.running >= 2 }
    for _ in 0..<20 { proceed.signal() }
    await seen.wait { $0.done == 20 }
    #expect(seen.value.most == 2)
  }

  @Test func `by default one is checked at least, whatever the number of cores`() async {
    let (queue, done) = (PasswordQueue(), Watched(0))
    for _ in 0..<3 { queue.add { done.change { $0 += 1 } } }
    await done.wait { $0 == 3 }
  }
}
