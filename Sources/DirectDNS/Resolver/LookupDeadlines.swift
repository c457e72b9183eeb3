/// The times of one lookup: the whole, the providers together, and each attempt, in fixed proportion.
struct LookupDeadlines: Sendable, Hashable {
  /// When the lookup ends.
  let whole: ResolverInstant
  /// When the providers must be done; the system's DNS gets what is left.
  let providers: ResolverInstant
  /// How long one attempt may take.
  let attempt: Duration

  /// Of 5 s: 3.5 s for the providers together, 3 s for each attempt.
  init(timeout: Duration, from now: ResolverInstant) {
    let nanoseconds = timeout.wholeNanoseconds
    whole = now + timeout
    providers = now + .nanoseconds(nanoseconds / 10 * 7)
    attempt = .nanoseconds(nanoseconds / 10 * 6)
  }

  /// How long an attempt that begins now may take; nothing if it is too late for one.
  func attemptTimeout(at now: ResolverInstant) -> Duration? {
    let left = min(attempt, providers - now)
    return left > .zero ? left : nil
  }
}
