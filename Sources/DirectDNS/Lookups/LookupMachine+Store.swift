// SPDX-License-Identifier: Apache-2.0
/// The store beyond the process: what ``StoreTurn`` decides is carried out with the cache and the questions here.
extension LookupMachine {
  /// The store has been read.
  mutating func storeRead(
    _ number: Number<InFlightQuestion>, _ reading: StoreReading<CacheEntry>, at now: ResolverInstant
  ) {
    defer { advance(at: now) }
    guard let inFlight = questions[number], let turn = inFlight.turn, turn.isReading || turn.isLate else { return }
    let restored = restored(inFlight, reading, at: now)
    guard turn.isReading else { return readLate(number, inFlight, restored, at: now) }
    follow(questions[number]?.turn?.read(restored, at: now), number, at: now)
  }

  /// The store has said who holds the lease; it is given back if the question has gone on without it.
  mutating func leaseTaken(_ number: Number<InFlightQuestion>, _ state: StoreLease.State, at now: ResolverInstant) {
    defer { advance(at: now) }
    if let step = questions[number]?.turn?.lease(state, at: now) {
      follow(step, number, at: now)
    } else if case .taken(let lease) = state {
      actions.append(.endLease(lease))
    }
  }

  /// The time is over that a question waits for the store, or for another process.
  mutating func storeTimePassed(_ number: Number<InFlightQuestion>, at now: ResolverInstant) {
    if let failure = questions[number]?.failure { return serversAnswered(number, .failure(failure), at: now) }
    follow(questions[number]?.turn?.timePassed(at: now), number, at: now)
  }

  /// Carries out a step.
  mutating func follow(_ step: StoreTurn.Step?, _ number: Number<InFlightQuestion>, at now: ResolverInstant) {
    guard let step, let inFlight = questions[number] else { return }
    storeTimers.set(number, at: nil)
    switch step {
    case .read(let end, let turn):
      if let turn { report(.turn(turn)) }
      actions.append(.readStore(number, inFlight.question))
      storeTimers.set(number, at: end)
    case .takeLease(let duration, let end):
      actions.append(.takeLease(number, inFlight.question, for: duration))
      storeTimers.set(number, at: end)
    case .wait(let end):
      // The rest of its batch does not wait for another process.
      leaveBatch(number, inFlight, at: now)
      questions[number]?.batch = nil
      storeTimers.set(number, at: end)
    case .found(let outcome, let turn):
      if let turn { report(.turn(turn)) }
      endLease(of: number)
      leaveBatch(number, inFlight, at: now)
      questionOutcomes.append((number, outcome))
    case .ask(let turn):
      if let turn { report(.turn(turn)) }
      askServers(number, inFlight, at: now)
    }
  }

  /// Gives the lease back that a question holds.
  mutating func endLease(of number: Number<InFlightQuestion>) {
    if hasLeases, let lease = questions[number]?.turn?.takeLease() {
      actions.append(.endLease(lease))
    }
  }

  /// Takes over the store's answer if it is newer than what the cache has.
  ///
  /// - Returns: the question's outcome: a fresh answer, or ``QuestionOutcome/restored(_:)`` for one that is not; `nothing`
  ///   if the providers are to be asked.
  private mutating func restored(
    _ inFlight: InFlightQuestion, _ reading: StoreReading<CacheEntry>, at now: ResolverInstant
  ) -> StoreReading<QuestionOutcome> {
    let question = inFlight.question
    let stored: CacheEntry
    switch reading {
    // It may be the answer that was invalidated.
    case .found where inFlight.isInvalidated: return .nothing
    case .found(let entry): stored = entry
    case .nothing:
      report(.storeRead(isHit: false))
      return .nothing
    case .late: return .late
    case .unavailable: return .unavailable
    }
    let known = cache.value(question.host)?[question.family].entry ?? inFlight.restored
    let use = StoredUse(
      phase: cache.phase(of: stored, at: now), life: stored.life, isNegative: stored.isNegative, known: known?.life,
      isKnownGone: known.map { cache.phase(of: $0, at: now) == .gone } ?? false)
    report(.storeRead(isHit: use != .nothing))
    if use != .nothing { report(.kept(evicted: cache.store(stored, for: question, now: now))) }
    switch use {
    case .answer:
      let answer = Answer(stored.content, ttl: nil, canonicalName: stored.canonicalName)
      return .found(.answered(answer, .store, stored.life))
    case .staleOnly: return .found(.restored(stored))
    case .newer, .nothing: return .nothing
    }
  }

  // MARK: What the store had for a caller

  /// What there is for a caller: in the cache, as for its request, or else what the store had and the cache has evicted
  /// since.
  func find(
    _ caller: LookupCaller, _ wanted: AddressFamilies? = nil, addsStale: Bool? = nil, at now: ResolverInstant
  ) -> AnswerCache.Found? {
    let cached = cache.find(caller.request, wanted, addsStale: addsStale, at: now)
    switch cached?.verdict {
    case .serve, .wait, .negative: return cached
    case .miss, nil: return restored(caller, wanted ?? caller.request.wanted, at: now) ?? cached
    }
  }

  private func restored(
    _ caller: LookupCaller, _ wanted: AddressFamilies, at now: ResolverInstant
  ) -> AnswerCache.Found? {
    guard !caller.restored.isEmpty else { return nil }
    let value = cache.value(caller.request.host)
    var outcomes = FamilyOutcomes()
    var views: [IPAddress.Family: FamilyView] = [:]
    for (family, entry) in caller.restored where wanted.contains(family) {
      // What the cache has instead came later.
      guard value?[family].entry == nil else { continue }
      views[family] = FamilyView(kind: .addresses, life: entry.life)
      let answer = Answer(entry.content, ttl: nil, canonicalName: entry.canonicalName)
      outcomes[family] = .answered(answer, cache.sources[Int(entry.source)], entry.life)
    }
    let unknown = FamilyView(kind: .neverAsked, life: CacheLife(askedAt: 0, expireAt: 0))
    let verdict = cache.verdict(
      views[.ipv4] ?? unknown, views[.ipv6] ?? unknown, wanted, caller.request.expired, now)
    let freshness: Resolution.Freshness
    let families: AddressFamilies
    switch verdict {
    case .serve(let served, let worst, _): (families, freshness) = (served, worst)
    case .wait(let stale): (families, freshness) = (stale, .stale)
    case .negative, .miss: return nil
    }
    for family in IPAddress.Family.allCases where !families.contains(family) { outcomes[family] = nil }
    guard var found = resolution(outcomes, caller.request, at: now) else { return nil }
    found.freshness = freshness
    return AnswerCache.Found(verdict: verdict, resolution: found)
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
