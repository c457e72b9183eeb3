// SPDX-License-Identifier: Apache-2.0
/// The store beyond the process: what ``StoreTurn`` decides is carried out with the cache and the questions here.
extension LookupMachine.State {
  /// The store has been read.
  mutating func noteStore(
    _ number: Int, _ reading: StoreReading<CacheEntry>, at now: ResolverInstant
  ) {
    guard let inFlight = questions[number], inFlight.turn?.isReading == true else { return }
    // Its answer may be the one that was invalidated.
    let restored = inFlight.isInvalidated ? .nothing : restored(inFlight.question, reading, at: now)
    follow(questions[number]?.turn?.read(restored, at: now), number, at: now)
  }

  /// The store has said who holds the lease; it is given back if the question has gone on without it.
  mutating func noteLease(_ number: Int, _ state: StoreLease.State, at now: ResolverInstant) {
    if let step = questions[number]?.turn?.lease(state, at: now) {
      follow(step, number, at: now)
    } else if case .taken(let lease) = state {
      actions.append(.endLease(lease))
    }
  }

  /// The time is over that a question waits for the store, or for another process.
  mutating func storeTimePassed(_ number: Int, at now: ResolverInstant) {
    follow(questions[number]?.turn?.timePassed(at: now), number, at: now)
  }

  /// Carries out a step.
  mutating func follow(_ step: StoreTurn.Step?, _ number: Int, at now: ResolverInstant) {
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
      leaveBatch(inFlight, at: now)
      questions[number]?.batch = nil
      storeTimers.set(number, at: end)
    case .found(let outcome, let turn):
      if let turn { report(.turn(turn)) }
      endLease(of: number)
      leaveBatch(inFlight, at: now)
      questionOutcomes.append((number, outcome))
    case .ask(let turn):
      if let turn { report(.turn(turn)) }
      askServers(number, inFlight.question, inFlight.deadlines, batch: inFlight.batch, at: now)
    }
  }

  /// Gives the lease back that a question holds.
  mutating func endLease(of number: Int) {
    if hasLeases, let lease = questions[number]?.turn?.takeLease() {
      actions.append(.endLease(lease))
    }
  }

  /// Takes over the store's answer if it is newer than what the cache has.
  ///
  /// - Returns: the question's outcome: a fresh answer, or ``QuestionOutcome/restored`` for one that is not; `nothing`
  ///   if the providers are to be asked.
  private mutating func restored(
    _ question: AddressQuestion, _ reading: StoreReading<CacheEntry>, at now: ResolverInstant
  ) -> StoreReading<QuestionOutcome> {
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
