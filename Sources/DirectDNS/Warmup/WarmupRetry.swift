// SPDX-License-Identifier: Apache-2.0
/// Which names are looked up again, how often, and when.
public struct WarmupRetry: Sendable, Hashable {
  /// The most tries after the first one.
  ///
  /// Default 2. Names that providers turned away with 429 have ten more, since it says nothing about the name.
  public var limit: Int
  /// The pause before the second try; it doubles with each further one.
  ///
  /// Default 1 s, which is also how long a failure is remembered.
  public var backoff: Duration
  /// No pause is longer, unless a provider's `Retry-After` is.
  ///
  /// Default 30 s.
  public var maximumBackoff: Duration
  /// The errors that are worth another try.
  ///
  /// Default `upstreamFailed` and `timedOut`. A negative answer is an answer, and a name that a policy refuses stays
  /// refused.
  public var codes: Set<DirectDNSError.Code>

  /// Creates a rule; without arguments, the defaults.
  public init(
    limit: Int = 2, backoff: Duration = .seconds(1), maximumBackoff: Duration = .seconds(30),
    codes: Set<DirectDNSError.Code> = [.upstreamFailed, .timedOut]
  ) {
    self.limit = limit
    self.backoff = backoff
    self.maximumBackoff = maximumBackoff
    self.codes = codes
  }

  /// Every name is looked up once.
  public static let never = WarmupRetry(limit: 0)

  /// How often one name may be turned away and be looked up again all the same.
  static let rejectionLimit = 10

  /// When a name is looked up again; nil if it is not.
  ///
  /// - Parameters:
  ///   - code: why there is no answer.
  ///   - failures: the tries that failed, this one included, those that were turned away left out.
  ///   - rejections: the tries that were turned away by 429, this one included.
  ///   - memory: for how long the resolver remembers such a failure: an earlier try would hear of nothing else.
  ///   - jitter: from 0 to 1, so that not all come back together.
  ///   - now: the present.
  /// - Returns: the instant.
  func next(
    after code: DirectDNSError.Code, failures: Int, rejections: Int, memory: Duration, jitter: Double,
    at now: ResolverInstant
  ) -> ResolverInstant? {
    guard codes.contains(code), failures <= limit, rejections <= Self.rejectionLimit else { return nil }
    let pause = backoff.doubled(failures + rejections - 1, atMost: maximumBackoff)
    let longest = max(pause, memory)
    return now + longest + .nanoseconds(saturating: Double(longest.wholeNanoseconds) * 0.1 * min(max(jitter, 0), 1))
  }
}
