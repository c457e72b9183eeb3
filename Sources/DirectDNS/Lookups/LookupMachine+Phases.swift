// SPDX-License-Identifier: Apache-2.0
/// The phases of a lookup: what it waits for, and what follows.
extension LookupMachine {
  // MARK: Beginning a phase

  /// Refreshes a stale answer: it is served if the refresh takes longer than `clientResponseTimeout` (RFC 8767 §5).
  mutating func refresh(_ caller: LookupCaller, at now: ResolverInstant) {
    // The refresh goes on when the caller's time is over, or a name whose callers are in a hurry would stay stale.
    let usual = deadlines(nil, from: now)
    let started = startRefresh(for: caller, caller.deadlines.whole > usual.whole ? caller.deadlines : usual, at: now)
    let timeout = settings.configuration.cache.clientResponseTimeout
    // The caller may have waited for the store, and for the other family, before a stale answer was known.
    let end = min(staleServesAt(started, caller.request, timeout, at: now), caller.began + timeout)
    wait(caller, .refreshing, started, until: min(end, caller.deadlines.whole), at: now)
  }

  /// When a stale answer is served although the questions are still under way: once these have taken that long.
  ///
  /// The time counts from when they were asked and not from when the caller came, so that a silent server delays only
  /// the first callers.
  private func staleServesAt(
    _ families: AddressFamilies, _ request: LookupRequest, _ timeout: Duration, at now: ResolverInstant
  ) -> ResolverInstant {
    let began = families.members.compactMap { family in
      questionBegan(.init(AddressQuestion(request.host, family), by: request.route))
    }
    return (began.max() ?? now) + timeout
  }

  /// Asks for everything that is not known; what fails falls back on expired answers and on the system's DNS.
  mutating func ask(
    _ caller: LookupCaller, known: FamilyOutcomes = FamilyOutcomes(), isSecondLook: Bool = false,
    hasRecord: Bool = true, at now: ResolverInstant
  ) {
    let request = caller.request
    guard !isShutDown else { return finish(caller, .failure(shutDownError(request.host))) }
    var outcomes = known
    var asked: AddressFamilies = []
    for family in request.wanted.members where outcomes[family] == nil {
      let question = AddressQuestion(request.host, family)
      switch cache.remembered(question, hasRecord: hasRecord, at: now) {
      case .success(let entry):
        outcomes[family] = .answered(Answer(entry.content, ttl: nil), cache.sources[Int(entry.source)], entry.life)
      case .failure(let error): outcomes[family] = .failed(error)
      case nil:
        asked.insert(AddressFamilies(family))
        join(
          .init(question, by: request.route), caller.deadlines, .lookup(caller.number),
          restored: caller.restored[family], at: now)
      }
    }
    wait(
      caller, .asking(isSecondLook: isSecondLook), asked, beside: outcomes, until: providersEnd(for: caller), at: now)
  }

  /// When a caller waits no longer for the providers: where the system's DNS is left to ask, it needs some of the time.
  ///
  /// The questions may be those of others, who have more.
  private func providersEnd(for caller: LookupCaller) -> ResolverInstant {
    caller.request.route == .providers && settings.system != nil ? caller.deadlines.fallback : caller.deadlines.whole
  }

  /// Waits a moment for the other family, so that a caller who is served one from the cache gets both if possible.
  mutating func complete(
    _ caller: LookupCaller, _ resolution: Resolution, _ open: AddressFamilies, at now: ResolverInstant
  ) {
    let request = caller.request
    for family in open.members {
      let question = AddressQuestion(request.host, family)
      join(.init(question, by: request.route), caller.deadlines, .lookup(caller.number), at: now)
    }
    let timeout = max(settings.configuration.cache.clientResponseTimeout, FamilyWait.resolutionDelay)
    let end = min(now + FamilyWait.resolutionDelay, staleServesAt(open, request, timeout, at: now))
    wait(caller, .completing(resolution), open, for: .keeping, until: min(end, caller.deadlines.whole), at: now)
  }

  /// Refreshes everything that is not fresh, and waits for all of it.
  mutating func renew(
    _ caller: LookupCaller, isPatient: Bool, round: Int, outcomes: FamilyOutcomes = FamilyOutcomes(),
    at now: ResolverInstant
  ) {
    let started = startRefresh(for: caller, caller.deadlines, at: now)
    guard !started.isEmpty else { return finishRenewal(caller, outcomes, wasAsked: round > 0, at: now) }
    let isHurried = !isPatient && find(caller, at: now)?.resolution != nil
    let last = providersEnd(for: caller)
    let end = isHurried ? min(now + settings.configuration.cache.clientResponseTimeout, last) : last
    wait(caller, .renewing(isPatient: isPatient, round: round), started, for: .keeping, until: end, at: now)
  }

  mutating func wait(
    _ caller: LookupCaller, _ phase: Lookup.Phase, _ families: AddressFamilies,
    for purpose: FamilyWait.Purpose? = nil, beside known: FamilyOutcomes = FamilyOutcomes(),
    until end: ResolverInstant, at now: ResolverInstant
  ) {
    let request = caller.request
    let wait = FamilyWait(
      families, for: purpose ?? request.purpose, preferred: request.preferred, beside: known, until: end)
    proceed(Lookup(caller: caller, phase: phase, wait: wait), at: now)
  }

  /// Goes on waiting, or goes on to what follows if the wait is over.
  mutating func proceed(_ lookup: consuming Lookup, at now: ResolverInstant) {
    if !lookup.wait.isOver { lookup.wait.timePassed(at: now) }
    guard lookup.wait.isOver else {
      if case .renewing(isPatient: false, round: 0) = lookup.phase, lookup.wait.outcomes.hasRestored {
        // The store had one family, and no provider is expected to answer: the other family gets no more than a moment.
        lookup.wait.shorten(at: now)
      }
      return lookups.add(lookup)
    }
    lookup.noteRestored()
    switch lookup.phase {
    case .refreshing: finishRefresh(lookup, at: now)
    case .asking(let isSecondLook): finishAsking(lookup, isSecondLook: isSecondLook, at: now)
    case .completing(let known):
      let outcomes = lookup.wait.outcomes
      let whole = outcomes.all.isEmpty ? nil : cache.find(lookup.request, at: now)?.resolution
      finish(lookup.caller, .success(withUnkept(whole ?? known, outcomes, lookup.request, at: now)))
    case .fallingBack(let known, let failed): finishFallback(lookup, known, failed: failed, at: now)
    case .askingSystemAlone: finishSystemAlone(lookup, at: now)
    case .renewing(let isPatient, let round):
      let outcomes = lookup.wait.outcomes
      if outcomes.hasRestored, round == 0 {
        // The store's answer is not fresh either: the providers are asked.
        renew(lookup.caller, isPatient: isPatient, round: 1, outcomes: outcomes, at: now)
      } else {
        finishRenewal(lookup.caller, outcomes, at: now)
      }
    }
  }

  mutating func finish(
    _ caller: LookupCaller, _ result: Result<Resolution, DirectDNSError>, wasAsked: Bool = true
  ) {
    endings.append(.answer(caller.number, result, wasAsked: wasAsked))
  }

  /// Serves what the cache has by now, even if it is stale.
  ///
  /// - Returns: whether it had anything.
  mutating func serveCached(_ caller: LookupCaller, at now: ResolverInstant) -> Bool {
    guard let resolution = find(caller, at: now)?.resolution else { return false }
    report(.hit(caller.request.host, resolution.freshness))
    finish(caller, .success(resolution))
    return true
  }

  // MARK: Ending a phase

  private mutating func finishRefresh(_ lookup: Lookup, at now: ResolverInstant) {
    let (caller, request, outcomes) = (lookup.caller, lookup.request, lookup.wait.outcomes)
    if !outcomes.hasRestored, let found = withStale(outcomes, caller, at: now) {
      return finish(caller, .success(found))
    }
    // The cache is asked again, since a negative answer may have replaced the stale one.
    if serveCached(caller, at: now) { return }
    if case .negative(let negative, let left)? = find(caller, at: now)?.verdict {
      return finish(caller, .failure(negativeError(negative, request, left: left)))
    }
    if let found = withStale(outcomes, caller, at: now) { return finish(caller, .success(found)) }
    ask(caller, known: outcomes, at: now)
  }

  private mutating func finishAsking(_ lookup: Lookup, isSecondLook: Bool, at now: ResolverInstant) {
    let (caller, outcomes) = (lookup.caller, lookup.wait.outcomes)
    let isRestored = !isSecondLook && outcomes.hasRestored
    // The cache has the store's answer by now, unless it is full, and whatever others were told meanwhile.
    let cached = isRestored ? find(caller, at: now) : nil
    if isRestored, serve(caller, cached, after: outcomes, at: now) { return }
    if let found = withStale(outcomes, caller, at: now) { return finish(caller, .success(found)) }
    guard isRestored else { return fallBack(lookup, at: now) }
    if case .wait? = cached?.verdict { return refresh(caller, at: now) }
    // The store's answer is of no use to this caller: now the providers are asked.
    ask(caller, isSecondLook: true, at: now)
  }

  /// Serves what the cache has once the store has been read, if that can be served at once.
  private mutating func serve(
    _ caller: LookupCaller, _ cached: AnswerCache.Found?, after outcomes: FamilyOutcomes, at now: ResolverInstant
  ) -> Bool {
    let request = caller.request
    switch cached?.verdict {
    case .serve(let served, _, let refresh):
      guard let resolution = cached?.resolution else { return false }
      let open = refresh ? startRefreshBeside(request, served, at: now) : []
      report(.hit(request.host, resolution.freshness))
      // A family without an outcome has been waited for long enough.
      let answered = open.filter { outcomes[$0] != nil }
      if answered.isEmpty || request.purpose != .handingOut {
        finish(caller, .success(resolution))
      } else {
        complete(caller, resolution, answered, at: now)
      }
      return true
    case .negative(let negative, let left):
      finish(caller, .failure(negativeError(negative, request, left: left)))
      return true
    case .wait, .miss, nil: return false
    }
  }

  private mutating func finishRenewal(
    _ caller: LookupCaller, _ outcomes: FamilyOutcomes, wasAsked: Bool = true, at now: ResolverInstant
  ) {
    let request = caller.request
    // Without the stale addresses of one family beside fresh ones of the other: it is the fresh ones that are renewed.
    let cached = find(caller, addsStale: false, at: now)
    // An answer that is not kept, such as one with TTL 0, is in the outcomes only.
    if let resolution = cached?.resolution ?? resolution(outcomes, request, at: now) {
      return finish(caller, .success(resolution), wasAsked: wasAsked)
    }
    if case .negative(let negative, let left)? = cached?.verdict {
      return finish(caller, .failure(negativeError(negative, request, left: left)), wasAsked: wasAsked)
    }
    var known = FamilyOutcomes()
    for family in IPAddress.Family.allCases where outcomes[family]?.isRestored == false {
      known[family] = outcomes[family]
    }
    ask(caller, known: known, at: now)
  }

  /// The addresses that came, and for a caller who would not learn of later ones the expired ones of a family of which
  /// none came.
  func withStale(
    _ outcomes: FamilyOutcomes, _ caller: LookupCaller, at now: ResolverInstant
  ) -> Resolution? {
    let request = caller.request
    guard var found = resolution(outcomes, request, at: now) else { return nil }
    let missing = request.wanted.filter { if case .answered = outcomes[$0] { false } else { true } }
    guard request.purpose == .handingOut, !missing.isEmpty else { return found }
    let known = find(caller, missing, addsStale: false, at: now)
    if let more = known?.resolution { found.add(more, isFirst: missing.contains(request.preferred)) }
    return found
  }

  /// An answer of the cache, with the addresses of the other family that came and are not kept.
  private func withUnkept(
    _ known: Resolution, _ outcomes: FamilyOutcomes, _ request: LookupRequest, at now: ResolverInstant
  ) -> Resolution {
    var unkept = FamilyOutcomes()
    for family in request.wanted.members where !known.addresses.contains(where: { $0.family == family }) {
      if let outcome = outcomes[family], !outcome.isKept(at: now) { unkept[family] = outcome }
    }
    guard let more = resolution(unkept, request, at: now) else { return known }
    var all = known
    all.add(more, isFirst: more.addresses.first?.family == request.preferred)
    return all
  }

  func resolution(
    _ outcomes: FamilyOutcomes, _ request: LookupRequest, at now: ResolverInstant
  ) -> Resolution? {
    outcomes.resolution(cache.ranking, prefersIPv6: request.prefersIPv6, at: now)
  }
}
