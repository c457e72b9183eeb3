// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct WarmupQueueTests {
  private func queue(width: Int = 2, rate: Double? = nil, _ names: String...) -> WarmupQueue {
    var queue = WarmupQueue(
      rate: rate, concurrency: WarmupConcurrency(concurrency: width, limits: [], queries: 1), at: Sample.at(0))
    for name in names { _ = queue.offer(Sample.name(name)) }
    return queue
  }

  /// The step as text: a name, an instant in seconds, `wait` or `done`.
  private func step(_ queue: inout WarmupQueue, at seconds: Double = 0) -> String {
    switch queue.next(at: Sample.at(seconds)) {
    case .look(let task): "\(task.host)"
    case .wait(let instant?): "\(Double(instant.nanoseconds) / 1e9)"
    case .wait(nil): "wait"
    case .done: "done"
    }
  }

  private func offer(_ name: String, to queue: inout WarmupQueue) -> Bool { queue.offer(Sample.name(name)) }

  private func task(_ name: String, failures: Int = 1) -> WarmupQueue.Task {
    WarmupQueue.Task(host: Sample.name(name), failures: failures)
  }

  @Test func `a name counts once`() {
    var queue = queue()
    #expect(offer("a.example", to: &queue))
    #expect(!offer("A.Example.", to: &queue))
    #expect(offer("bücher.example", to: &queue))
    #expect(!offer("xn--bcher-kva.example", to: &queue))
    _ = queue.next(at: Sample.at(0))
    #expect(!offer("a.example", to: &queue))
  }

  @Test func `names begin in their order, so many at a time, and it is done when all of them are`() {
    var queue = queue("a.example", "b.example", "c.example")
    #expect(step(&queue) == "a.example")
    #expect(step(&queue) == "b.example")
    #expect(step(&queue) == "wait")
    queue.ended(isAnswer: true)
    #expect(step(&queue) == "c.example")
    queue.ended(isAnswer: true)
    #expect(step(&queue) == "wait")
    queue.close()
    #expect(step(&queue) == "wait")
    queue.ended(isAnswer: false)
    #expect(step(&queue) == "done")
  }

  @Test func `an empty list is done as soon as it is closed`() {
    var queue = queue()
    #expect(step(&queue) == "wait")
    queue.close()
    #expect(step(&queue) == "done")
  }

  @Test func `a name whose turn has not come waits for it`() {
    var queue = queue(rate: 2, "a.example", "b.example")
    #expect(step(&queue) == "a.example")
    #expect(step(&queue) == "0.5")
    #expect(step(&queue, at: 0.5) == "b.example")
  }

  // MARK: Pace

  /// Names that have nothing but the pace to wait for.
  private func queue(rate: Double?, count: Int) -> WarmupQueue {
    var queue = queue(width: count, rate: rate)
    for index in 0..<count { _ = queue.offer(Sample.name("h\(index).example")) }
    return queue
  }

  private func begun(_ queue: inout WarmupQueue, at now: ResolverInstant) -> Int {
    var count = 0
    while case .look = queue.next(at: now) { count += 1 }
    return count
  }

  @Test func `without a rate no name waits`() {
    var queue = queue(rate: nil, count: 1000)
    #expect(begun(&queue, at: Sample.at(0)) == 1000)
  }

  @Test func `names begin at even intervals`() {
    var queue = queue(rate: 4, "a.example", "b.example")
    #expect(step(&queue, at: 10) == "a.example")
    #expect(step(&queue, at: 10) == "10.25")
    #expect(step(&queue, at: 10.25) == "b.example")
    _ = queue.offer(Sample.name("c.example"))
    queue.ended(isAnswer: true)
    #expect(step(&queue, at: 10.3) == "10.5")
  }

  @Test func `a late timer is made up for, a quiet time is not saved up`() {
    var queue = queue(rate: 100, count: 100)
    #expect(begun(&queue, at: Sample.at(0)) == 5)
    // 25 ms late: three names may begin at once.
    #expect(begun(&queue, at: Sample.at(0.035)) == 3)
    #expect(begun(&queue, at: Sample.at(60)) == 5)
  }

  @Test func `over a long time no more begin than the rate allows`() {
    var random = SeededGenerator(seed: 5)
    var queue = queue(rate: 500, count: 11_000)
    var now = Sample.at(0)
    var count = 0
    while now < Sample.at(20) {
      now = now + .microseconds(Int64.random(in: 1...4000, using: &random))
      count += begun(&queue, at: now)
    }
    #expect((9_990...10_026).contains(count))
  }

  @Test(arguments: [Double.leastNonzeroMagnitude, 1e-300, 1e-12, 1e300])
  func `no rate is too small or too large to reckon with`(_ rate: Double) {
    var queue = queue(rate: rate, count: 3)
    let count = begun(&queue, at: Sample.at(1))
    #expect(count == (rate > 1 ? 3 : 1))
  }

  // MARK: What comes back

  @Test func `a name is tried again when its time has come, before new ones`() {
    var queue = queue("a.example", "b.example")
    #expect(step(&queue) == "a.example")
    queue.retry(task("a.example"), at: Sample.at(1))
    #expect(queue.running == 0)
    #expect(step(&queue, at: 0.5) == "b.example")
    queue.ended(isAnswer: true)
    queue.close()
    #expect(step(&queue, at: 0.5) == "1.0")
    _ = queue.offer(Sample.name("c.example"))
    #expect(step(&queue, at: 1) == "a.example")
    #expect(step(&queue, at: 1) == "c.example")
  }

  @Test func `the tries that failed come along`() {
    var queue = queue()
    _ = queue.offer(Sample.name("a.example"))
    _ = queue.next(at: Sample.at(0))
    queue.retry(task("a.example", failures: 2), at: Sample.at(1))
    guard case .look(let task) = queue.next(at: Sample.at(1)) else {
      Issue.record("nothing was to be looked up")
      return
    }
    #expect(task.failures == 2)
  }

  @Test func `when all providers said 429 nothing begins before they may be asked, and then half as many`() {
    var queue = queue(width: 4, "a.example", "b.example", "c.example", "d.example", "e.example")
    for _ in 0..<4 { _ = step(&queue) }
    #expect(queue.pause(at: Sample.at(1)) == nil)
    let isNew1 = queue.pause(until: Sample.at(10), by: "one", at: Sample.at(1))
    #expect(isNew1)
    // The other three were sent before they knew, and each is told a little later than the one before.
    for later in 1...3 {
      let isNew2 = queue.pause(until: Sample.at(10 + Double(later) / 1000), by: "two", at: Sample.at(1))
      #expect(!isNew2)
    }
    #expect(queue.pause(at: Sample.at(1)) == WarmupReport.Pause(provider: "two", left: .milliseconds(9003)))
    #expect(queue.pause(at: Sample.at(10.1)) == nil)
    for name in ["a.example", "b.example", "c.example", "d.example"] { queue.retry(task(name), at: Sample.at(1)) }
    #expect(step(&queue, at: 1) == "10.003")
    #expect(step(&queue, at: 10.1) == "a.example")
    #expect(step(&queue, at: 10.1) == "b.example")
    #expect(step(&queue, at: 10.1) == "wait")
    let isNew3 = queue.pause(until: Sample.at(12), by: "one", at: Sample.at(10.5))
    #expect(isNew3)
    queue.ended(isAnswer: false)
    queue.ended(isAnswer: false)
    #expect(step(&queue, at: 11) == "12.0")
    #expect(step(&queue, at: 12) == "c.example")
    #expect(step(&queue, at: 12) == "wait")
  }

  @Test func `a source is held back while many names wait, and goes on at half of it`() {
    var queue = queue(width: 2000)
    for index in 0..<WarmupQueue.room {
      #expect(!queue.isFull)
      _ = queue.offer(Sample.name("h\(index).example"))
    }
    #expect(queue.isFull && !queue.hasRoom)
    for _ in 0..<WarmupQueue.room / 2 { _ = queue.next(at: Sample.at(0)) }
    #expect(!queue.isFull && queue.hasRoom)
  }

  @Test func `while many wait for another try no new name makes them more`() {
    var queue = queue(width: 2000)
    for index in 0..<WarmupQueue.room {
      _ = queue.offer(Sample.name("h\(index).example"))
      _ = queue.next(at: Sample.at(0))
      queue.retry(task("h\(index).example"), at: Sample.at(5))
    }
    _ = queue.offer(Sample.name("new.example"))
    #expect(step(&queue, at: 1) == "5.0")
    #expect(step(&queue, at: 5) == "h0.example")
    #expect(step(&queue, at: 1) == "new.example")
  }

  @Test func `what is stopped begins nothing more, says what was left, and remembers no name`() {
    var queue = queue("a.example", "b.example", "c.example")
    _ = queue.next(at: Sample.at(0))
    queue.retry(task("a.example"), at: Sample.at(1))
    _ = queue.next(at: Sample.at(0))
    let rest = queue.stop()
    #expect(rest.new.map(\.text) == ["c.example"])
    #expect(rest.retries.map(\.host.text) == ["a.example"])
    #expect(step(&queue, at: 9) == "wait")
    queue.ended(isAnswer: true)
    #expect(step(&queue, at: 9) == "done")
    #expect(offer("a.example", to: &queue))
  }

  @Test func `names that begin together wait until there is room for all of them`() {
    var queue = queue(width: 4, "a.example", "b.example", "c.example", "d.example", "e.example")
    func begins(together count: Int) -> Bool {
      if case .look = queue.next(at: Sample.at(0), together: count) { true } else { false }
    }
    #expect(begins(together: 3) && begins(together: 1) && begins(together: 1))
    // One more has room, and two wait.
    #expect(!begins(together: 2))
    queue.ended(isAnswer: true)
    #expect(begins(together: 2) && begins(together: 1))
    // No more than there are, and than there can be.
    #expect(queue.running == 4)
    for _ in 0..<4 { queue.ended(isAnswer: true) }
    _ = queue.offer(Sample.name("f.example"))
    #expect(begins(together: 9))
  }
}

struct WarmupWidthTests {
  @Test(arguments: [nil, 1e300, .infinity] as [Double?])
  func `as many names may be under way as there are numbers`(_ rate: Double?) {
    let limits = [rate.map { RateLimit(perSecond: $0) }]
    #expect(WarmupConcurrency(concurrency: .max, limits: limits, queries: 2).most == .max)
  }

  @Test(arguments: [
    ([nil] as [Double?], 64), ([20], 10), ([20, nil], 64), ([20, 40], 30), ([0.5], 1), ([1000], 64), ([], 64),
  ])
  func `where every provider has a rate no more names are under way than have their turn within a second`(
    _ rates: [Double?], _ expected: Int
  ) {
    let limits = rates.map { rate in rate.map { RateLimit(perSecond: $0) } }
    #expect(WarmupConcurrency(concurrency: 64, limits: limits, queries: 2).current == expected)
  }

  @Test func `429 halves it, and answers widen it again one by one`() {
    var concurrency = WarmupConcurrency(concurrency: 8, limits: [], queries: 2)
    concurrency.halve()
    #expect(concurrency.current == 4)
    concurrency.halve()
    concurrency.halve()
    concurrency.halve()
    #expect(concurrency.current == 1)
    concurrency.grow()
    #expect(concurrency.current == 2)
    concurrency.grow()
    #expect(concurrency.current == 2)
    concurrency.grow()
    #expect(concurrency.current == 3)
    for _ in 0..<100 { concurrency.grow() }
    #expect(concurrency.current == 8)
  }
}

struct SeenNamesTests {
  @Test func `each hash is new once`() {
    var seen = SeenNames()
    var model: Set<UInt64> = []
    var random = SeededGenerator(seed: 1)
    for _ in 0..<50_000 {
      // Some come again, and many want the same places.
      let hash = UInt64.random(in: 1..<40_000, using: &random) << 8
      #expect(seen.insert(hash) == model.insert(hash).inserted)
    }
    #expect(seen.count == model.count)
  }

  @Test func `a hash of nothing but zeros is a hash`() {
    var seen = SeenNames()
    #expect(seen.insert(0) && !seen.insert(0) && seen.count == 1)
  }
}
