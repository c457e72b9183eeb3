// SPDX-License-Identifier: Apache-2.0
/// Questions that have ended: what the cache keeps, who is told, and who asks again.
extension LookupMachine.State {
  /// A server has answered: the questions that it failed before may soon be asked again.
  mutating func serverAnswered(_ server: FailureCache.Server, at now: ResolverInstant) {
    var released = cache.answered(by: server, at: now)
    if server == .system { released += systemFailures.answered(by: .system, at: now) }
    guard released > 0 else { return }
    report(.released(released))
    wakeKeptAlive(at: now)
  }

  /// Writes an answer to the cache.
  ///
  /// - Returns: the outcome for those who wait for it.
  mutating func keep(
    _ answer: Answer, _ entry: CacheEntry?, _ query: InFlightQuery, _ source: UInt16, asked: ResolverInstant,
    at now: ResolverInstant
  ) -> QueryOutcome {
    let entry = query.isInvalidated ? nil : entry
    if !query.isInvalidated { report(.kept(evicted: cache.store(entry, inAnswerTo: query.question, now: now))) }
    let life = entry?.life ?? CacheLife(askedAt: asked.nanoseconds, expireAt: now.nanoseconds)
    return .answered(answer, cache.sources[Int(source)], life)
  }

  /// Ends a question, and tells everybody who waits for it.
  mutating func deliver(_ number: Int, _ outcome: QueryOutcome, at now: ResolverInstant) {
    guard let query = queries.remove(number) else { return }
    if hasStore { storeTimers.set(number, at: nil) }
    noteUnkept(query, outcome, at: now)
    if query.generation != generation { forgetMoved(query, at: now) }
    for waiter in query.waiters {
      if case .failed = outcome, let deadlines = deadlinesToAskAgain(for: waiter, after: query, at: now) {
        join(query.key, deadlines, waiter, at: now)
        continue
      }
      switch waiter {
      case .lookup(let waiting):
        guard lookups.waits(waiting, for: query.key.server), var lookup = lookups.remove(waiting) else { continue }
        lookup.wait.note(query.question.family, outcome, at: now)
        proceed(lookup, at: now)
      case .keepAlive(let host):
        keptAlive.answered(query.question, isKept: outcome.isKept(at: now), known(host, at: now), at: now)
      }
    }
    guard !drains.isEmpty else { return }
    for (drain, open) in drains.sorted(by: { $0.key < $1.key }) where open.contains(number) {
      drains[drain]?.remove(number)
      guard drains[drain]?.isEmpty == true else { continue }
      drains[drain] = nil
      endings.append(.drained(drain))
    }
  }

  /// Notes for the cache that a family was asked for and brought nothing to keep, or the next lookups would ask for it
  /// again: where the name has no record yet, as soon as it gets one by its other family.
  private mutating func noteUnkept(_ query: InFlightQuery, _ outcome: QueryOutcome, at now: ResolverInstant) {
    guard !query.isInvalidated else { return }
    let other = query.question.ofOtherFamily
    if outcome.isKept(at: now) {
      if query.isOtherUnknown { cache.noteAsked(other, now: now) }
    } else if let number = queries.number(of: .init(question: other, server: query.key.server)) {
      queries[number]?.isOtherUnknown = true
    }
  }

  /// The deadlines of a waiter for whom a failed question is asked once more; nil if it is not.
  ///
  /// It is if the question failed because its first caller had too little time, or because the network changed, and
  /// this waiter has time left.
  private func deadlinesToAskAgain(
    for waiter: InFlightQuery.Waiter, after query: InFlightQuery, at now: ResolverInstant
  ) -> LookupDeadlines? {
    guard !isShutDown else { return nil }
    let deadlines: LookupDeadlines
    switch waiter {
    case .lookup(let number):
      guard let lookup = lookups[number], lookup.waits(for: query.key.server) else { return nil }
      deadlines = lookup.deadlines
    case .keepAlive(let host):
      // Another query may have refreshed it meanwhile.
      guard !known(host, at: now).isYoung(query.question.family, at: now) else { return nil }
      deadlines = self.deadlines(nil, from: query.asked)
    }
    guard !isOver(deadlines, of: query.key.server, at: now) else { return nil }
    // When the network changed the providers were asked again at once; the system's DNS has yet to be.
    let isLost = query.key.server != .providers && isOfOldNetwork(query)
    return isLost || isOutOfTime(query, at: now) ? deadlines : nil
  }

  func isOutOfTime(_ query: InFlightQuery, at now: ResolverInstant) -> Bool {
    isOver(query.deadlines, of: query.key.server, at: now)
  }

  private func isOver(
    _ deadlines: LookupDeadlines, of server: InFlightQuery.Server, at now: ResolverInstant
  ) -> Bool {
    // Timeouts are passed on in whole milliseconds: what is left may be a little more than nothing.
    (server == .providers ? deadlines.providers : deadlines.whole) <= now + .milliseconds(2)
  }

  func isOfOldNetwork(_ query: InFlightQuery) -> Bool { networkChangedAt.map { query.asked < $0 } ?? false }

  /// Forgets an answer whose name is looked up elsewhere by now: when the configuration changed, it had not come yet.
  private mutating func forgetMoved(_ query: InFlightQuery, at now: ResolverInstant) {
    let host = query.question.host
    let route = settings.configuration.localZones.route(host)
    let isMoved =
      switch query.key.server {
      case .providers: route != .providers
      case .system: route != .providers && route != .system
      case .systemAlone: false
      }
    guard isMoved else { return }
    cache.forget(host, now: now)
    keptAlive.refreshSoon([host], within: .zero, at: now)
  }
}
