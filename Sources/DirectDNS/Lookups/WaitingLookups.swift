// SPDX-License-Identifier: Apache-2.0
internal import HeapModule

/// The lookups that wait, by their numbers and in the order of their ends: a value.
///
/// Each lookup also has its end itself. An entry whose lookup is over, or ends at another time by now, is skipped when
/// it comes up: nearly all lookups are over long before their end.
struct WaitingLookups: Sendable {
  private struct End: Comparable, Sendable {
    var instant: ResolverInstant
    var number: Number<Lookup>

    static func < (left: Self, right: Self) -> Bool { (left.instant, left.number) < (right.instant, right.number) }
  }

  private var lookups = NumberTable<Lookup, Lookup>()
  private var ends = Heap<End>()
  /// How many entries there may be before outdated ones are dropped: twice as many as were left the last time, so that
  /// the cost is spread over the entries that came since.
  private var limit = 64

  var count: Int { lookups.count }

  /// All of them, by ascending numbers.
  var all: [(number: Number<Lookup>, value: Lookup)] { lookups.all }

  /// The lookup of that number; nil if it does not wait.
  subscript(number: Number<Lookup>) -> Lookup? { lookups[number] }

  /// Whether a lookup waits for that server's answers.
  func waits(_ number: Number<Lookup>, for server: InFlightQuestion.Server) -> Bool {
    lookups.read(number) { $0.waits(for: server) } ?? false
  }

  /// Has a lookup wait, until its end at the latest.
  mutating func add(_ lookup: consuming Lookup) {
    let (number, instant) = (lookup.caller.number, lookup.wait.end)
    lookups[number] = lookup
    ends.insert(End(instant: instant, number: number))
    guard ends.count > limit else { return }
    ends = Heap(ends.unordered.filter(holds))
    limit = 2 * ends.count + 64
  }

  /// Removes a lookup, which goes on or is over.
  mutating func remove(_ number: Number<Lookup>) -> Lookup? { lookups.removeValue(forKey: number) }

  /// When the next lookup ends; nil if there is none.
  mutating func nextEnd() -> ResolverInstant? {
    while let first = ends.min, !holds(first) { ends.removeMin() }
    return ends.min?.instant
  }

  /// The number of a lookup whose end has come, which is told once; nil if there is none.
  mutating func takeDue(at now: ResolverInstant) -> Number<Lookup>? {
    guard let instant = nextEnd(), instant <= now else { return nil }
    return ends.popMin()?.number
  }

  private func holds(_ end: End) -> Bool { lookups.read(end.number) { $0.wait.end } == end.instant }
}
