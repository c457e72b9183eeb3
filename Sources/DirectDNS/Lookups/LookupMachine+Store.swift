// SPDX-License-Identifier: Apache-2.0
/// The store beyond the process: what it knows, and which of the processes that share it asks the providers.
extension LookupMachine {
  /// Reads the store, and waits for it no longer than `storeTimeout`: it may be busy with many other reads.
  ///
  /// Taking the lease, and reading once more with it, have only what is left of that time.
  mutating func readStore(_ number: Int, _ question: AddressQuestion, at now: ResolverInstant) {
    actions.append(.readStore(number, question))
    let end = now + settings.configuration.storeTimeout
    queries[number]?.storeEnd = end
    storeTimers.set(number, at: end)
  }

  /// The time is over that a query waits for the store.
  mutating func storeTimePassed(_ number: Int, at now: ResolverInstant) {
    guard let query = queries[number] else { return }
    switch query.stage {
    case .waitingForLease(let wait):
      queries[number]?.stage = .reading(wait)
      readStore(number, query.question, at: now)
    case .reading, .readingUnderLease: noteStore(number, query, .unavailable, at: now)
    // A lease that comes later is given back.
    case .takingLease(let wait): noteLease(number, .unavailable, wait, at: now)
    case .batching, .asking: break
    }
  }

  /// The store has been read.
  mutating func noteStore(
    _ number: Int, _ query: InFlightQuery, _ reading: StoreReading<CacheEntry>, at now: ResolverInstant
  ) {
    func look() -> StoreReading<QueryOutcome> {
      storeTimers.set(number, at: nil)
      // Its answer may be the one that was invalidated.
      return query.isInvalidated ? .nothing : restored(query.question, reading, at: now)
    }
    switch query.stage {
    case .reading(let wait):
      switch look() {
      case .found(let outcome):
        if wait != nil { report(.turn(.awaited)) }
        leaveBatch(query, at: now)
        queryOutcomes.append((number, outcome))
      case .unavailable: askServers(number, query, at: now)
      case .nothing:
        guard hasLeases else { return askServers(number, query, at: now) }
        takeLease(
          number,
          wait
            ?? LeaseWait(
              from: now, clientResponseTimeout: settings.configuration.cache.clientResponseTimeout,
              deadlines: query.deadlines),
          at: now)
      }
    case .readingUnderLease:
      // The last holder of the lease has written its answer before it gave the lease back.
      guard case .found(let outcome) = look() else { return askServers(number, query, at: now) }
      if let lease = query.lease { actions.append(.endLease(lease)) }
      queries[number]?.lease = nil
      leaveBatch(query, at: now)
      queryOutcomes.append((number, outcome))
    // The reading is late, and the query has gone on without it.
    case .takingLease, .waitingForLease, .batching, .asking: break
    }
  }

  private mutating func takeLease(_ number: Int, _ wait: LeaseWait, at now: ResolverInstant) {
    guard let query = queries[number] else { return }
    queries[number]?.stage = .takingLease(wait)
    storeTimers.set(number, at: query.storeEnd)
    // It expires a second after the query would have ended, in case this process dies.
    actions.append(.takeLease(number, query.question, for: query.deadlines.whole - now + .seconds(1)))
  }

  /// The store has said who holds the lease.
  mutating func noteLease(
    _ number: Int, _ state: StoreLink.LeaseState, _ wait: LeaseWait, at now: ResolverInstant
  ) {
    guard let query = queries[number] else { return }
    storeTimers.set(number, at: nil)
    switch wait.step(state, at: now) {
    case .ask(let lease?):
      report(.turn(.taken))
      queries[number]?.lease = lease
      queries[number]?.stage = .readingUnderLease
      actions.append(.readStore(number, query.question))
      storeTimers.set(number, at: query.storeEnd)
    case .ask(nil):
      report(.turn(state == .held ? .late : .unavailable))
      askServers(number, query, at: now)
    case .lookAgain(let instant):
      queries[number]?.stage = .waitingForLease(wait)
      // The rest of its batch does not wait for another process.
      leaveBatch(query, at: now)
      queries[number]?.batch = nil
      storeTimers.set(number, at: instant)
    }
  }

  /// Takes over the store's answer if it is newer than what the cache has.
  ///
  /// - Returns: the question's outcome: a fresh answer, or ``QueryOutcome/restored`` for one that is not; `nothing` if
  ///   the providers are to be asked.
  private mutating func restored(
    _ question: AddressQuestion, _ reading: StoreReading<CacheEntry>, at now: ResolverInstant
  ) -> StoreReading<QueryOutcome> {
    let stored: CacheEntry
    switch reading {
    case .found(let entry): stored = entry
    case .nothing:
      report(.storeRead(isHit: false))
      return .nothing
    case .unavailable: return .unavailable
    }
    let known = cache.value(question.host)?[question.family].entry
    let use = StoredUse(
      phase: cache.phase(of: stored, at: now), life: stored.life, isNegative: stored.isNegative, known: known?.life,
      isKnownGone: known.map { cache.phase(of: $0, at: now) == .gone } ?? false)
    report(.storeRead(isHit: use != .nothing))
    if use != .nothing { report(.kept(evicted: cache.store(stored, for: question, now: now))) }
    switch use {
    case .answer:
      let answer = Answer(stored.content, ttl: nil, canonicalName: stored.canonicalName)
      return .found(.answered(answer, .store, stored.life))
    case .staleOnly: return .found(.restored)
    case .newer, .nothing: return .nothing
    }
  }
}

/// What an answer from the store is good for, beside the one in the cache: a pure function of the lives of both.
enum StoredUse: Sendable, Hashable {
  /// It answers the question.
  case answer
  /// It is not fresh, but the cache has none that serves: those who wait may be served it.
  case staleOnly
  /// It is not fresh, but newer than the cache's: kept, while the providers are asked.
  case newer
  case nothing

  /// Judges an answer from the store.
  ///
  /// - Parameters:
  ///   - phase: where it stands in its life.
  ///   - life: its life; a duration of 0 means that its age is unknown.
  ///   - isNegative: whether it is negative; then it serves while it is fresh, and never afterwards.
  ///   - known: the life of the cache's answer, if it has one.
  ///   - isKnownGone: whether the cache's answer serves nobody any more, such as a negative one that has expired.
  init(phase: CachePhase, life: CacheLife, isNegative: Bool, known: CacheLife?, isKnownGone: Bool = false) {
    // The store has times of the wall clock, which do not match those of the cache exactly: an answer that seems a
    // little newer may be the very one that the cache has.
    let isYounger =
      known.map { life.duration > 0 && .nanoseconds(life.askedAt - $0.askedAt) > WallTime.tolerance } ?? true
    guard phase != .gone, isYounger else {
      self = .nothing
      return
    }
    if phase == .fresh {
      self = .answer
    } else if isNegative {
      self = .nothing
    } else {
      self = known == nil || isKnownGone ? .staleOnly : .newer
    }
  }
}
