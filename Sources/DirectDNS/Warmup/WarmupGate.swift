/// What many wait for until it is there; who is cancelled waits no longer.
final class WarmupGate: Sendable {
  typealias Outcome = Result<WarmupReport, DirectDNSError>

  private struct State {
    var outcome: Outcome?
    var waiters: [Int: CheckedContinuation<Outcome, Never>] = [:]
    var next = 0
  }

  private let state = Locked(State())

  /// Lets everyone through, with the first outcome that is given.
  func open(_ outcome: Outcome) {
    let waiters = state.withLock { state in
      guard state.outcome == nil else { return [CheckedContinuation<Outcome, Never>]() }
      state.outcome = outcome
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume(returning: outcome) }
  }

  /// The outcome, as soon as there is one.
  func wait() async throws(DirectDNSError) -> WarmupReport {
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let known = state.withLock { state -> Outcome? in
          if let outcome = state.outcome { return outcome }
          // The flag is set before the handler below runs, so a cancellation is seen here or there.
          if Task.isCancelled { return .failure(Self.cancelled) }
          state.waiters[number] = continuation
          return nil
        }
        if let known { continuation.resume(returning: known) }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(returning: .failure(Self.cancelled))
    }
    return try outcome.get()
  }

  private static var cancelled: DirectDNSError {
    DirectDNSError(.cancelled, "The wait for the warm-up was cancelled.", underlying: CancellationError())
  }
}
