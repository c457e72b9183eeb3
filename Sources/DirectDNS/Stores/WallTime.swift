// SPDX-License-Identifier: Apache-2.0
/// How the wall clock stands to the resolver's own time line: a value, moved on by looking at both.
///
/// Wall clocks are set. Whoever looks at both clocks sees it, and from then on takes no stamp from before for more than it
/// is: an answer of unknown age.
struct WallTime: Sendable, Hashable {
  /// So far may two machines' clocks be apart, and a clock from where it should be, before it counts.
  static let tolerance = Duration.seconds(1)

  private var wall: WallInstant
  private var monotonic: ResolverInstant
  /// Stamps up to this one may be of the clock as it was before it was set.
  private var doubtful = WallInstant(milliseconds: .min)

  init(wall: WallInstant, now: ResolverInstant) {
    self.wall = wall
    monotonic = now
  }

  /// Looks at both clocks.
  mutating func look(wall: WallInstant, now: ResolverInstant) {
    let expected = self.wall + (now - monotonic)
    let difference = wall - expected
    // Set back, the clock shows times again that it has shown before; set forward, it leaves some out.
    if difference > Self.tolerance || difference < .zero - Self.tolerance { doubtful = max(doubtful, wall, expected) }
    self.wall = wall
    monotonic = now
  }

  /// The wall clock's instant for one of the time line.
  func stamp(_ instant: ResolverInstant) -> WallInstant { wall + (instant - monotonic) }

  /// Where a stored answer's life lies on the time line.
  ///
  /// An answer of unknown age, since its stamps are from the future or of a clock that was set, counts as expired just now,
  /// beyond ``CachePolicy/grace``: it serves where nothing better can be had. No answer lives longer than this
  /// resolver's own policy allows, whatever a store says.
  func life(of answer: StoredAnswer, _ policy: CachePolicy) -> CacheLife {
    let age = wall - answer.asked
    guard answer.asked > doubtful, age >= .zero - Self.tolerance else {
      let past = monotonic.nanoseconds - 1
      return CacheLife(askedAt: past, expireAt: past)
    }
    let isNegative = if case .negative = answer.content { true } else { false }
    let longest = isNegative ? policy.maximumNegativeTTL : policy.maximumTTL
    let asked = monotonic - min(max(age, .zero), CacheLife.horizon)
    let lifetime = min(max(answer.expires - answer.asked, .zero), longest, CacheLife.horizon)
    return CacheLife(askedAt: asked.nanoseconds, expireAt: (asked + lifetime).nanoseconds)
  }
}
