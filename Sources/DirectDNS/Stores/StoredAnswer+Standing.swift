// SPDX-License-Identifier: Apache-2.0
extension StoredAnswer {
  /// Where a stored answer stands in its life, for whoever looks into a store.
  public struct Standing: Sendable, Hashable {
    /// What a lookup would make of it; nil for one that is gone.
    public var freshness: Resolution.Freshness?
    /// The time since it was asked for.
    public var age: Duration
    /// What is left of its lifetime; negative once it has expired.
    public var timeLeft: Duration
  }

  /// Where the answer stands for a resolver that starts now and reads it.
  ///
  /// - Parameters:
  ///   - now: the wall clock.
  ///   - policy: the resolver's; an answer lives no longer than it allows, whoever wrote it.
  /// - Returns: its freshness, age and what is left of its lifetime.
  public func standing(at now: WallInstant, policy: CachePolicy = CachePolicy()) -> Standing {
    let present = ResolverInstant(nanoseconds: 0)
    let life = WallTime(wall: now, now: present).life(of: self, policy)
    let isNegative = if case .negative = content { true } else { false }
    let phase = CacheTimes(policy).phase(
      of: life, isNegative: isNegative, expired: .allowed, epoch: .min, at: present)
    return Standing(
      freshness: phase == .gone ? nil : Resolution.Freshness(phase), age: max(now - asked, .zero),
      timeLeft: .nanoseconds(life.expireAt))
  }
}
