// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct TimerQueueTests {
  private func all(_ queue: inout TimerQueue<String, ResolverInstant>, at seconds: Double) -> [String] {
    var keys: [String] = []
    while let key = queue.takeDue(at: Sample.at(seconds)) { keys.append(key) }
    return keys
  }

  @Test func `keys come in the order of their instants, each once`() {
    var queue = TimerQueue<String, ResolverInstant>()
    for (key, instant) in [("c", 3.0), ("a", 1), ("b", 2), ("b2", 2)] { queue.set(key, at: Sample.at(instant)) }
    #expect(queue.next() == Sample.at(1) && queue.count == 4)
    #expect(all(&queue, at: 2) == ["a", "b", "b2"] && queue.count == 1)
    #expect(queue.next() == Sample.at(3))
    #expect(all(&queue, at: 9) == ["c"])
    #expect(queue.next() == nil && queue.isEmpty)
  }

  @Test func `nothing is due before its instant`() {
    var queue = TimerQueue<String, ResolverInstant>()
    queue.set("a", at: Sample.at(1))
    #expect(queue.takeDue(at: Sample.at(1).before) == nil)
    #expect(queue.takeDue(at: Sample.at(1)) == "a")
  }

  @Test(arguments: [0.5, 5]) func `a key's later word counts, be it earlier or later`(_ instant: Double) {
    var queue = TimerQueue<String, ResolverInstant>()
    queue.set("a", at: Sample.at(1))
    queue.set("a", at: Sample.at(instant))
    #expect(queue.next() == Sample.at(instant))
    #expect(all(&queue, at: 9) == ["a"])
  }

  @Test func `a key that is set back and forth comes once`() {
    var queue = TimerQueue<String, ResolverInstant>()
    for instant in [1.0, 2, 1, 2, 1] { queue.set("a", at: Sample.at(instant)) }
    #expect(all(&queue, at: 9) == ["a"])
  }

  @Test func `a key without an instant does not come`() {
    var queue = TimerQueue<String, ResolverInstant>()
    queue.set("a", at: Sample.at(1))
    queue.set("b", at: Sample.at(2))
    queue.set("a", at: nil)
    #expect(queue.next() == Sample.at(2))
    queue.set("b", at: nil)
    #expect(queue.isEmpty && queue.next() == nil)
  }

  @Test func `a thousand keys that are set again and again come in order`() {
    var queue = TimerQueue<Int, ResolverInstant>()
    var random = SeededGenerator(seed: 1)
    var instants: [Int: ResolverInstant] = [:]
    for _ in 0..<20_000 {
      let key = Int.random(in: 0..<1000, using: &random)
      let instant = ResolverInstant(nanoseconds: .random(in: 0..<1_000_000, using: &random))
      instants[key] = instant
      queue.set(key, at: instant)
    }
    var last = ResolverInstant(nanoseconds: .min)
    while let key = queue.takeDue(at: ResolverInstant(nanoseconds: .max)) {
      let instant = instants.removeValue(forKey: key)
      #expect(instant.map { $0 >= last } == true)
      last = instant ?? last
    }
    #expect(instants.isEmpty)
  }
}
