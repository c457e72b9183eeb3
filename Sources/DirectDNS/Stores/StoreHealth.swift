// SPDX-License-Identifier: Apache-2.0
/// Whether a store is asked: a value, moved on by outcomes and `now` alone.
///
/// After a failure, or three calls in a row that were late, it rests for 1 s, doubling to 30 s. Then one call tries it,
/// which nobody waits for.
struct StoreHealth: Sendable, Hashable {
  enum Standing: Sendable, Hashable { case works, rests, wantsTrying }

  static let firstRest = Duration.seconds(1)
  static let longestRest = Duration.seconds(30)

  /// So many calls in a row are late before it counts: on a busy machine one may be.
  static let lateLimit = 3

  private var failures = 0
  private var lateInARow = 0
  private var isTried = false
  /// When it may be tried again; nil while it works.
  private(set) var restsUntil: ResolverInstant?

  func standing(at now: ResolverInstant) -> Standing {
    guard let restsUntil else { return .works }
    return now < restsUntil ? .rests : .wantsTrying
  }

  /// Notes that a call tries it: no other does for a moment.
  mutating func tried(at now: ResolverInstant) {
    isTried = true
    restsUntil = now + Self.firstRest
  }

  /// Notes a failure; says whether it worked until then.
  ///
  /// Of several calls that fail together the first one counts.
  mutating func failed(at now: ResolverInstant) -> Bool {
    let worked = restsUntil == nil
    guard worked || isTried else { return false }
    isTried = false
    restsUntil = now + Self.firstRest.doubled(failures, atMost: Self.longestRest)
    failures += 1
    return worked
  }

  /// Notes that a call was late; says whether it worked until then, and does not any more.
  mutating func late(at now: ResolverInstant) -> Bool {
    lateInARow += 1
    return lateInARow >= Self.lateLimit || restsUntil != nil ? failed(at: now) : false
  }

  /// Notes a success; says whether it had failed before.
  mutating func succeeded() -> Bool {
    defer { self = StoreHealth() }
    return restsUntil != nil
  }
}
