import Testing

@testable import DirectDNS

struct WaitingLineTests {
  private final class Lane {}

  private let a = Lane()
  private let b = Lane()

  @Test func `who came first is next, whatever the lane`() {
    var line = WaitingLine<Lane, Int>()
    for (number, lane) in [a, b, a, b].enumerated() { line.append(number, in: lane) }
    var order: [Int] = []
    while let lane = line.nextLane, let item = line.popFirst(in: lane) { order.append(item) }
    #expect(order == [0, 1, 2, 3] && line.count == 0 && !line.isWaiting(in: a))
  }

  @Test func `a parked lane is passed over until it is unparked, and keeps its place`() {
    var line = WaitingLine<Lane, Int>()
    for (number, lane) in [a, a, b].enumerated() { line.append(number, in: lane) }
    line.parkNext()
    #expect(line.nextLane === b)
    line.append(3, in: a)
    #expect(line.nextLane === b, "a new request does not wake a full lane")
    line.unpark(a)
    line.unpark(a)
    let first = line.popFirst(in: a)
    #expect(first == 0)
    #expect(line.nextLane === a, "its second came before the other lane's first")
  }

  @Test func `a lane may be served out of turn`() {
    var line = WaitingLine<Lane, Int>()
    for (number, lane) in [a, b, b].enumerated() { line.append(number, in: lane) }
    let served = [b, b, b, a].map { line.popFirst(in: $0) }
    #expect(served == [1, 2, nil, 0] && line.nextLane == nil)
  }

  @Test func `a parked lane served to its end does not come back`() {
    var line = WaitingLine<Lane, Int>()
    line.append(0, in: a)
    line.parkNext()
    let first = line.popFirst(in: a)
    #expect(first == 0)
    line.unpark(a)
    #expect(line.nextLane == nil)
    line.append(1, in: a)
    #expect(line.nextLane === a)
  }

  @Test func `who left is dropped, and the order of the others stays`() {
    var line = WaitingLine<Lane, Int>()
    for number in 0..<100 { line.append(number, in: number % 2 == 0 ? a : b) }
    line.removeAll { $0 % 3 == 0 || $0 % 2 == 0 }
    #expect(line.count == line.items.count && !line.isWaiting(in: a))
    var order: [Int] = []
    while let lane = line.nextLane, let item = line.popFirst(in: lane) { order.append(item) }
    #expect(order == (0..<100).filter { $0 % 3 != 0 && $0 % 2 != 0 })
  }
}
