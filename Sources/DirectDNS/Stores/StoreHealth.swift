// SPDX-License-Identifier: Apache-2.0
/// Whether a store is used: a value that outcomes and time change.
///
/// After a failure, or three late calls in a row, it is not used for 1 s, then for twice as long each time, up to 30 s.
/// Then one call tries it again, which no lookup waits for.
struct StoreHealth: Sendable, Hashable {
  /// The state of its circuit breaker: with `probe`, one call may try the store again.
  enum BreakerState: Sendable, Hashable { case usable, open, probe }

  private static let firstOpenTime = Duration.seconds(1)
  private static let longestOpenTime = Duration.seconds(30)

  /// How many late calls in a row count as a failure; on a busy machine a single one may be late.
  private static let lateLimit = 3

  private var failures = 0
  private var lateInARow = 0
  private var isTried = false
  /// When the store may be tried again; nil while it works.
  private(set) var openUntil: ResolverInstant?

  func breaker(at now: ResolverInstant) -> BreakerState {
    guard let openUntil else { return .usable }
    return now < openUntil ? .open : .probe
  }

  /// A call tries the store again, so that no other one does for a while.
  mutating func tried(at now: ResolverInstant) {
    isTried = true
    openUntil = now + Self.firstOpenTime
  }

  /// A call has failed; of several calls that fail together, only the first counts.
  ///
  /// - Returns: whether the store had worked until then.
  mutating func failed(at now: ResolverInstant) -> Bool {
    let worked = openUntil == nil
    guard worked || isTried else { return false }
    isTried = false
    openUntil = now + Self.firstOpenTime.doubled(failures, atMost: Self.longestOpenTime)
    failures += 1
    return worked
  }

  /// A call was late.
  ///
  /// - Returns: whether the store had worked until then, and is not used any more.
  mutating func late(at now: ResolverInstant) -> Bool {
    lateInARow += 1
    return lateInARow >= Self.lateLimit || openUntil != nil ? failed(at: now) : false
  }

  /// A call has succeeded.
  ///
  /// - Returns: whether the store had failed before.
  mutating func succeeded() -> Bool {
    defer { self = StoreHealth() }
    return openUntil != nil
  }
}
