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

  /// What it waits for; of the instants, until when another process is waited for at most: it may be dead.
  private enum Stage: Sendable {
    /// The store is being read: at first, or again while another process holds the lease.
    case reading(ResolverInstant?)
    case takingLease(ResolverInstant)
    /// The store is being read once more, now that this process has the lease.
    case readingUnderLease
    /// Another process has the lease, and asks.
    case waiting(ResolverInstant)
    /// The store has done what it could.
    case over
  }

  /// The time between two looks into the store for another process's answer.
  ///
  /// A and AAAA are written one after the other: who has found one looks for the other twice, round trips included,
  /// within ``FamilyWait/resolutionDelay``.
  static let interval = Duration.milliseconds(20)

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
  /// Whether what the store has may still come, although the question has gone on without it.
  var isLate = false

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
    case (.reading(let waitEnd), .found(let outcome)):
      stage = .over
      return .found(outcome, waitEnd == nil ? nil : .awaited)
    case (.reading(let waitEnd), .nothing) where hasLeases:
      // At least half a query's time is left to the providers.
      stage = .takingLease(waitEnd ?? min(now + clientResponseTimeout, deadlines.providers - deadlines.query / 2))
      // It expires a second after the question would have ended, in case this process dies.
      return .takeLease(deadlines.whole - now + .seconds(1), until: end)
    case (.readingUnderLease, .found(let outcome)):
      // The last holder of the lease has written its answer before it gave the lease back.
      stage = .over
      return .found(outcome)
    case (.reading, .late), (.readingUnderLease, .late):
      isLate = true
      return ask()
    case (.reading, _), (.readingUnderLease, _): return ask()
    case (.takingLease, _), (.waiting, _), (.over, _): return nil
    }
  }

  /// The store has said who holds the lease.
  ///
  /// - Returns: what comes next; nil if the question has gone on without the lease, which is to be given back then.
  mutating func lease(_ state: StoreLease.State, at now: ResolverInstant) -> Step? {
    guard case .takingLease(let waitEnd) = stage else { return nil }
    switch state {
    case .taken(let lease):
      self.lease = lease
      stage = .readingUnderLease
      return .read(until: end, .taken)
    case .held where now < waitEnd:
      stage = .waiting(waitEnd)
      return .wait(until: min(now + Self.interval, waitEnd))
    case .held: return ask(.late)
    case .unavailable: return ask(.unavailable)
    }
  }

  /// The instant has come that the last step named.
  mutating func timePassed(at now: ResolverInstant) -> Step? {
    switch stage {
    case .waiting(let waitEnd):
      stage = .reading(waitEnd)
      end = now + storeTimeout
      return .read(until: end)
    case .reading, .readingUnderLease: return read(.late, at: now)
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
