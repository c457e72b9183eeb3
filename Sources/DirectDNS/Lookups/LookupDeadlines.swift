// SPDX-License-Identifier: Apache-2.0
internal import HeapModule

/// The time limits of one lookup, in fixed proportion: of the whole, of the providers together, and of each attempt.
struct LookupDeadlines: Sendable, Hashable {
  /// When the lookup ends.
  let whole: ResolverInstant
  /// When the providers must be done; the system's DNS gets what is left.
  let providers: ResolverInstant
  /// How long one attempt may take while there is another server to ask instead; the last one has until ``providers``.
  let attempt: Duration
  /// Whether the caller allows so little time that a server's silence says nothing about the server.
  let isShort: Bool

  /// Of 5 s: 3.5 s for the providers together, 3 s for each attempt.
  ///
  /// - Parameters:
  ///   - timeout: how long the whole lookup may take.
  ///   - now: when the lookup begins.
  ///   - hasSystem: whether the system's DNS may be asked afterwards; otherwise the providers have 4.9 s of 5.
  ///   - usual: the configured timeout, if the caller has given another one.
  init(timeout: Duration, from now: ResolverInstant, hasSystem: Bool = true, usual: Duration? = nil) {
    let nanoseconds = timeout.wholeNanoseconds
    whole = now + timeout
    providers = now + .nanoseconds(hasSystem ? nanoseconds / 10 * 7 : nanoseconds / 50 * 49)
    attempt = .nanoseconds(nanoseconds / 10 * 6)
    isShort = usual.map { timeout < min($0, .seconds(1)) } ?? false
  }

  /// How long an attempt that begins now may take at most; nil if no time is left for one.
  func timeLeft(at now: ResolverInstant) -> Duration? {
    let left = providers - now
    return left > .zero ? left : nil
  }
}

/// The ends of all lookups in the order of time: a value.
///
/// Each lookup also has its end itself. An entry whose lookup is over, or ends at another time by now, is skipped when
/// it comes up: nearly all lookups are over long before their end.
struct LookupEnds: Sendable {
  private struct End: Comparable, Sendable {
    var instant: ResolverInstant
    var number: Int

    static func < (left: Self, right: Self) -> Bool { (left.instant, left.number) < (right.instant, right.number) }
  }

  private var heap = Heap<End>()
  /// How many entries there may be before outdated ones are dropped: twice as many as were left the last time, so that
  /// the cost is spread over the entries that came since.
  private var limit = 64

  /// Notes when a lookup ends.
  mutating func add(_ number: Int, at instant: ResolverInstant, among lookups: NumberTable<Lookup>) {
    heap.insert(End(instant: instant, number: number))
    guard heap.count > limit else { return }
    heap = Heap(heap.unordered.filter { Self.holds($0, lookups) })
    limit = 2 * heap.count + 64
  }

  /// When the next lookup ends; nil if there is none.
  mutating func next(among lookups: NumberTable<Lookup>) -> ResolverInstant? {
    while let first = heap.min, !Self.holds(first, lookups) { heap.removeMin() }
    return heap.min?.instant
  }

  /// Takes out a lookup whose end has come; nil if there is none.
  mutating func takeDue(among lookups: NumberTable<Lookup>, at now: ResolverInstant) -> Int? {
    guard let instant = next(among: lookups), instant <= now else { return nil }
    return heap.popMin()?.number
  }

  private static func holds(_ end: End, _ lookups: NumberTable<Lookup>) -> Bool {
    lookups.read(end.number) { $0.wait.end } == end.instant
  }
}
