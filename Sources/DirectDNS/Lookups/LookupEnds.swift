// SPDX-License-Identifier: Apache-2.0
internal import HeapModule

/// When lookups end at the latest: a value.
///
/// A lookup has its end itself, and here is the order of them. One that is over, or ends at another instant by now, is
/// passed over when its turn comes: nearly all are over long before.
struct LookupEnds: Sendable {
  private struct End: Comparable, Sendable {
    var instant: ResolverInstant
    var number: Int

    static func < (left: Self, right: Self) -> Bool { (left.instant, left.number) < (right.instant, right.number) }
  }

  private var heap = Heap<End>()

  /// Notes when a lookup ends that is under way.
  mutating func add(_ number: Int, at instant: ResolverInstant, among lookups: NumberTable<Lookup>) {
    heap.insert(End(instant: instant, number: number))
    if heap.count > 2 * lookups.count + 64 { heap = Heap(heap.unordered.filter { Self.holds($0, lookups) }) }
  }

  /// The next instant at which a lookup ends.
  mutating func next(among lookups: NumberTable<Lookup>) -> ResolverInstant? {
    while let first = heap.min, !Self.holds(first, lookups) { heap.removeMin() }
    return heap.min?.instant
  }

  /// Takes a lookup whose end has come.
  mutating func takeDue(among lookups: NumberTable<Lookup>, at now: ResolverInstant) -> Int? {
    guard let instant = next(among: lookups), instant <= now else { return nil }
    return heap.popMin()?.number
  }

  private static func holds(_ end: End, _ lookups: NumberTable<Lookup>) -> Bool {
    lookups.read(end.number) { $0.wait.end } == end.instant
  }
}
