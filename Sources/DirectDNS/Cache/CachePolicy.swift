// SPDX-License-Identifier: Apache-2.0
/// For how long answers are kept and used: the whole life of an answer, decided here and nowhere else.
public struct CachePolicy: Sendable, Hashable {
  /// A positive answer lives at least so long, except one with TTL 0.
  ///
  /// Default 10 s.
  public var minimumTTL: Duration
  /// No answer lives longer.
  ///
  /// Default 1 h.
  public var maximumTTL: Duration
  /// For so long after expiry the expired answer is handed out at once while a refresh runs; at most the
  /// answer's own lifetime.
  ///
  /// Default 30 s.
  public var grace: Duration
  /// For so long after expiry an answer may still serve when no fresh one can be had.
  ///
  /// Default 24 h.
  public var maximumStale: Duration
  /// A lookup that could hand out an expired answer waits until the refresh has taken so long.
  ///
  /// Who comes while it is under way waits for the rest of that. Default 300 ms.
  public var clientResponseTimeout: Duration
  /// Negative answers live at least so long.
  ///
  /// Default 1 s.
  public var minimumNegativeTTL: Duration
  /// Negative answers live at most so long.
  ///
  /// Default 300 s (RFC 2308 §5 allows three hours).
  public var maximumNegativeTTL: Duration
  /// The lifetime of a negative answer whose reply has no SOA; nil means that it is not kept (RFC 2308 §5).
  ///
  /// Default nil.
  public var negativeTTLWithoutSOA: Duration?
  /// A failure is remembered so long at first, doubling with each further one (RFC 9520).
  ///
  /// Default 1 s; 0 is never. At most ``maximumFailureTTL``.
  public var minimumFailureTTL: Duration
  /// No failure is remembered for longer.
  ///
  /// Default 30 s, and at most 300 s (RFC 9520 §3.2).
  public var maximumFailureTTL: Duration
  /// An expired answer whose refresh failed is not asked for again before this (RFC 8767 §5).
  ///
  /// Default 30 s.
  public var failureRecheck: Duration
  /// Whether answers are refreshed before they expire, from 75 % of their lifetime on.
  ///
  /// Default true.
  public var refreshesAhead: Bool

  /// Creates a policy; without arguments, the defaults.
  public init(
    minimumTTL: Duration = .seconds(10), maximumTTL: Duration = .seconds(3600), grace: Duration = .seconds(30),
    maximumStale: Duration = .seconds(86_400), clientResponseTimeout: Duration = .milliseconds(300),
    minimumNegativeTTL: Duration = .seconds(1), maximumNegativeTTL: Duration = .seconds(300),
    negativeTTLWithoutSOA: Duration? = nil, minimumFailureTTL: Duration = .seconds(1),
    maximumFailureTTL: Duration = .seconds(30), failureRecheck: Duration = .seconds(30), refreshesAhead: Bool = true
  ) {
    self.minimumTTL = minimumTTL
    self.maximumTTL = maximumTTL
    self.grace = grace
    self.maximumStale = maximumStale
    self.clientResponseTimeout = clientResponseTimeout
    self.minimumNegativeTTL = minimumNegativeTTL
    self.maximumNegativeTTL = maximumNegativeTTL
    self.negativeTTLWithoutSOA = negativeTTLWithoutSOA
    self.minimumFailureTTL = minimumFailureTTL
    self.maximumFailureTTL = maximumFailureTTL
    self.failureRecheck = failureRecheck
    self.refreshesAhead = refreshesAhead
  }

  /// RFC 9520 §3.2: failures "MUST NOT" be remembered for longer than 5 minutes.
  package static let longestFailureTTL = Duration.seconds(300)

  /// Checks the values that only make sense together.
  func validate() throws(DirectDNSError) {
    for (low, high, isWrong) in [
      ("minimumTTL", "maximumTTL", minimumTTL > maximumTTL),
      ("minimumNegativeTTL", "maximumNegativeTTL", minimumNegativeTTL > maximumNegativeTTL),
      ("minimumFailureTTL", "maximumFailureTTL", minimumFailureTTL > maximumFailureTTL),
    ] where isWrong {
      throw DirectDNSError(.invalidConfiguration, "cache.\(low) is greater than cache.\(high).")
    }
    guard maximumFailureTTL <= Self.longestFailureTTL else {
      throw DirectDNSError(
        .invalidConfiguration,
        "cache.maximumFailureTTL is \(maximumFailureTTL): a failure is remembered for at most 300 s (RFC 9520).")
    }
  }

  /// The lifetime of an answer, counted from when it was asked for; nil if it is not to be kept.
  func lifetime(of answer: Answer) -> Duration? {
    switch answer.content {
    case .addresses:
      // TTL 0: for those who wait, and no one else. `minimumTTL` does not lift it.
      guard let ttl = answer.ttl, ttl > 0 else { return nil }
      return bounded(.seconds(Int64(ttl)), minimumTTL, maximumTTL)
    case .negative:
      guard let ttl = answer.ttl.map({ Duration.seconds(Int64($0)) }) ?? negativeTTLWithoutSOA else { return nil }
      return bounded(ttl, minimumNegativeTTL, maximumNegativeTTL)
    }
  }

  /// The policy for answers that live no longer than that, whatever it says.
  func atMost(_ lifetime: Duration) -> CachePolicy {
    var policy = self
    policy.maximumTTL = min(maximumTTL, lifetime)
    policy.maximumNegativeTTL = min(maximumNegativeTTL, lifetime)
    return policy
  }

  private func bounded(_ lifetime: Duration, _ least: Duration, _ most: Duration) -> Duration {
    min(max(lifetime, least), most, CacheLife.horizon)
  }

  /// How long the next failure is remembered, after so many in a row before it.
  func failureMemory(after failures: Int) -> Duration {
    guard minimumFailureTTL > .zero else { return .zero }
    return minimumFailureTTL.doubled(failures, atMost: maximumFailureTTL)
  }
}

/// The policy's times in nanoseconds, for the one function that every cached lookup goes through.
struct CacheTimes: Sendable, Hashable {
  let grace: Int64
  let maximumStale: Int64
  let refreshesAhead: Bool

  @inline(__always)
  init(grace: Int64, maximumStale: Int64, refreshesAhead: Bool) {
    self.grace = grace
    self.maximumStale = maximumStale
    self.refreshesAhead = refreshesAhead
  }

  init(_ policy: CachePolicy) {
    grace = policy.grace.wholeNanoseconds
    maximumStale = policy.maximumStale.wholeNanoseconds
    refreshesAhead = policy.refreshesAhead
  }

  /// Where an entry stands in its life: the one place that knows what *expired* means.
  ///
  /// - Parameters:
  ///   - life: when the entry was asked for and when it expires.
  ///   - isNegative: negative answers are used while fresh and never afterwards.
  ///   - expired: what the caller thinks of expired answers.
  ///   - epoch: when the network last changed: what was asked before is due, or gone if it is negative.
  ///   - now: the present.
  /// - Returns: the one phase that holds.
  @inline(__always)
  func phase(
    of life: CacheLife, isNegative: Bool, expired: ExpiredUse, epoch: Int64, at now: ResolverInstant
  ) -> CachePhase {
    let left = life.expireAt - now.nanoseconds
    if left > 0 {
      guard life.askedAt >= epoch else { return isNegative ? .gone : .due }
      guard refreshesAhead, !isNegative else { return .fresh }
      // Due from 75 % of the lifetime on.
      return left > life.duration >> 2 ? .fresh : .due
    }
    guard !isNegative, expired != .refused, -left <= maximumStale else { return .gone }
    if expired == .preferred { return .grace }
    return -left <= min(grace, life.duration) && grace > 0 ? .grace : .stale
  }
}

/// When an entry was asked for, and when it expires, in nanoseconds of the resolver's time line.
struct CacheLife: Sendable, Hashable {
  /// The most that either instant is away from when the entry was made: 70 years.
  ///
  /// Whoever makes an entry of what others say keeps to it, so that sums and differences on the way of every cached
  /// lookup have room, whatever a store, a reply or a policy says.
  static let horizon = Duration.seconds(70 * 365 * 86_400)

  var askedAt: Int64
  var expireAt: Int64

  @inline(__always)
  var duration: Int64 { expireAt - askedAt }
}

/// Where an entry stands in its life.
enum CachePhase: UInt8, Sendable, Hashable {
  /// Used as it is.
  case fresh
  /// Used as it is, while one refresh runs.
  case due
  /// Expired a moment ago: used at once, while one refresh runs.
  case grace
  /// Expired: used after waiting for the refresh in vain.
  case stale
  /// A miss.
  case gone

  /// Whether the entry is handed out without waiting.
  @inline(__always)
  var isUsedAtOnce: Bool { rawValue <= CachePhase.grace.rawValue }
}

/// What a caller thinks of expired answers.
public enum ExpiredUse: String, Sendable, Hashable, CaseIterable, Codable {
  /// They serve for a moment after expiry, and later when no fresh one can be had in time. The default.
  case allowed
  /// They never serve.
  case refused
  /// They serve at once, however old, up to ``CachePolicy/maximumStale``.
  case preferred
}
