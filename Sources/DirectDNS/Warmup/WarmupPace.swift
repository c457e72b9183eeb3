// SPDX-License-Identifier: Apache-2.0
/// When the next name may begin: so many a second, a value moved by `now`.
///
/// What a late timer missed is made up for, but for no more than 50 ms: the rate is an average over that time.
struct WarmupPace: Sendable, Hashable {
  private static let slack = Duration.milliseconds(50)

  private let interval: Duration
  private var next: ResolverInstant?

  /// Creates a pace of so many names a second; without a rate nobody waits.
  init(rate: Double?) { interval = rate.map { .nanoseconds(saturating: (1e9 / $0).rounded(.up)) } ?? .zero }

  /// When the next name may begin.
  func turn(at now: ResolverInstant) -> ResolverInstant { max(next ?? now, now) }

  /// Notes that a name begins.
  mutating func begin(at now: ResolverInstant) {
    guard interval > .zero else { return }
    next = max(next ?? now, now - Self.slack) + interval
  }
}

/// How many names are under way at a time: a value, moved by what providers say.
struct WarmupWidth: Sendable, Hashable {
  /// The most names at a time.
  let most: Int
  private(set) var current: Int
  private var answered = 0

  /// Creates the width.
  ///
  /// Where every provider has a rate, no more names are under way than have their turn within a second, so that none
  /// waits for longer than its lookup may take, and others' lookups find their turn soon.
  ///
  /// - Parameters:
  ///   - concurrency: the most names that are wanted at a time.
  ///   - limits: the providers' rates; nil for a provider without one.
  ///   - queries: the queries that a name takes.
  init(concurrency: Int, limits: [RateLimit?], queries: Int) {
    let rates = limits.compactMap { $0?.perSecond }
    let isLimited = !limits.isEmpty && rates.count == limits.count
    let turns = isLimited ? rates.reduce(0, +) / Double(max(1, queries)) : .infinity
    // Compared as they are: the largest `Int` as a `Double` is one more than any `Int`.
    most = max(1, turns < Double(concurrency) ? Int(turns) : concurrency)
    current = most
  }

  /// A provider said 429, and no other is left: half as many are enough.
  mutating func narrow() {
    current = max(1, current / 2)
    answered = 0
  }

  /// A name was answered: after as many as are under way, one more is tried.
  mutating func widen() {
    guard current < most else { return }
    answered += 1
    guard answered >= current else { return }
    answered = 0
    current += 1
  }
}
