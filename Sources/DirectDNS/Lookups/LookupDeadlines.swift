// SPDX-License-Identifier: Apache-2.0
/// The time limits of one lookup, in fixed proportion: of the whole, of the providers together, and of each query.
struct LookupDeadlines: Sendable, Hashable {
  /// When the lookup ends.
  let whole: ResolverInstant
  /// When the providers must be done; the system's DNS gets what is left.
  let providers: ResolverInstant
  /// How long one query may take while there is another server to ask instead; the last one has until ``providers``.
  let query: Duration
  /// Whether the caller allows so little time that a server's silence says nothing about the server.
  let isShort: Bool

  /// Of 5 s: 3.5 s for the providers together, 3 s for each query.
  ///
  /// - Parameters:
  ///   - timeout: how long the whole lookup may take.
  ///   - now: when the lookup begins.
  ///   - hasSystem: whether the system's DNS may be asked afterwards; otherwise the providers have 4.9 s of 5.
  ///   - usual: the configured timeout, if the caller has given another one.
  init(timeout: Duration, from now: ResolverInstant, hasSystem: Bool = true, usual: Duration? = nil) {
    let nanoseconds = timeout.wholeNanoseconds
    whole = now + timeout
    providers = now + .nanoseconds(hasSystem ? nanoseconds / 10 * 7 : nanoseconds / 50 * 49)
    query = .nanoseconds(nanoseconds / 10 * 6)
    isShort = usual.map { timeout < min($0, .seconds(1)) } ?? false
  }

  /// When a caller goes on to the system's DNS, whatever the providers are still asked for others who have more time.
  ///
  /// A little later than ``providers``, so that what is asked for this caller ends before, and says why.
  var fallback: ResolverInstant { providers + (whole - providers) / 10 }
}
