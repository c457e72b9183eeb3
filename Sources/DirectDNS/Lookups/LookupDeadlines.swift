// SPDX-License-Identifier: Apache-2.0
internal import HeapModule

/// The times of one lookup: the whole, the providers together, and each attempt, in fixed proportion.
struct LookupDeadlines: Sendable, Hashable {
  /// When the lookup ends.
  let whole: ResolverInstant
  /// When the providers must be done; the system's DNS gets what is left.
  let providers: ResolverInstant
  /// How long one attempt may take while there is another server to ask in its place; without one it goes on until the
  /// providers' time is over.
  let attempt: Duration
  /// Whether a caller wanted it to be over so soon that a server's silence says nothing of the server.
  let isShort: Bool

  /// Of 5 s: 3.5 s for the providers together, 3 s for each attempt.
  ///
  /// - Parameters:
  ///   - timeout: the time of the whole.
  ///   - now: when the lookup begins.
  ///   - hasSystem: whether the system's DNS may be asked afterwards; without it the providers have 4.9 s of 5.
  ///   - usual: what lookups have whose callers do not say, if this one's caller does.
  init(timeout: Duration, from now: ResolverInstant, hasSystem: Bool = true, usual: Duration? = nil) {
    let nanoseconds = timeout.wholeNanoseconds
    whole = now + timeout
    providers = now + .nanoseconds(hasSystem ? nanoseconds / 10 * 7 : nanoseconds / 50 * 49)
    attempt = .nanoseconds(nanoseconds / 10 * 6)
    isShort = usual.map { timeout < min($0, .seconds(1)) } ?? false
  }

  /// How long an attempt that begins now may take at most; nil if it is too late for one.
  func timeLeft(at now: ResolverInstant) -> Duration? {
    let left = providers - now
    return left > .zero ? left : nil
  }
}

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
  /// How many there may be before those that are over are dropped: twice as many as there were after the last time, so
  /// that the cost of it is spread over those that came since.
  private var limit = 64

  /// Notes when a lookup ends that is under way.
  mutating func add(_ number: Int, at instant: ResolverInstant, among lookups: NumberTable<Lookup>) {
    heap.insert(End(instant: instant, number: number))
    guard heap.count > limit else { return }
    heap = Heap(heap.unordered.filter { Self.holds($0, lookups) })
    limit = 2 * heap.count + 64
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
