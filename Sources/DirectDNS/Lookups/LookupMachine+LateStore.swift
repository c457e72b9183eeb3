// SPDX-License-Identifier: Apache-2.0
/// A store that is late: what it has still counts for those who have no answer yet.
extension LookupMachine {
  /// The store has been read for a question that has gone on without it: what it has still ends the question, or is
  /// served as an expired answer.
  mutating func readLate(
    _ number: Number<InFlightQuestion>, _ inFlight: InFlightQuestion, _ reading: StoreReading<QuestionOutcome>,
    at now: ResolverInstant
  ) {
    if case .late = reading { return }
    questions[number]?.turn?.isLate = false
    if case .found(let outcome) = reading {
      guard outcome.isRestored else {
        endLease(of: number)
        leaveBatch(number, inFlight, at: now)
        deliver(number, outcome, at: now)
        return servers.cancel(.init(sameAs: number))
      }
      for case .lookup(let waiting) in inFlight.waiters {
        serveExpired(waiting, inFlight.question.family, outcome, at: now)
      }
    }
    if let failure = inFlight.failure { serversAnswered(number, .failure(failure), at: now) }
  }

  /// Has a lookup that waits for the providers go on with an expired answer as if that had come in time, unless its
  /// caller has no use for it.
  private mutating func serveExpired(
    _ number: Number<Lookup>, _ family: IPAddress.Family, _ outcome: QuestionOutcome, at now: ResolverInstant
  ) {
    guard var lookup = lookups[number], case .asking(isSecondLook: false) = lookup.phase else { return }
    lookup.wait.note(family, outcome, at: now)
    // At once: its question may still fail while the other family is waited for.
    lookup.noteRestored()
    switch find(lookup.caller, at: now)?.verdict {
    case .serve, .wait:
      _ = lookups.remove(number)
      proceed(lookup, at: now)
    case .negative, .miss, nil: break
    }
  }

  /// Has a question that the servers have failed wait for what the store has, if that is late: for as long as an
  /// expired answer would wait for the servers.
  ///
  /// Not if time ran out, or other servers have been configured: then it is asked again for whoever has time left.
  ///
  /// - Returns: whether it waits.
  mutating func awaitStore(
    _ number: Number<InFlightQuestion>, _ inFlight: InFlightQuestion, after failed: QueryMachine.QuestionFailure,
    at now: ResolverInstant
  ) -> Bool {
    let end = inFlight.asked + settings.configuration.cache.clientResponseTimeout
    guard inFlight.turn?.isLate == true, !isShutDown, !inFlight.isInvalidated, inFlight.generation == generation,
      now < end, !isOutOfTime(inFlight, at: now)
    else { return false }
    questions[number]?.failure = failed
    storeTimers.set(number, at: min(end, inFlight.deadlines.providers))
    return true
  }

  /// Other servers have been configured: the questions that the former ones have failed wait for the store no longer.
  mutating func endAwaitingStore(at now: ResolverInstant) {
    for (number, inFlight) in questions.all {
      if let failure = inFlight.failure { serversAnswered(number, .failure(failure), at: now) }
    }
  }

  /// The network has changed: the servers are asked again what they have failed on the old one.
  mutating func askAgainAwaitingStore(at now: ResolverInstant) {
    for (number, inFlight) in questions.all where inFlight.failure != nil {
      questions[number]?.failure = nil
      storeTimers.set(number, at: nil)
      servers.ask(.init(sameAs: number), .one(inFlight.question), inFlight.deadlines, at: now)
    }
  }
}
