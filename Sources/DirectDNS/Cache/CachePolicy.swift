// SPDX-License-Identifier: Apache-2.0
/// How long answers are kept and used: the whole life of an answer, which is decided here and nowhere else.
///
/// No time may be negative, and no minimum greater than its maximum: a resolver refuses such a policy.
public struct CachePolicy: Sendable, Hashable {
  /// The least lifetime of a positive answer, except one with TTL 0.
  ///
  /// Default 10 s.
  public var minimumTTL: Duration
  /// The greatest lifetime of a positive answer.
  ///
  /// Default 1 h.
  public var maximumTTL: Duration
  /// How long an expired answer is still served at once while a refresh is under way; at most as long as the answer's
  /// own lifetime.
  ///
  /// Default 30 s.
  public var grace: Duration
  /// How long an expired answer may be served when there is no fresh one (serve-stale, RFC 8767).
  ///
  /// Default 24 h.
  public var maximumStale: Duration
  /// How long a lookup waits for the refresh of an expired answer before it serves that answer (RFC 8767 §5).
  ///
  /// It counts from when the refresh began: lookups that come later wait for the rest of that time. Default 300 ms.
  public var clientResponseTimeout: Duration
  /// The least lifetime of a negative answer.
  ///
  /// Default 1 s.
  public var minimumNegativeTTL: Duration
  /// The greatest lifetime of a negative answer.
  ///
  /// Default 300 s (RFC 2308 §5 allows three hours).
  public var maximumNegativeTTL: Duration
  /// The lifetime of a negative answer without an SOA record; nil for one that is not kept (RFC 2308 §5).
  ///
  /// Default nil.
  public var negativeTTLWithoutSOA: Duration?
  /// How long the first failure of a question is remembered; doubled with each further one (RFC 9520).
  ///
  /// Default 1 s; with 0, failures are not remembered. At most ``maximumFailureTTL``.
  public var minimumFailureTTL: Duration
  /// The longest time that a failure is remembered.
  ///
  /// Default 30 s, and at most 300 s (RFC 9520 §3.2).
  public var maximumFailureTTL: Duration
  /// How long an expired answer is not refreshed after a refresh has failed (failure recheck timer, RFC 8767 §5).
  ///
  /// Default 30 s.
  public var failureRecheck: Duration
  /// Whether an answer that is used after 75 % of its lifetime is refreshed before it expires.
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

  /// Checks that no time is negative, and the values that depend on each other.
  func validate() throws(DirectDNSError) {
    let times: KeyValuePairs<String, Duration> = [
      "minimumTTL": minimumTTL, "maximumTTL": maximumTTL, "grace": grace, "maximumStale": maximumStale,
      "clientResponseTimeout": clientResponseTimeout, "minimumNegativeTTL": minimumNegativeTTL,
      "maximumNegativeTTL": maximumNegativeTTL, "negativeTTLWithoutSOA": negativeTTLWithoutSOA ?? .zero,
      "minimumFailureTTL": minimumFailureTTL, "maximumFailureTTL": maximumFailureTTL,
      "failureRecheck": failureRecheck,
    ]
    if let (name, value) = times.first(where: { $0.value < .zero }) {
      throw DirectDNSError(.invalidConfiguration, "cache.\(name) is \(value): 0 s is the least.")
    }
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

  /// The lifetime of an answer, which counts from when it was asked for; nil if it is not to be kept.
  func lifetime(of answer: Answer) -> Duration? {
    switch answer.content {
    case .addresses:
      // An answer with TTL 0 is only for those who wait for it, whatever `minimumTTL` says.
      guard let ttl = answer.ttl, ttl > 0 else { return nil }
      return bounded(.seconds(Int64(ttl)), minimumTTL, maximumTTL)
    case .negative:
      guard let ttl = answer.ttl.map({ Duration.seconds(Int64($0)) }) ?? negativeTTLWithoutSOA else { return nil }
      return bounded(ttl, minimumNegativeTTL, maximumNegativeTTL)
    }
  }

  /// The same policy, except that no answer lives longer than that.
  func atMost(_ lifetime: Duration) -> CachePolicy {
    var policy = self
    policy.maximumTTL = min(maximumTTL, lifetime)
    policy.maximumNegativeTTL = min(maximumNegativeTTL, lifetime)
    return policy
  }

  private func bounded(_ lifetime: Duration, _ least: Duration, _ most: Duration) -> Duration {
    min(max(lifetime, least), most, CacheLife.horizon)
  }

  /// How long a failure is remembered after so many others in a row.
  func failureTTL(after failures: Int) -> Duration {
    guard minimumFailureTTL > .zero else { return .zero }
    return minimumFailureTTL.doubled(failures, atMost: maximumFailureTTL)
  }
}

/// The policy's times in nanoseconds, as every cached lookup needs them.
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

  /// The phase of an entry's life: the one function that decides what *expired* means.
  ///
  /// - Parameters:
  ///   - life: when the entry was asked for, and when it expires.
  ///   - isNegative: whether it is a negative answer, which is used while it is fresh and never afterwards.
  ///   - expired: whether the caller accepts expired answers.
  ///   - epoch: when the network last changed; an older entry is due, or gone if it is negative.
  ///   - now: the present.
  /// - Returns: the phase.
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
  /// Neither instant may be further away than this from when the entry was made: 70 years.
  ///
  /// Every place that makes an entry from outside values (of a store, a reply, a policy) has to ensure that, so that
  /// the arithmetic of cached lookups cannot overflow.
  static let horizon = Duration.seconds(70 * 365 * 86_400)
  /// An instant that never comes, and from which every other can be subtracted.
  static let never = Int64.max / 2

  var askedAt: Int64
  var expireAt: Int64

  @inline(__always)
  var duration: Int64 { expireAt - askedAt }
}

/// A phase in the life of an entry.
enum CachePhase: UInt8, Sendable, Hashable {
  /// It is served.
  case fresh
  /// It is served, and refreshed.
  case due
  /// It expired a moment ago: it is served, and refreshed.
  case grace
  /// It has expired: it is served if waiting for its refresh takes too long.
  case stale
  /// It is not served any more.
  case gone

  /// Whether the entry is served without waiting.
  @inline(__always)
  var isUsedAtOnce: Bool { rawValue <= CachePhase.grace.rawValue }
}

/// Whether a caller accepts expired answers.
public enum ExpiredUse: String, Sendable, Hashable, CaseIterable, Codable {
  /// Yes: at once for a moment after expiry, and later if no fresh answer comes in time; the default.
  case allowed
  /// No.
  case refused
  /// Yes: at once, up to ``CachePolicy/maximumStale`` after expiry.
  case preferred
}
