// SPDX-License-Identifier: Apache-2.0
/// What a question does while the processes that share a store (a fleet) take turns to ask: a pure function of the
/// lease's state and the time.
///
/// Only the holder of the lease on a question asks the providers; the others find its answer in the store.
struct LeaseWait: Sendable, Hashable {
  enum Step: Sendable, Hashable {
    /// Ask the providers: for the whole fleet with the lease, or without it because the wait was long enough.
    case ask(StoreLease?)
    /// Another process asks: look for its answer in the store at that time.
    case lookAgain(at: ResolverInstant)
  }

  /// The time between two looks into the store for another process's answer.
  static let interval = Duration.milliseconds(50)

  /// The wait ends here at the latest: the holder of the lease may be dead.
  let end: ResolverInstant

  /// Begins a wait of at most `clientResponseTimeout`, which leaves the providers half an attempt's time.
  init(from now: ResolverInstant, clientResponseTimeout: Duration, deadlines: LookupDeadlines) {
    end = min(now + clientResponseTimeout, deadlines.providers - deadlines.attempt / 2)
  }

  func step(_ lease: StoreLease.State, at now: ResolverInstant) -> Step {
    switch lease {
    case .taken(let lease): .ask(lease)
    case .unavailable: .ask(nil)
    case .held: now < end ? .lookAgain(at: min(now + Self.interval, end)) : .ask(nil)
    }
  }
}

/// How taking turns went, for the metrics.
enum LeaseTurn: String {
  /// This process took the lease and asked.
  case taken
  /// Another process's answer came in time.
  case awaited
  /// Another process held the lease, and its answer did not come in time.
  case late
  /// The store has no leases, or did not say in time.
  case unavailable
}
