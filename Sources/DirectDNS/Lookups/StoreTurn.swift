// SPDX-License-Identifier: Apache-2.0
/// Decides how one question goes through the store that processes share: it is read, and if it has no answer, the lease
/// is taken; with that the store is read once more and the providers are asked, and while another process has it, its
/// answer is looked for.
///
/// A value: it is told what the store said, and that time has passed, and says what comes next.
struct StoreTurn: Sendable {
  enum Step: Sendable {
    /// Read the store, and wait for it until then.
    case read(until: ResolverInstant, LeaseTurn? = nil)
    /// Take the lease for so long, and wait for it until then.
    case takeLease(Duration, until: ResolverInstant)
    /// Another process asks: wait until then.
    case wait(until: ResolverInstant)
    /// The store has the answer.
    case found(QuestionOutcome, LeaseTurn? = nil)
    /// Ask the providers.
    case ask(LeaseTurn? = nil)
  }

  private enum Stage: Sendable {
    /// The store is being read: at first, or again while another process holds the lease.
    case reading(LeaseWait?)
    case takingLease(LeaseWait)
    /// The store is being read once more, now that this process has the lease.
    case readingUnderLease
    /// Another process has the lease, and asks.
    case waiting(LeaseWait)
    /// The store has done what it could.
    case over
  }

  private let deadlines: LookupDeadlines
  private let clientResponseTimeout: Duration
  private let storeTimeout: Duration
  private let hasLeases: Bool
  private var stage = Stage.reading(nil)
  /// When it goes on without the store.
  ///
  /// Taking the lease, and reading once more with it, have only what is left of the first reading's time.
  private var end: ResolverInstant
  /// The lease that the question holds.
  private(set) var lease: StoreLease?

  /// Begins by reading the store.
  ///
  /// - Parameters:
  ///   - deadlines: the question's.
  ///   - configuration: says how long the store, and another process, are waited for.
  ///   - hasLeases: whether the store has leases.
  ///   - now: the present.
  init(
    _ deadlines: LookupDeadlines, _ configuration: ResolverConfiguration, hasLeases: Bool,
    at now: ResolverInstant
  ) {
    self.deadlines = deadlines
    self.hasLeases = hasLeases
    clientResponseTimeout = configuration.cache.clientResponseTimeout
    storeTimeout = configuration.storeTimeout
    end = now + configuration.storeTimeout
  }

  /// The first step.
  var beginning: Step { .read(until: end) }

  /// Whether the store is being read for it.
  var isReading: Bool {
    switch stage {
    case .reading, .readingUnderLease: true
    case .takingLease, .waiting, .over: false
    }
  }

  /// Whether it waits for another process.
  var isWaiting: Bool { if case .waiting = stage { true } else { false } }

  /// The store has been read.
  ///
  /// - Parameters:
  ///   - reading: the question's outcome, if the store has one.
  ///   - now: the present.
  /// - Returns: what comes next; nil if the question has gone on without this reading.
  mutating func read(_ reading: StoreReading<QuestionOutcome>, at now: ResolverInstant) -> Step? {
    switch (stage, reading) {
    case (.reading(let wait), .found(let outcome)):
      stage = .over
      return .found(outcome, wait == nil ? nil : .awaited)
    case (.reading(let wait), .nothing) where hasLeases:
      stage = .takingLease(
        wait
          ?? LeaseWait(
            from: now, clientResponseTimeout: clientResponseTimeout, deadlines: deadlines))
      // It expires a second after the question would have ended, in case this process dies.
      return .takeLease(deadlines.whole - now + .seconds(1), until: end)
    case (.readingUnderLease, .found(let outcome)):
      // The last holder of the lease has written its answer before it gave the lease back.
      stage = .over
      return .found(outcome)
    case (.reading, _), (.readingUnderLease, _): return ask()
    case (.takingLease, _), (.waiting, _), (.over, _): return nil
    }
  }

  /// The store has said who holds the lease.
  ///
  /// - Returns: what comes next; nil if the question has gone on without the lease, which is to be given back then.
  mutating func lease(_ state: StoreLease.State, at now: ResolverInstant) -> Step? {
    guard case .takingLease(let wait) = stage else { return nil }
    switch wait.step(state, at: now) {
    case .ask(let lease?):
      self.lease = lease
      stage = .readingUnderLease
      return .read(until: end, .taken)
    case .ask(nil): return ask(state == .held ? .late : .unavailable)
    case .lookAgain(let instant):
      stage = .waiting(wait)
      return .wait(until: instant)
    }
  }

  /// The instant has come that the last step named.
  mutating func timePassed(at now: ResolverInstant) -> Step? {
    switch stage {
    case .waiting(let wait):
      stage = .reading(wait)
      end = now + storeTimeout
      return .read(until: end)
    case .reading, .readingUnderLease: return read(.unavailable, at: now)
    case .takingLease: return lease(.unavailable, at: now)
    case .over: return nil
    }
  }

  /// Gives the lease away that the question holds: to whoever writes the answer, or to be ended.
  mutating func takeLease() -> StoreLease? { lease.take() }

  private mutating func ask(_ turn: LeaseTurn? = nil) -> Step {
    stage = .over
    return .ask(turn)
  }
}

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
