// SPDX-License-Identifier: Apache-2.0
/// Questions that have ended: what is kept, who is told, and who asks again.
extension LookupMachine {
  /// A server answers: what it failed before may soon be asked for again.
  mutating func serverAnswered(_ server: FailureCache.Server, at now: ResolverInstant) {
    var released = cache.answered(by: server, at: now)
    if server == .system { released += systemFailures.answered(by: .system, at: now) }
    guard released > 0 else { return }
    tell(.released(released))
    wakeKeptAlive(at: now)
  }

  /// Keeps an answer, and says what those who wait for it get.
  mutating func keep(
    _ answer: Answer, _ entry: CacheEntry?, _ query: InFlightQuery, _ source: UInt16, asked: ResolverInstant,
    at now: ResolverInstant
  ) -> QueryOutcome {
    let entry = query.isInvalidated ? nil : entry
    if !query.isInvalidated { tell(.kept(evicted: cache.store(entry, inAnswerTo: query.question, now: now))) }
    let life = entry?.life ?? CacheLife(askedAt: asked.nanoseconds, expireAt: now.nanoseconds)
    return .answered(answer, cache.sources[Int(source)], life)
  }

  /// A question's end, told to all who wait for it.
  mutating func deliver(_ number: Int, _ outcome: QueryOutcome, at now: ResolverInstant) {
    guard let query = queries.removeValue(forKey: number) else { return }
    if numbers[query.key] == number { numbers[query.key] = nil }
    if hasStore { timers.set(.store(number), at: nil) }
    if query.generation != generation { forgetMoved(query, at: now) }
    for waiter in query.waiters {
      if case .failed = outcome, let deadlines = deadlinesToAskAgain(for: waiter, after: query, at: now) {
        join(query.key, deadlines, waiter, at: now)
        continue
      }
      switch waiter {
      case .lookup(let waiting):
        guard var lookup = lookups.removeValue(forKey: waiting) else { continue }
        guard lookup.waits(for: query.key.server) else {
          lookups[waiting] = lookup
          continue
        }
        lookup.wait.note(query.question.family, outcome, at: now)
        goOn(waiting, lookup, at: now)
      case .keepAlive: keptAliveAnswered(query.question, outcome, at: now)
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

  /// The deadlines of one who waited for a query that failed for want of its first caller's time, or on a network that
  /// is left, and who has more time: it is asked once more for him.
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
      // Somebody else has refreshed it meanwhile.
      guard !isRefreshed(host, query.question.family, at: now) else { return nil }
      deadlines = self.deadlines(nil, from: query.asked)
    }
    guard !isOver(deadlines, of: query.key.server, at: now) else { return nil }
    // Providers were asked once more when the network changed; only the system's DNS has to be.
    let isLost = query.key.server != .providers && isOfOldNetwork(query)
    return isLost || isOutOfTime(query, at: now) ? deadlines : nil
  }

  func isOutOfTime(_ query: InFlightQuery, at now: ResolverInstant) -> Bool {
    isOver(query.deadlines, of: query.key.server, at: now)
  }

  private func isOver(
    _ deadlines: LookupDeadlines, of server: InFlightQuery.Server, at now: ResolverInstant
  ) -> Bool {
    // Times are told to servers in whole milliseconds.
    (server == .providers ? deadlines.providers : deadlines.whole) <= now + .milliseconds(2)
  }

  func isOfOldNetwork(_ query: InFlightQuery) -> Bool { networkChangedAt.map { query.asked < $0 } ?? false }

  /// Forgets what was learned of a name that is looked up elsewhere by now: the update that came meanwhile had nothing to
  /// forget yet.
  private func forgetMoved(_ query: InFlightQuery, at now: ResolverInstant) {
    let route = settings.configuration.localZones.route(query.question.host)
    switch query.key.server {
    case .providers: if route != .providers { cache.forget(query.question.host, now: now) }
    case .system: if route != .providers, route != .system { cache.forget(query.question.host, now: now) }
    case .systemAlone: break
    }
  }
}
