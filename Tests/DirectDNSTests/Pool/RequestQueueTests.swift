// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct RequestQueueTests {
  private let a = "a"
  private let b = "b"

  @Test func `who came first is next, whatever the pool`() {
    var queue = RequestQueue<String, Int>()
    for (number, pool) in [a, b, a, b].enumerated() { queue.append(number, in: pool) }
    var order: [Int] = []
    while let pool = queue.nextPool, let item = queue.popFirst(in: pool) { order.append(item) }
    #expect(order == [0, 1, 2, 3] && queue.count == 0 && !queue.isWaiting(in: a))
  }

  @Test func `a parked pool is passed over until it is unparked, and keeps its place`() {
    var queue = RequestQueue<String, Int>()
    for (number, pool) in [a, a, b].enumerated() { queue.append(number, in: pool) }
    queue.parkNext()
    #expect(queue.nextPool == b)
    queue.append(3, in: a)
    #expect(queue.nextPool == b, "a new request does not wake a full pool")
    queue.unpark(a)
    queue.unpark(a)
    let first = queue.popFirst(in: a)
    #expect(first == 0)
    #expect(queue.nextPool == a, "its second came before the other pool's first")
  }

  @Test func `a pool may be served out of turn`() {
    var queue = RequestQueue<String, Int>()
    for (number, pool) in [a, b, b].enumerated() { queue.append(number, in: pool) }
    let served = [b, b, b, a].map { queue.popFirst(in: $0) }
    #expect(served == [1, 2, nil, 0] && queue.nextPool == nil)
  }

  @Test func `a parked pool served to its end does not come back`() {
    var queue = RequestQueue<String, Int>()
    queue.append(0, in: a)
    queue.parkNext()
    let first = queue.popFirst(in: a)
    #expect(first == 0)
    queue.unpark(a)
    #expect(queue.nextPool == nil)
    queue.append(1, in: a)
    #expect(queue.nextPool == a)
  }

  @Test func `one that is put back is first in its pool again`() {
    var queue = RequestQueue<String, Int>()
    for number in 0..<3 { queue.append(number, in: a) }
    let first = queue.popFirst(in: a)
    queue.append(3, in: b)
    queue.requeue(first ?? -1, in: a)
    queue.requeue(9, in: b)
    var order: [Int] = []
    while let pool = queue.nextPool, let item = queue.popFirst(in: pool) { order.append(item) }
    #expect(order.filter { $0 < 3 } == [0, 1, 2] && order.filter { $0 >= 3 } == [9, 3] && queue.count == 0)
  }

  @Test func `who left is dropped once nobody waits before, and the order of the others stays`() {
    var queue = RequestQueue<String, Int>()
    for number in 0..<100 { queue.append(number, in: number % 2 == 0 ? a : b) }
    let hasLeft = { (number: Int) in number % 3 == 0 || number % 2 == 0 }
    queue.dropFirst(in: a, where: hasLeft)
    #expect(!queue.isWaiting(in: a) && queue.count == 50)
    var order: [Int] = []
    while let pool = queue.nextPool {
      queue.dropFirst(in: pool, where: hasLeft)
      guard let item = queue.popFirst(in: pool) else { continue }
      order.append(item)
    }
    #expect(order == (0..<100).filter { !hasLeft($0) } && queue.count == 0)
  }
}
