// SPDX-License-Identifier: Apache-2.0
internal import HeapModule

/// Timers: each key is due at one instant.
///
/// A value. Setting an instant adds an entry to a heap; the key's former entry is skipped when it comes up.
struct TimerQueue<Key: Hashable & Sendable, Instant: Comparable & Sendable>: Sendable {
  private struct Entry: Comparable, Sendable {
    var instant: Instant
    /// Of two entries with the same instant, the one that was set first comes first.
    var number: Int
    var key: Key

    static func < (left: Self, right: Self) -> Bool {
      (left.instant, left.number) < (right.instant, right.number)
    }

    static func == (left: Self, right: Self) -> Bool { left.number == right.number }
  }

  private var heap = Heap<Entry>()
  private var instants: [Key: Instant] = [:]
  private var lastNumber = 0

  var isEmpty: Bool { instants.isEmpty }

  var count: Int { instants.count }

  /// Sets or changes the timer of a key; nil removes it.
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

  /// The instant of the next timer; nil if none is set.
  mutating func next() -> Instant? {
    dropPassed()
    return heap.min?.instant
  }

  /// Removes a timer whose instant has come, and returns its key; nil if there is none.
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
