// SPDX-License-Identifier: Apache-2.0
/// The difference between the wall clock and the resolver's steady clock: a value that is updated by reading both.
///
/// A wall clock may be set, which shows when both clocks are read. From then on, an answer with a time from before
/// counts as one whose age is not known exactly.
struct WallTime: Sendable, Hashable {
  /// The largest difference between the clocks of two machines, or of a clock to the right time, that is ignored.
  static let tolerance = Duration.seconds(1)

  private var wall: WallInstant
  private var monotonic: ResolverInstant
  /// Times up to this one may be from before the clock was set.
  private var doubtful = WallInstant(milliseconds: .min)
  /// The most that the clock can have been set forward since an answer was stamped, and the most that it can have been set
  /// back: from some jump on, in all.
  ///
  /// Not the sums of all jumps one way: a clock that is set to and fro again and again would leave no answer any age.
  private var (forward, back) = (Duration.zero, Duration.zero)

  init(wall: WallInstant, now: ResolverInstant) {
    self.wall = wall
    monotonic = now
  }

  /// Reads both clocks.
  mutating func look(wall: WallInstant, now: ResolverInstant) {
    let expected = self.wall + (now - monotonic)
    let difference = wall - expected
    // A clock that is set back shows some times twice; one that is set forward skips some.
    if difference > Self.tolerance || difference < .zero - Self.tolerance {
      doubtful = max(doubtful, wall, expected)
      forward = max(.zero, forward + difference)
      back = max(.zero, back - difference)
    }
    self.wall = wall
    monotonic = now
  }

  /// The wall clock's time for an instant of the resolver's clock.
  func stamp(_ instant: ResolverInstant) -> WallInstant { wall + (instant - monotonic) }

  /// The life of a stored answer, by the resolver's clock.
  ///
  /// The age of an answer is not known exactly if its times are in the future, or from before the clock was set. It
  /// counts as expired since it was asked for, as far as that can be told, and past ``CachePolicy/grace``: it serves if
  /// there is nothing better, and is gone after ``CachePolicy/maximumStale``. No answer lives longer than this
  /// resolver's policy allows, whatever the store says.
  func life(of answer: StoredAnswer, _ policy: CachePolicy) -> CacheLife {
    let age = wall - answer.asked
    guard answer.asked > doubtful, age >= .zero - Self.tolerance else {
      let asked = monotonic - min(max(leastAge(age), .nanoseconds(1)), CacheLife.horizon)
      return CacheLife(askedAt: asked.nanoseconds, expireAt: asked.nanoseconds)
    }
    let isNegative = if case .negative = answer.content { true } else { false }
    let longest = isNegative ? policy.maximumNegativeTTL : policy.maximumTTL
    let asked = monotonic - min(max(age, .zero), CacheLife.horizon)
    let lifetime = min(max(answer.expires - answer.asked, .zero), longest, CacheLife.horizon)
    return CacheLife(askedAt: asked.nanoseconds, expireAt: (asked + lifetime).nanoseconds)
  }

  /// The least age of an answer that seems to be that old, or to be from the future.
  ///
  /// It grows with time, so that no answer is used for ever because a clock was set.
  private func leastAge(_ seeming: Duration) -> Duration {
    // Some of the time since may have been skipped.
    guard seeming < .zero else { return seeming - forward }
    // It is from before this clock was set back. If that does not explain it, a clock was wrong by at least that much,
    // here or where it was written; what is further ahead than an answer may be used has no use here.
    let age = seeming + back
    return age < .zero ? .zero - age : age
  }
}
