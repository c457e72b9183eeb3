// SPDX-License-Identifier: Apache-2.0
/// What a query in flight does about a fleet's lease: a pure function of what the store said and `now`.
struct LeaseWait: Sendable, Hashable {
  enum Step: Sendable, Hashable {
    /// This member asks: for all of them, or for itself alone because it has waited long enough.
    case ask(StoreLink.Lease?)
    /// Another member asks: its answer may be there then.
    case lookAgain(at: ResolverInstant)
  }

  /// How often the store is looked at for another member's answer.
  static let interval = Duration.milliseconds(50)

  /// Nobody is waited for beyond this: a holder may be dead.
  let end: ResolverInstant

  /// Begins a wait of at most `clientResponseTimeout`, and never into the time that the providers need.
  init(from now: ResolverInstant, clientResponseTimeout: Duration, deadlines: LookupDeadlines) {
    end = min(now + clientResponseTimeout, deadlines.providers - deadlines.attempt / 2)
  }

  func step(_ lease: StoreLink.LeaseState, at now: ResolverInstant) -> Step {
    switch lease {
    case .taken(let lease): .ask(lease)
    case .unavailable: .ask(nil)
    case .held: now < end ? .lookAgain(at: min(now + Self.interval, end)) : .ask(nil)
    }
  }
}

/// How a turn among a fleet's members went.
enum LeaseTurn: String {
  /// This member asks for all.
  case taken
  /// Another member's answer came in time.
  case awaited
  /// Another member was waited for in vain.
  case late
  /// The store has no leases, or could not say.
  case unavailable
}
