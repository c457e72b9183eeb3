// SPDX-License-Identifier: Apache-2.0
/// A request rate: so many a second on average, and so many at once.
public struct RateLimit: Hashable, Sendable {
  /// Requests a second, on average.
  ///
  /// More than 0.
  public var perSecond: Double
  /// How many requests may be sent at once after a pause.
  ///
  /// Default ``perSecond``, as many as in a second. The initialiser replaces a value below 1 by 1, since no request
  /// could ever be sent.
  public var burst: Double

  /// Creates a limit; without `burst`, as many requests as in a second may be sent at once.
  public init(perSecond: Double, burst: Double? = nil) {
    self.perSecond = perSecond
    self.burst = max(1, burst ?? perSecond)
  }
}

/// A token bucket, which holds requests to a rate: a pure value.
struct TokenBucket: Hashable, Sendable {
  private(set) var limit: RateLimit
  private var tokens: Double
  private var updated: ResolverInstant

  init(_ limit: RateLimit, now: ResolverInstant) {
    self.limit = limit
    tokens = limit.burst
    updated = now
  }

  /// Takes over another limit; the tokens stay, as far as the new burst allows.
  mutating func change(to limit: RateLimit, at now: ResolverInstant) {
    tokens = min(available(at: now), limit.burst)
    updated = max(updated, now)
    self.limit = limit
  }

  private func available(at now: ResolverInstant) -> Double {
    let seconds = max(0, Double((now - updated).wholeNanoseconds)) / 1e9
    return min(limit.burst, tokens + seconds * limit.perSecond)
  }

  /// Takes a token, if there is one.
  mutating func take(at now: ResolverInstant) -> Bool {
    tokens = available(at: now)
    updated = max(updated, now)
    guard tokens >= 1 else { return false }
    tokens -= 1
    return true
  }

  /// Takes the next token, even if it has yet to come; requests get tokens in the order in which they reserve them.
  ///
  /// - Returns: when the token may be used.
  mutating func reserve(at now: ResolverInstant) -> ResolverInstant {
    let instant = ready(at: now)
    tokens = available(at: now) - 1
    updated = max(updated, now)
    return instant
  }

  /// Takes back a token that was reserved.
  mutating func giveBack() { tokens = min(tokens + 1, limit.burst) }

  /// When the next token comes; `now` if there is one.
  func ready(at now: ResolverInstant) -> ResolverInstant {
    let missing = 1 - available(at: now)
    guard missing > 0 else { return now }
    return now + .nanoseconds(saturating: (missing / limit.perSecond * 1e9).rounded(.up))
  }
}
