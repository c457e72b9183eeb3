// SPDX-License-Identifier: Apache-2.0
internal import HeapModule

/// What is to be looked at, and when: each key at one instant.
///
/// A value. Setting an instant costs a place in a heap; what was set before is passed over when its turn comes.
struct TimerQueue<Key: Hashable & Sendable, Instant: Comparable & Sendable>: Sendable {
  private struct Entry: Comparable, Sendable {
    var instant: Instant
    /// Of two at the same instant, the one that was set first comes first.
    var number: Int
    var key: Key

    static func < (left: Self, right: Self) -> Bool {
      (left.instant, left.number) < (right.instant, right.number)
    }

    static func == (left: Self, right: Self) -> Bool { left.number == right.number }
  }

  private var heap = Heap<Entry>()
  private var instants: [Key: Instant] = [:]
  /// How often an instant was set.
  private var lastNumber = 0

  /// Whether nothing is to be looked at.
  var isEmpty: Bool { instants.isEmpty }

  /// How many keys are to be looked at.
  var count: Int { instants.count }

  /// Sets a key's instant in place of the one before; nil for none.
  mutating func set(_ key: Key, at instant: Instant?) {
    guard let instant else {
      guard !instants.isEmpty else { return }
      instants[key] = nil
      if instants.isEmpty { heap = Heap() }
      return
    }
    guard instants.updateValue(instant, forKey: key) != instant else { return }
    lastNumber += 1
    heap.insert(Entry(instant: instant, number: lastNumber, key: key))
    if heap.count > 2 * instants.count + 64 { dropAllPassed() }
  }

  /// The next instant at which something is due.
  mutating func next() -> Instant? {
    dropPassed()
    return heap.min?.instant
  }

  /// Takes a key whose instant has come.
  mutating func takeDue(at now: Instant) -> Key? {
    dropPassed()
    guard let first = heap.min, first.instant <= now else { return nil }
    heap.removeMin()
    instants[first.key] = nil
    return first.key
  }

  private mutating func dropPassed() {
    while let first = heap.min, instants[first.key] != first.instant { heap.removeMin() }
  }

  private mutating func dropAllPassed() {
    let instants = self.instants
    heap = Heap(heap.unordered.filter { instants[$0.key] == $0.instant })
  }
}
