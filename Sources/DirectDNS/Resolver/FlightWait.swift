/// What became of one question.
enum FlightOutcome: Sendable {
  /// An answer, a negative one included; `expireAt` is in the past for one that is not kept.
  case answered(Answer, Resolution.Source, CacheLife)
  /// The store had addresses that are not fresh any more: they are in the cache now, which knows what they are good for.
  case restored
  case failed(DirectDNSError)

  var hasAddresses: Bool {
    switch self {
    case .answered(let answer, _, _): !answer.addresses.isEmpty
    case .restored: true
    case .failed: false
    }
  }

  var isRestored: Bool { if case .restored = self { true } else { false } }
}

/// Waits for the flights of one name, as long as ``FamilyRace`` says, a deadline allows and the caller is not cancelled.
final class FlightWait: Sendable {
  /// What came in time.
  struct Result: Sendable {
    var outcomes: [IPAddress.Family: FlightOutcome] = [:]
    var isCancelled = false
  }

  private struct State {
    var result = Result()
    var race: FamilyRace
    var isDone = false
    var continuation: CheckedContinuation<Result, Never>?
    var timers: [Task<Void, Never>] = []
  }

  private let clock: any ResolverClock
  private let state: Locked<State>

  init(
    _ families: AddressFamilies, for purpose: FamilyRace.Purpose, preferred: IPAddress.Family = .ipv6,
    clock: any ResolverClock
  ) {
    self.clock = clock
    state = Locked(State(race: FamilyRace(families, for: purpose, preferred: preferred)))
  }

  /// Waits for the flights, and at most until `deadline` where there is one.
  func run(
    _ flights: [(IPAddress.Family, Flight<FlightOutcome>)], until deadline: ResolverInstant?
  ) async -> Result {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        state.withLock { $0.continuation = continuation }
        for (family, flight) in flights { flight.observe { self.note(family, $0) } }
        if let deadline { end(at: deadline) }
        // Cancelled before there was anything to resume, or no flight at all.
        if Task.isCancelled { cancel() }
        if flights.isEmpty { finish() }
      }
    } onCancel: {
      cancel()
    }
  }

  private func note(_ family: IPAddress.Family, _ outcome: FlightOutcome) {
    let step = state.withLock { state -> FamilyRace.Step in
      guard !state.isDone else { return .wait }
      state.result.outcomes[family] = outcome
      return state.race.note(family, outcome.hasAddresses ? .addresses : .nothing)
    }
    switch step {
    case .done: finish()
    case .wait: break
    case .waitAtMost(let duration): end(at: clock.now + duration)
    }
  }

  private func end(at instant: ResolverInstant) {
    guard instant > clock.now else { return finish() }
    let timer = Task { [weak self, clock] in
      guard (try? await clock.sleep(until: instant)) != nil else { return }
      self?.finish()
    }
    let isLate = state.withLock { state in
      if !state.isDone { state.timers.append(timer) }
      return state.isDone
    }
    if isLate { timer.cancel() }
  }

  private func cancel() {
    state.withLock { $0.result.isCancelled = true }
    finish()
  }

  private func finish() {
    let (continuation, result, timers) = state.withLock { state in
      defer {
        // Without a continuation yet, the wait has still to begin, and ends when it does.
        if state.continuation != nil {
          state.isDone = true
          state.continuation = nil
          state.timers = []
        }
      }
      return (state.continuation, state.result, state.timers)
    }
    for timer in timers { timer.cancel() }
    continuation?.resume(returning: result)
  }
}
