// SPDX-License-Identifier: Apache-2.0
/// What the store beyond the process has of a question, and whose turn it is to ask.
extension LookupMachine {
  /// Has the store looked into, and waits no longer than the limit: many may want to know something of it at once.
  mutating func readStore(_ number: Int, _ question: AddressQuestion, at now: ResolverInstant) {
    actions.append(.readStore(number, question))
    timers.set(.store(number), at: now + settings.configuration.storeTimeout)
  }

  /// A query's time with the store has passed.
  mutating func storeTimePassed(_ number: Int, at now: ResolverInstant) {
    guard let query = queries[number] else { return }
    switch query.stage {
    case .waitingForLease(let wait):
      queries[number]?.stage = .reading(wait)
      readStore(number, query.question, at: now)
    case .reading, .readingUnderLease: noteStore(number, query, .unavailable, at: now)
    case .takingLease, .batching, .asking: break
    }
  }

  /// The store was looked into.
  mutating func noteStore(
    _ number: Int, _ query: InFlightQuery, _ reading: StoreReading<CacheEntry>, at now: ResolverInstant
  ) {
    func look() -> StoreReading<QueryOutcome> {
      timers.set(.store(number), at: nil)
      // What it had may be what was forgotten.
      return query.isInvalidated ? .nothing : restored(query.question, reading, at: now)
    }
    switch query.stage {
    case .reading(let wait):
      switch look() {
      case .found(let outcome):
        if wait != nil { tell(.turn(.awaited)) }
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
      // Whoever had the lease until now has written before giving it back.
      guard case .found(let outcome) = look() else { return askServers(number, query, at: now) }
      if let lease = query.lease { actions.append(.endLease(lease)) }
      queries[number]?.lease = nil
      leaveBatch(query, at: now)
      queryOutcomes.append((number, outcome))
    // It is late, and something else is done by now.
    case .takingLease, .waitingForLease, .batching, .asking: break
    }
  }

  private mutating func takeLease(_ number: Int, _ wait: LeaseWait, at now: ResolverInstant) {
    guard let query = queries[number] else { return }
    queries[number]?.stage = .takingLease(wait)
    // It ends by itself a second after its holder would have.
    actions.append(.takeLease(number, query.question, for: query.deadlines.whole - now + .seconds(1)))
  }

  /// The store said whose turn it is.
  mutating func noteLease(
    _ number: Int, _ state: StoreLink.LeaseState, _ wait: LeaseWait, at now: ResolverInstant
  ) {
    guard let query = queries[number] else { return }
    switch wait.step(state, at: now) {
    case .ask(let lease?):
      tell(.turn(.taken))
      queries[number]?.lease = lease
      queries[number]?.stage = .readingUnderLease
      readStore(number, query.question, at: now)
    case .ask(nil):
      tell(.turn(state == .held ? .late : .unavailable))
      askServers(number, query, at: now)
    case .lookAgain(let instant):
      queries[number]?.stage = .waitingForLease(wait)
      // The others of its query do not wait for another member.
      leaveBatch(query, at: now)
      queries[number]?.batch = nil
      timers.set(.store(number), at: instant)
    }
  }

  /// Takes over what the store has if it is newer than what the cache has.
  ///
  /// - Returns: what the question gets: a fresh answer, or word that there is now an older one to go by; nil if
  ///   providers are to be asked.
  private mutating func restored(
    _ question: AddressQuestion, _ reading: StoreReading<CacheEntry>, at now: ResolverInstant
  ) -> StoreReading<QueryOutcome> {
    let stored: CacheEntry
    switch reading {
    case .found(let entry): stored = entry
    case .nothing:
      tell(.storeRead(isHit: false))
      return .nothing
    case .unavailable: return .unavailable
    }
    let known = cache.value(question.host)?[question.family].entry
    let use = StoredUse(
      phase: cache.phase(of: stored, at: now), life: stored.life, isNegative: stored.isNegative, known: known?.life)
    tell(.storeRead(isHit: use != .nothing))
    if use != .nothing { tell(.kept(evicted: cache.store(stored, for: question, now: now))) }
    switch use {
    case .answer:
      let answer = Answer(stored.content, ttl: nil, canonicalName: stored.canonicalName)
      return .found(.answered(answer, .store, stored.life))
    case .staleOnly: return .found(.restored)
    case .newer, .nothing: return .nothing
    }
  }
}

/// What a stored answer is good for: a pure function of where it and the cache's own stand in their lives.
enum StoredUse: Sendable, Hashable {
  /// It answers the question.
  case answer
  /// It is not fresh, and better than the nothing that the cache has: those who wait may want it at once.
  case staleOnly
  /// It is not fresh, and younger than the cache's own: kept while the providers are asked.
  case newer
  case nothing

  /// - Parameters:
  ///   - phase: where the stored answer stands.
  ///   - life: its life; one without any length is that of an answer of unknown age.
  ///   - isNegative: whether it is a negative one, which serves while it is fresh and never afterwards.
  ///   - known: the life of the cache's own, if it has one.
  init(phase: CachePhase, life: CacheLife, isNegative: Bool, known: CacheLife?) {
    // A wall clock shows whole milliseconds and runs a little faster or slower than the time line: what seems younger by
    // less than clocks may be apart may be the cache's own.
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
      self = known == nil ? .staleOnly : .newer
    }
  }
}
