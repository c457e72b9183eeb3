// SPDX-License-Identifier: Apache-2.0
/// The phases of a lookup: what it waits for, and what follows.
extension LookupMachine {
  // MARK: Beginning a phase

  /// Refreshes a stale answer: it is served if the refresh takes longer than `clientResponseTimeout` (RFC 8767 §5).
  mutating func refresh(_ number: Int, _ request: LookupRequest, _ deadlines: LookupDeadlines, at now: ResolverInstant)
  {
    let started = startRefresh(
      request.host, request.wanted, request.route, deadlines, waiter: .lookup(number), at: now)
    let end = staleServesAt(started, request, settings.configuration.cache.clientResponseTimeout, at: now)
    wait(number, request, deadlines, .refreshing, started, until: min(end, deadlines.whole), at: now)
  }

  /// When a stale answer is served although the questions are still under way: once these have taken that long.
  ///
  /// The time counts from when they were asked and not from when the caller came, so that a silent server delays only
  /// the first callers.
  private func staleServesAt(
    _ families: AddressFamilies, _ request: LookupRequest, _ timeout: Duration, at now: ResolverInstant
  ) -> ResolverInstant {
    (families.members.compactMap { queryBegan(AddressQuestion(request.host, $0), request.route) }.max() ?? now)
      + timeout
  }

  /// Asks for everything that is not known; what fails falls back on expired answers and on the system's DNS.
  mutating func ask(
    _ number: Int, _ request: LookupRequest, _ deadlines: LookupDeadlines, known: FamilyOutcomes = FamilyOutcomes(),
    isSecondLook: Bool = false, hasRecord: Bool = true, at now: ResolverInstant
  ) {
    guard !isShutDown else { return finish(number, .failure(shutDownError(request.host))) }
    var outcomes = known
    var asked: AddressFamilies = []
    for family in request.wanted.members where outcomes[family] == nil {
      let question = AddressQuestion(request.host, family)
      switch cache.remembered(question, hasRecord: hasRecord, at: now) {
      case .negative(let negative, let source, let life):
        outcomes[family] = .answered(Answer(.negative(negative), ttl: nil), cache.sources[Int(source)], life)
      case .failure(let error): outcomes[family] = .failed(error)
      case nil:
        asked.insert(AddressFamilies(family))
        join(question, request.route, deadlines, .lookup(number), at: now)
      }
    }
    wait(
      number, request, deadlines, .asking(isSecondLook: isSecondLook), asked, beside: outcomes,
      until: deadlines.whole, at: now)
  }

  /// Waits a moment for the other family, so that a caller who is served one from the cache gets both if possible.
  mutating func complete(
    _ number: Int, _ request: LookupRequest, _ deadlines: LookupDeadlines, _ resolution: Resolution,
    _ open: AddressFamilies, at now: ResolverInstant
  ) {
    for family in open.members {
      join(AddressQuestion(request.host, family), request.route, deadlines, .lookup(number), at: now)
    }
    let timeout = max(settings.configuration.cache.clientResponseTimeout, FamilyWait.resolutionDelay)
    let end = min(now + FamilyWait.resolutionDelay, staleServesAt(open, request, timeout, at: now))
    wait(
      number, request, deadlines, .completing(resolution), open, for: .keeping, until: min(end, deadlines.whole),
      at: now)
  }

  /// Refreshes everything that is not fresh, and waits for all of it.
  mutating func renew(
    _ number: Int, _ request: LookupRequest, _ deadlines: LookupDeadlines, isPatient: Bool, round: Int,
    outcomes: FamilyOutcomes = FamilyOutcomes(), at now: ResolverInstant
  ) {
    let started = startRefresh(
      request.host, request.wanted, request.route, deadlines, waiter: .lookup(number), at: now)
    let isHurried = !isPatient && find(request, at: now)?.resolution != nil
    let end =
      isHurried ? min(now + settings.configuration.cache.clientResponseTimeout, deadlines.whole) : deadlines.whole
    var lookup = Lookup(
      request: request, deadlines: deadlines, phase: .renewing(isPatient: isPatient, round: round),
      wait: FamilyWait(started, for: .keeping, until: end))
    lookup.wasAsked = round > 0 || !started.isEmpty
    if started.isEmpty { finishRenewal(number, lookup, outcomes, at: now) } else { proceed(number, lookup, at: now) }
  }

  mutating func wait(
    _ number: Int, _ request: LookupRequest, _ deadlines: LookupDeadlines, _ phase: Lookup.Phase,
    _ families: AddressFamilies, for purpose: FamilyWait.Purpose? = nil,
    beside known: FamilyOutcomes = FamilyOutcomes(),
    until end: ResolverInstant, at now: ResolverInstant
  ) {
    let wait = FamilyWait(
      families, for: purpose ?? request.purpose, preferred: request.preferred, beside: known, until: end)
    proceed(number, Lookup(request: request, deadlines: deadlines, phase: phase, wait: wait, wasAsked: true), at: now)
  }

  /// Goes on waiting, or goes on to what follows if the wait is over.
  mutating func proceed(_ number: Int, _ lookup: consuming Lookup, at now: ResolverInstant) {
    if !lookup.wait.isOver { lookup.wait.timePassed(at: now) }
    guard lookup.wait.isOver else {
      if case .renewing(isPatient: false, round: 0) = lookup.phase, lookup.wait.outcomes.hasRestored {
        // The store had one family, and no provider is expected to answer: the other family gets no more than a moment.
        lookup.wait.shorten(at: now)
      }
      let end = lookup.wait.end
      lookups[number] = lookup
      return ends.add(number, at: end, among: lookups)
    }
    let outcomes = lookup.wait.outcomes
    switch lookup.phase {
    case .refreshing: finishRefresh(number, lookup, outcomes, at: now)
    case .asking(let isSecondLook): finishAsking(number, lookup, outcomes, isSecondLook: isSecondLook, at: now)
    case .completing(let resolution):
      let isMore = outcomes.all.contains(where: \.hasAddresses)
      let whole = isMore ? find(lookup.request, at: now)?.resolution : nil
      finish(number, .success(whole ?? resolution))
    case .fallingBack(let known, let failed):
      finishFallback(number, lookup, known, failed: failed, outcomes, at: now)
    case .askingSystemAlone: finishSystemAlone(number, lookup, outcomes, at: now)
    case .renewing(let isPatient, let round):
      if outcomes.hasRestored, round == 0 {
        // The store's answer is not fresh either: the providers are asked.
        renew(
          number, lookup.request, lookup.deadlines, isPatient: isPatient, round: 1, outcomes: outcomes, at: now)
      } else {
        finishRenewal(number, lookup, outcomes, at: now)
      }
    }
  }

  mutating func finish(_ number: Int, _ result: Result<Resolution, DirectDNSError>, wasAsked: Bool = true) {
    endings.append(.answer(number, result, wasAsked: wasAsked))
  }

  /// Serves what the cache has by now, even if it is stale.
  ///
  /// - Returns: whether it had anything.
  mutating func serveCached(_ number: Int, _ request: LookupRequest, at now: ResolverInstant) -> Bool {
    guard let resolution = find(request, at: now)?.resolution else { return false }
    tell(.hit(request.host, resolution.freshness))
    finish(number, .success(resolution))
    return true
  }

  // MARK: Ending a phase

  private mutating func finishRefresh(
    _ number: Int, _ lookup: Lookup, _ outcomes: FamilyOutcomes, at now: ResolverInstant
  ) {
    let request = lookup.request
    if !outcomes.hasRestored, let found = resolution(outcomes, request, at: now) {
      return finish(number, .success(found))
    }
    // The cache is asked again, since a negative answer may have replaced the stale one.
    let cached = find(request, at: now)
    if let resolution = cached?.resolution {
      tell(.hit(request.host, resolution.freshness))
      return finish(number, .success(resolution))
    }
    if case .negative(let negative, let left)? = cached?.verdict {
      return finish(number, .failure(DirectDNSError(negative, of: request.host, request.wanted, left: left)))
    }
    if let found = resolution(outcomes, request, at: now) { return finish(number, .success(found)) }
    ask(number, request, lookup.deadlines, known: outcomes, at: now)
  }

  private mutating func finishAsking(
    _ number: Int, _ lookup: Lookup, _ outcomes: FamilyOutcomes, isSecondLook: Bool, at now: ResolverInstant
  ) {
    let request = lookup.request
    let isRestored = !isSecondLook && outcomes.hasRestored
    // The cache has the store's answer by now, and whatever others were told meanwhile.
    let cached = isRestored ? find(request, at: now) : nil
    if isRestored, serve(number, lookup, cached, after: outcomes, at: now) { return }
    if let found = resolution(outcomes, request, at: now) { return finish(number, .success(found)) }
    guard isRestored else { return fallBack(number, lookup, outcomes, at: now) }
    if case .wait? = cached?.verdict { return refresh(number, request, lookup.deadlines, at: now) }
    // The store's answer is of no use to this caller: now the providers are asked.
    ask(number, request, lookup.deadlines, isSecondLook: true, at: now)
  }

  /// Serves what the cache has once the store has been read, if that can be served at once.
  private mutating func serve(
    _ number: Int, _ lookup: Lookup, _ cached: AnswerCache.Found?, after outcomes: FamilyOutcomes,
    at now: ResolverInstant
  ) -> Bool {
    let request = lookup.request
    switch cached?.verdict {
    case .serve(let served, let freshness, let refresh):
      guard let resolution = cached?.resolution else { return false }
      let open = refresh ? openFamilies(request, served, at: now) : []
      tell(.hit(request.host, freshness))
      // A family without an outcome has been waited for long enough.
      let answered = AddressFamilies(open.members.filter { outcomes[$0] != nil })
      if answered.isEmpty || request.purpose != .handingOut {
        finish(number, .success(resolution))
      } else {
        complete(number, request, lookup.deadlines, resolution, answered, at: now)
      }
      return true
    case .negative(let negative, let left):
      finish(number, .failure(DirectDNSError(negative, of: request.host, request.wanted, left: left)))
      return true
    case .wait, .miss, nil: return false
    }
  }

  private mutating func finishRenewal(
    _ number: Int, _ lookup: Lookup, _ outcomes: FamilyOutcomes, at now: ResolverInstant
  ) {
    let request = lookup.request
    let cached = find(request, at: now)
    // An answer that is not kept, such as one with TTL 0, is in the outcomes only.
    if let resolution = cached?.resolution ?? resolution(outcomes, request, at: now) {
      return finish(number, .success(resolution), wasAsked: lookup.wasAsked)
    }
    if case .negative(let negative, let left)? = cached?.verdict {
      return finish(
        number, .failure(DirectDNSError(negative, of: request.host, request.wanted, left: left)),
        wasAsked: lookup.wasAsked)
    }
    var known = FamilyOutcomes()
    for family in IPAddress.Family.allCases where outcomes[family]?.isRestored == false {
      known[family] = outcomes[family]
    }
    ask(number, request, lookup.deadlines, known: known, at: now)
  }

  func resolution(
    _ outcomes: FamilyOutcomes, _ request: LookupRequest, at now: ResolverInstant
  ) -> Resolution? {
    outcomes.resolution(cache.ranking, prefersIPv6: request.prefersIPv6, at: now)
  }
}
