// SPDX-License-Identifier: Apache-2.0
/// Questions that have ended: what the cache keeps, who is told, and who asks again.
extension LookupMachine {
  /// A server has answered: the questions that it failed before may soon be asked again.
  mutating func serverAnswered(_ server: FailureCache.Server, at now: ResolverInstant) {
    var released = cache.answered(by: server, at: now)
    if server == .system { released += systemFailures.answered(by: .system, at: now).count }
    guard released > 0 else { return }
    report(.released(released))
    wakeKeptAlive(at: now)
  }

  /// Whether what a question brings may be written to the cache and to the store.
  func mayKeep(_ inFlight: InFlightQuestion) -> Bool {
    // Without `&&`, `||` and a method of its own for the second half, for each of which the optimiser copies the whole
    // machine: that costs a lookup 2 600 instructions.
    if inFlight.isInvalidated { return false }
    if inFlight.generation == generation { return true }
    // Not if a question of a later configuration has been answered already.
    guard let known = cache.value(inFlight.question.host)?[inFlight.question.family].entry else { return true }
    return known.life.askedAt <= inFlight.asked.nanoseconds
  }

  /// Writes an answer to the cache, if it is to be kept.
  ///
  /// - Returns: the outcome for those who wait for it.
  mutating func keep(
    _ answer: Answer, _ entry: CacheEntry?, _ inFlight: InFlightQuestion, _ source: UInt16, isKept: Bool,
    asked: ResolverInstant, at now: ResolverInstant
  ) -> QuestionOutcome {
    let entry = isKept ? entry : nil
    if isKept {
      report(.kept(evicted: cache.store(entry, inAnswerTo: inFlight.question, unkept: .unkept(answer), now: now)))
    }
    let life = entry?.life ?? CacheLife(askedAt: asked.nanoseconds, expireAt: now.nanoseconds)
    return .answered(answer, cache.sources[Int(source)], life)
  }

  /// Ends a question, and tells everybody who waits for it.
  mutating func deliver(_ number: Number<InFlightQuestion>, _ outcome: QuestionOutcome, at now: ResolverInstant) {
    guard let inFlight = questions.remove(number) else { return }
    if hasStore { storeTimers.set(number, at: nil) }
    noteUnkept(inFlight, outcome, at: now)
    for waiter in inFlight.waiters {
      if case .failed = outcome, let deadlines = deadlinesToAskAgain(for: waiter, after: inFlight, at: now) {
        join(inFlight.key, deadlines, waiter, at: now)
        continue
      }
      switch waiter {
      case .lookup(let waiting):
        guard lookups.waits(waiting, for: inFlight.key.server), var lookup = lookups.remove(waiting) else { continue }
        if case .restored(let entry) = outcome, lookup.caller.restored[inFlight.question.family] != nil {
          // It knew that: it has joined one who did not, and goes on to the providers.
          join(inFlight.key, lookup.deadlines, waiter, restored: entry, at: now)
          lookups.add(lookup)
          continue
        }
        lookup.wait.note(inFlight.question.family, outcome, at: now)
        proceed(consume lookup, at: now)
      case .keepAlive(let host):
        if case .restored(let entry) = outcome, keptAlive.names.contains(host) {
          // It has yet to be refreshed, which is no failure.
          join(inFlight.key, deadlines(nil, from: now), waiter, restored: entry, at: now)
          continue
        }
        keptAlive.answered(inFlight.question, isKept: outcome.isKept(at: now), known(host, at: now), at: now)
      }
    }
    guard !drains.isEmpty else { return }
    for waiting in drains.keys.sorted() {
      drains[waiting]?.remove(number)
      guard drains[waiting]?.isEmpty == true else { continue }
      drains[waiting] = nil
      endings.append(.drained(waiting))
    }
  }

  /// Notes for the cache that a family was asked for and brought nothing to keep, or the next lookups would ask for it
  /// again: where the name has no record yet, as soon as it gets one by its other family.
  private mutating func noteUnkept(_ inFlight: InFlightQuestion, _ outcome: QuestionOutcome, at now: ResolverInstant) {
    // What a former configuration's servers did not have, or another network's, the present ones may have.
    guard !inFlight.isInvalidated, inFlight.generation == generation, !isOfOldNetwork(inFlight) else { return }
    let (question, server) = (inFlight.question, inFlight.key.server)
    if outcome.isKept(at: now) {
      if let unkept = inFlight.other { cache.noteAsked(question.ofOtherFamily, as: unkept, now: now) }
      return
    }
    // Of a failure that is remembered the cache knows for how long; any other counts as a first one.
    let again = now + settings.configuration.cache.minimumFailureTTL
    if case .failed = outcome, server != .systemAlone { cache.failedAgain(question, until: again, now: now) }
    guard let number = questions.number(of: .init(question: question.ofOtherFamily, server: server)) else { return }
    let unkept: CachedName.Slot =
      if case .answered(let answer, _, _) = outcome { .unkept(answer) } else { .failed(until: again.nanoseconds) }
    questions[number]?.other = unkept
  }

  /// The deadlines of a waiter for whom a failed question is asked once more; nil if it is not.
  ///
  /// It is if the question failed because its first caller had too little time, or because the network or the
  /// configuration changed, and this waiter has time left.
  private func deadlinesToAskAgain(
    for waiter: InFlightQuestion.Waiter, after inFlight: InFlightQuestion, at now: ResolverInstant
  ) -> LookupDeadlines? {
    guard !isShutDown else { return nil }
    let deadlines: LookupDeadlines
    switch waiter {
    case .lookup(let number):
      guard let lookup = lookups[number], lookup.waits(for: inFlight.key.server) else { return nil }
      deadlines = lookup.deadlines
    case .keepAlive(let host):
      // Another question may have refreshed it meanwhile.
      guard !known(host, at: now).isYoung(inFlight.question.family, at: now) else { return nil }
      deadlines = self.deadlines(nil, from: inFlight.asked)
    }
    guard !isOver(deadlines, of: inFlight.key.server, at: now) else { return nil }
    // When the network changed the providers were asked again at once; the system's DNS has yet to be.
    let isLost = inFlight.key.server != .providers && isOfOldNetwork(inFlight)
    // Those that a new configuration names have not been asked yet.
    if isLost || inFlight.generation != generation { return deadlines }
    // One that had the usual time is not asked again for a name that is kept alive: that pauses after a failure.
    if case .keepAlive = waiter, inFlight.deadlines.query >= deadlines.query { return nil }
    // One that has waited for the store since had failed in time.
    return inFlight.failure == nil && isOutOfTime(inFlight, at: now) ? deadlines : nil
  }

  func isOutOfTime(_ inFlight: InFlightQuestion, at now: ResolverInstant) -> Bool {
    isOver(inFlight.deadlines, of: inFlight.key.server, at: now)
  }

  private func isOver(
    _ deadlines: LookupDeadlines, of server: InFlightQuestion.Server, at now: ResolverInstant
  ) -> Bool {
    // Timeouts are passed on in whole milliseconds: what is left may be a little more than nothing.
    (server == .providers ? deadlines.providers : deadlines.whole) <= now + .milliseconds(2)
  }

  func isOfOldNetwork(_ inFlight: InFlightQuestion) -> Bool { networkChangedAt.map { inFlight.asked < $0 } ?? false }
}
