// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct TurnsTests {
  @Test func `one at a time has its turn`() async {
    let (turns, inside, most) = (Turns(), Watched(0), Watched(0))
    await withTaskGroup { group in
      for _ in 0..<50 {
        group.addTask {
          await turns.take()
          let count = inside.change { count in
            count += 1
            return count
          }
          most.change { $0 = max($0, count) }
          await Task.yield()
          inside.change { $0 -= 1 }
          turns.leave()
        }
      }
    }
    #expect(most.value == 1 && inside.value == 0)
    await turns.take()
    turns.leave()
  }
}
