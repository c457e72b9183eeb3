// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct WaitingLineTests {
  private let a = "a"
  private let b = "b"

  @Test func `who came first is next, whatever the pool`() {
    var line = WaitingLine<String, Int>()
    for (number, pool) in [a, b, a, b].enumerated() { line.append(number, in: pool) }
    var order: [Int] = []
    while let pool = line.nextPool, let item = line.popFirst(in: pool) { order.append(item) }
    #expect(order == [0, 1, 2, 3] && line.count == 0 && !line.isWaiting(in: a))
  }

  @Test func `a parked pool is passed over until it is unparked, and keeps its place`() {
    var line = WaitingLine<String, Int>()
    for (number, pool) in [a, a, b].enumerated() { line.append(number, in: pool) }
    line.parkNext()
    #expect(line.nextPool == b)
    line.append(3, in: a)
    #expect(line.nextPool == b, "a new request does not wake a full pool")
    line.unpark(a)
    line.unpark(a)
    let first = line.popFirst(in: a)
    #expect(first == 0)
    #expect(line.nextPool == a, "its second came before the other pool's first")
  }

  @Test func `a pool may be served out of turn`() {
    var line = WaitingLine<String, Int>()
    for (number, pool) in [a, b, b].enumerated() { line.append(number, in: pool) }
    let served = [b, b, b, a].map { line.popFirst(in: $0) }
    #expect(served == [1, 2, nil, 0] && line.nextPool == nil)
  }

  @Test func `a parked pool served to its end does not come back`() {
    var line = WaitingLine<String, Int>()
    line.append(0, in: a)
    line.parkNext()
    let first = line.popFirst(in: a)
    #expect(first == 0)
    line.unpark(a)
    #expect(line.nextPool == nil)
    line.append(1, in: a)
    #expect(line.nextPool == a)
  }

  @Test func `one that is put back is first in its pool again`() {
    var line = WaitingLine<String, Int>()
    for number in 0..<3 { line.append(number, in: a) }
    let first = line.popFirst(in: a)
    line.append(3, in: b)
    line.requeue(first ?? -1, in: a)
    line.requeue(9, in: b)
    var order: [Int] = []
    while let pool = line.nextPool, let item = line.popFirst(in: pool) { order.append(item) }
    #expect(order.filter { $0 < 3 } == [0, 1, 2] && order.filter { $0 >= 3 } == [9, 3] && line.count == 0)
  }

  @Test func `who left is dropped once nobody waits before, and the order of the others stays`() {
    var line = WaitingLine<String, Int>()
    for number in 0..<100 { line.append(number, in: number % 2 == 0 ? a : b) }
    let hasLeft = { (number: Int) in number % 3 == 0 || number % 2 == 0 }
    line.dropFirst(in: a, where: hasLeft)
    #expect(!line.isWaiting(in: a) && line.count == 50)
    var order: [Int] = []
    while let pool = line.nextPool {
      line.dropFirst(in: pool, where: hasLeft)
      guard let item = line.popFirst(in: pool) else { continue }
      order.append(item)
    }
    #expect(order == (0..<100).filter { !hasLeft($0) } && line.count == 0)
  }
}
