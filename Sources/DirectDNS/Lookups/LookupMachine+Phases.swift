// SPDX-License-Identifier: Apache-2.0
/// What a lookup waits for, one thing after the other.
extension LookupMachine {
  // MARK: Beginnings

  /// A stale answer is there: the refresh may take `clientResponseTimeout`, then the stale answer serves.
  mutating func refresh(_ number: Int, _ request: LookupRequest, _ deadlines: LookupDeadlines, at now: ResolverInstant)
  {
    let started = startRefresh(
      request.host, request.wanted, request.route, deadlines, waiter: .lookup(number), at: now)
    let end = patienceEnds(started, request, settings.configuration.cache.clientResponseTimeout, at: now)
    wait(number, request, deadlines, .refreshing, started, until: min(end, deadlines.whole), at: now)
  }

  /// When questions have been under way for so long.
  ///
  /// Whoever comes meanwhile waits for what is left of that: a silent server holds everybody up but once.
  private func patienceEnds(
    _ families: AddressFamilies, _ request: LookupRequest, _ patience: Duration, at now: ResolverInstant
  ) -> ResolverInstant {
    (families.members.compactMap { queryBegan(AddressQuestion(request.host, $0), request.route) }.max() ?? now)
      + patience
  }

  /// Nothing is there: asks, and falls back on expired answers and the system's DNS.
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

  /// One family is known: whoever is handed its addresses gets those of the other too if they come within a moment.
  mutating func complete(
    _ number: Int, _ request: LookupRequest, _ deadlines: LookupDeadlines, _ resolution: Resolution,
    _ open: AddressFamilies, at now: ResolverInstant
  ) {
    for family in open.members {
      join(AddressQuestion(request.host, family), request.route, deadlines, .lookup(number), at: now)
    }
    let patience = max(settings.configuration.cache.clientResponseTimeout, FamilyWait.resolutionDelay)
    let end = min(now + FamilyWait.resolutionDelay, patienceEnds(open, request, patience, at: now))
    wait(
      number, request, deadlines, .completing(resolution), open, for: .keeping, until: min(end, deadlines.whole),
      at: now)
  }

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
    if started.isEmpty { renewed(number, lookup, outcomes, at: now) } else { goOn(number, lookup, at: now) }
  }

  mutating func wait(
    _ number: Int, _ request: LookupRequest, _ deadlines: LookupDeadlines, _ phase: Lookup.Phase,
    _ families: AddressFamilies, for purpose: FamilyWait.Purpose? = nil,
    beside known: FamilyOutcomes = FamilyOutcomes(),
    until end: ResolverInstant, at now: ResolverInstant
  ) {
    let wait = FamilyWait(
      families, for: purpose ?? request.purpose, preferred: request.preferred, beside: known, until: end)
    goOn(number, Lookup(request: request, deadlines: deadlines, phase: phase, wait: wait, wasAsked: true), at: now)
  }

  /// Waits on, or does what follows the wait.
  mutating func goOn(_ number: Int, _ lookup: consuming Lookup, at now: ResolverInstant) {
    if !lookup.wait.isOver { lookup.wait.timePassed(at: now) }
    guard lookup.wait.isOver else {
      if case .renewing(isPatient: false, round: 0) = lookup.phase, lookup.wait.outcomes.hasRestored {
        // The store had this family. Where nobody is expected to answer, the other is not waited for to its very end.
        lookup.wait.shorten(at: now)
      }
      let end = lookup.wait.end
      lookups[number] = lookup
      return ends.add(number, at: end, among: lookups)
    }
    let outcomes = lookup.wait.outcomes
    switch lookup.phase {
    case .refreshing: refreshed(number, lookup, outcomes, at: now)
    case .asking(let isSecondLook): asked(number, lookup, outcomes, isSecondLook: isSecondLook, at: now)
    case .completing(let resolution):
      let isMore = outcomes.all.contains(where: \.hasAddresses)
      let whole = isMore ? find(lookup.request, at: now)?.resolution : nil
      finish(number, .success(whole ?? resolution))
    case .fallingBack(let known, let failed):
      systemAsked(number, lookup, known, failed: failed, outcomes, at: now)
    case .askingSystemAlone: systemAloneAsked(number, lookup, outcomes, at: now)
    case .renewing(let isPatient, let round):
      if outcomes.hasRestored, round == 0 {
        // What the store had is not fresh either.
        renew(
          number, lookup.request, lookup.deadlines, isPatient: isPatient, round: 1, outcomes: outcomes, at: now)
      } else {
        renewed(number, lookup, outcomes, at: now)
      }
    }
  }

  mutating func finish(_ number: Int, _ result: Result<Resolution, DirectDNSError>, wasAsked: Bool = true) {
    endings.append(.answer(number, result, wasAsked: wasAsked))
  }

  /// Serves what the cache has by now, be it stale.
  ///
  /// - Returns: whether it had anything.
  mutating func serveCached(_ number: Int, _ request: LookupRequest, at now: ResolverInstant) -> Bool {
    guard let resolution = find(request, at: now)?.resolution else { return false }
    tell(.hit(request.host, resolution.freshness))
    finish(number, .success(resolution))
    return true
  }

  // MARK: What follows a wait

  private mutating func refreshed(
    _ number: Int, _ lookup: Lookup, _ outcomes: FamilyOutcomes, at now: ResolverInstant
  ) {
    let request = lookup.request
    if !outcomes.hasRestored, let found = resolution(outcomes, request, at: now) {
      return finish(number, .success(found))
    }
    // The table knows best what is left: a negative answer has replaced the stale one by now.
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

  private mutating func asked(
    _ number: Int, _ lookup: Lookup, _ outcomes: FamilyOutcomes, isSecondLook: Bool, at now: ResolverInstant
  ) {
    let request = lookup.request
    let isRestored = !isSecondLook && outcomes.hasRestored
    // The cache has what came from the store, beside what others said.
    let cached = isRestored ? find(request, at: now) : nil
    if isRestored, serve(number, lookup, cached, after: outcomes, at: now) { return }
    if let found = resolution(outcomes, request, at: now) { return finish(number, .success(found)) }
    guard isRestored else { return fallBack(number, lookup, outcomes, at: now) }
    if case .wait? = cached?.verdict { return refresh(number, request, lookup.deadlines, at: now) }
    // The caller has no use for it: this time the providers are asked.
    ask(number, request, lookup.deadlines, isSecondLook: true, at: now)
  }

  /// Serves what the cache has after the store was looked into, if it has something to serve at once.
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
      // What is still under way was waited for.
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

  private mutating func renewed(
    _ number: Int, _ lookup: Lookup, _ outcomes: FamilyOutcomes, at now: ResolverInstant
  ) {
    let request = lookup.request
    let cached = find(request, at: now)
    // What is not kept, as with TTL 0, stands in the outcomes alone.
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
