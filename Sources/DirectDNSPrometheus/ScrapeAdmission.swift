// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// How many connections an endpoint has, and who has to go for one that waits: decided without a socket.
///
/// Whoever reaches the endpoint could hold all of its places by saying nothing, and something else of the process could
/// hold all of its descriptors. A scrape gets its turn all the same, and nobody costs more than a look ten times a second.
struct ScrapeAdmission: Sendable {
  /// A connection has its place for so long at least: a scrape on the same machine is over by then.
  static let grace = Duration.milliseconds(100)
  /// After the system had no descriptor to give, and nobody gave one back, or accepting has failed otherwise, it is not
  /// asked again for so long.
  static let pause = Duration.milliseconds(100)

  /// The connections that are served at a time.
  let limit: Int
  private var isRefusedUntil = ResolverInstant(nanoseconds: .min)

  init(limit: Int) { self.limit = limit }

  /// When the next connection may come in.
  ///
  /// - Parameters:
  ///   - count: the connections there are.
  ///   - slowest: when the one came that is there for longest.
  /// - Returns: the instant from which on it is accepted.
  func nextAccept(_ count: Int, slowest: ResolverInstant?) -> ResolverInstant {
    guard count >= limit, let slowest else { return isRefusedUntil }
    return max(isRefusedUntil, slowest + Self.grace)
  }

  /// Whether the slowest connection has to go for one that was accepted.
  func isFull(_ count: Int) -> Bool { count >= limit }

  /// The system had no descriptor to give: the slowest connection gives its own back, unless it has only just come.
  ///
  /// - Returns: whether it is to be closed.
  mutating func descriptorsExhausted(slowest: ResolverInstant?, at now: ResolverInstant) -> Bool {
    if let slowest, slowest + Self.grace <= now { return true }
    failed(at: now)
    return false
  }

  /// Accepting has failed, and not for want of a descriptor: it would help nobody to close a connection.
  mutating func failed(at now: ResolverInstant) { isRefusedUntil = now + Self.pause }
}
