// SPDX-License-Identifier: Apache-2.0
/// When a family of a kept-alive name is refreshed next: a pure function.
enum KeepAliveSchedule {
  /// The share of an answer's lifetime after which it is refreshed, and how much of it that moves by chance, so that
  /// names which were asked for together are not all due together.
  private static let (share, jitterShare) = (0.75, 0.1)

  /// At 75 % of the answer's lifetime, plus or minus up to a tenth of it.
  ///
  /// After failures: when the last failure is no longer remembered.
  ///
  /// - Parameters:
  ///   - life: the life of the known answer; nil if there is none, which is due now.
  ///   - failures: how many refreshes failed in a row.
  ///   - jitter: from -1 to 1.
  ///   - policy: says how long failures are remembered.
  ///   - now: the present.
  /// - Returns: the instant, never in the past.
  static func next(
    _ life: CacheLife?, failures: Int, jitter: Double, policy: CachePolicy, now: ResolverInstant
  ) -> ResolverInstant {
    if failures > 0 { return now + max(policy.failureTTL(after: failures - 1), .seconds(1)) }
    return life.map { max(instant(in: $0, jitter: jitter), now) } ?? now
  }

  /// When an answer may be refreshed at the earliest, whatever chance says.
  static func earliest(_ life: CacheLife) -> ResolverInstant { instant(in: life, jitter: -1) }

  private static func instant(in life: CacheLife, jitter: Double) -> ResolverInstant {
    let share = share + jitterShare * min(max(jitter, -1), 1)
    return ResolverInstant(nanoseconds: life.askedAt) + .nanoseconds(saturating: Double(life.duration) * share)
  }
}
