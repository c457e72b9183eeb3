// SPDX-License-Identifier: Apache-2.0
/// The system's DNS: when it is asked, in place of the providers or after them, and what its word counts for.
extension LookupMachine {
  /// Looks a name up by the system's DNS alone.
  mutating func askSystemAlone(_ request: LookupRequest, at now: ResolverInstant) -> Int {
    defer { advance(at: now) }
    let number = number()
    let deadlines = deadlines(request.timeout, from: now)
    guard !isShutDown else {
      finish(number, .failure(shutDownError(request.host)))
      return number
    }
    askSystem(number, request, deadlines, .askingSystemAlone, request.wanted, as: .systemAlone, at: now)
    return number
  }

  /// No provider has addresses: answers that expired come before the system's DNS.
  mutating func fallBack(
    _ number: Int, _ lookup: Lookup, _ outcomes: FamilyOutcomes, at now: ResolverInstant
  ) {
    let request = lookup.request
    let failed = AddressFamilies(
      request.wanted.members.filter { family in
        if case .answered = outcomes[family] { false } else { true }
      })
    guard !failed.isEmpty else { return finish(number, .failure(negativeError(request, outcomes))) }
    if serveCached(number, request, at: now) { return }
    let errors = failed.members.compactMap { outcomes[$0]?.error }
    if let ended = errors.first(where: { $0.code == .shutDown }) { return finish(number, .failure(ended)) }
    guard request.route == .providers, settings.system != nil, now < lookup.deadlines.whole else {
      return finish(number, .failure(failure(request, errors)))
    }
    tell(.askingSystem(request.host))
    askSystem(
      number, request, lookup.deadlines, .fallingBack(outcomes, failed: failed), failed, as: .system, at: now)
  }

  private mutating func askSystem(
    _ number: Int, _ request: LookupRequest, _ deadlines: LookupDeadlines, _ phase: Lookup.Phase,
    _ families: AddressFamilies, as server: InFlightQuery.Server, at now: ResolverInstant
  ) {
    for family in families.members {
      let key = InFlightQuery.Key(question: AddressQuestion(request.host, family), server: server)
      join(key, deadlines, .lookup(number), at: now)
    }
    wait(number, request, deadlines, phase, families, until: deadlines.whole, at: now)
  }

  mutating func systemAsked(
    _ number: Int, _ lookup: Lookup, _ known: FamilyOutcomes, failed: AddressFamilies, _ outcomes: FamilyOutcomes,
    at now: ResolverInstant
  ) {
    let request = lookup.request
    if let found = resolution(outcomes, request, at: now) { return finish(number, .success(found)) }
    let errors = failed.members.compactMap { known[$0]?.error }
    let systemErrors = failed.members.compactMap { outcomes[$0]?.error }
    if let ended = systemErrors.first(where: { $0.code == .shutDown }) { return finish(number, .failure(ended)) }
    guard systemErrors.isEmpty, outcomes.all.count == failed.members.count else {
      return serveCached(number, request, or: failure(request, errors + systemErrors), at: now)
    }
    guard failed == request.wanted else {
      var all = known
      all.merge(outcomes)
      return finish(number, .failure(negativeError(request, all)))
    }
    // Where no provider answers, a captive portal's DNS may well be the one that says "does not exist": its word is
    // told, and is not taken for the name's own answer.
    serveCached(
      number, request, or: failure(request, errors, systemSays: negativeError(request, outcomes).code), at: now)
  }

  /// Nobody brought an answer; one that has come meanwhile, for another caller, serves all the same.
  private mutating func serveCached(
    _ number: Int, _ request: LookupRequest, or error: DirectDNSError, at now: ResolverInstant
  ) {
    if !serveCached(number, request, at: now) { finish(number, .failure(error)) }
  }

  mutating func systemAloneAsked(
    _ number: Int, _ lookup: Lookup, _ outcomes: FamilyOutcomes, at now: ResolverInstant
  ) {
    let request = lookup.request
    if let found = resolution(outcomes, request, at: now) { return finish(number, .success(found)) }
    let errors = outcomes.all.compactMap(\.error)
    if let ended = errors.first(where: { $0.code == .shutDown }) { return finish(number, .failure(ended)) }
    guard errors.isEmpty, outcomes.all.count == request.wanted.members.count else {
      return finish(number, .failure(systemAloneError(request.host, errors)))
    }
    finish(number, .failure(negativeError(request, outcomes)))
  }

  // MARK: Its queries

  mutating func askSystem(
    _ number: Int, _ query: InFlightQuery, _ system: any SystemSource, at now: ResolverInstant
  ) {
    let timeout = max(query.deadlines.whole - now, .milliseconds(1))
    actions.append(.askSystem(number, query.question, system, timeout: timeout))
  }

  mutating func noteSystem(
    _ number: Int, _ query: InFlightQuery, _ result: Result<Answer, ProviderFailure>, at now: ResolverInstant
  ) {
    let question = query.question
    var result = result.flatMap { $0.fitting(question) }
    // The entry's life is bounded below, where the policy's least would lift it; this is for what is told of the answer.
    if query.key.server == .system, case .success(var answer) = result {
      answer.ttl = answer.ttl.map { min($0, UInt32(Self.systemLifetimeLimit.components.seconds)) }
      result = .success(answer)
    }
    tell(.systemAnswered(question, result, now - query.asked))
    let life = CacheLife(askedAt: query.asked.nanoseconds, expireAt: query.asked.nanoseconds)
    if query.key.server == .systemAlone {
      switch result {
      case .success(let answer): queryOutcomes.append((number, .answered(answer, .system, life)))
      case .failure(let failure): queryOutcomes.append((number, .failed(Self.systemFailed(failure))))
      }
      return
    }
    systemTally.note(result)
    switch result {
    case .success(let answer):
      systemFailures.forget(question)
      serverAnswered(.system, at: now)
      let isItsOwn = settings.configuration.localZones.route(question.host) == .system
      // Elsewhere its no is not taken for the name's own answer: a captive portal may say it.
      let entry =
        isItsOwn || !answer.addresses.isEmpty
        ? CacheEntry(
          answer, source: SourceNames.system, policy: settings.configuration.cache.atMost(Self.systemLifetimeLimit),
          asked: query.asked, now: now) : nil
      // A provider's answer is never overwritten by the system's, as long as anybody may use it; and what is not kept
      // leaves what is remembered of the providers: they are not asked again before that is over.
      guard isItsOwn || entry != nil, !cache.hasProviderEntry(question, at: now) else {
        return queryOutcomes.append((number, .answered(answer, .system, life)))
      }
      queryOutcomes.append((number, keep(answer, entry, query, SourceNames.system, asked: query.asked, at: now)))
    case .failure(let failure):
      let error = Self.systemFailed(question.host, failure)
      // Neither what a caller had no time for nor what another network said is worth remembering.
      guard !query.isInvalidated, !isOfOldNetwork(query), !query.deadlines.isShort || !isOutOfTime(query, at: now)
      else {
        return queryOutcomes.append((number, .failed(error)))
      }
      systemFailures.note(error, for: question, by: [.system], at: now)
      // Nobody else is asked about such a name: the failure is a refresh's that failed, as a provider's is of others.
      if settings.configuration.localZones.route(question.host) == .system {
        cache.remember(error, for: question, by: [.system], now: now)
      }
      queryOutcomes.append((number, .failed(error)))
    }
  }

  /// The system's answers live a minute at most, whatever the policy's least: they are a makeshift.
  static let systemLifetimeLimit = Duration.seconds(60)
}

extension Answer {
  /// The answer with the addresses of the question's family alone; one without any is no answer to it.
  func fitting(_ question: AddressQuestion) -> Result<Answer, ProviderFailure> {
    guard case .addresses(let all) = content, !content.fits(question.family) else { return .success(self) }
    let own = all.filter { $0.family == question.family }
    guard !own.isEmpty else {
      return .failure(ProviderFailure(.response, "no address of the family that was asked for"))
    }
    var answer = self
    answer.content = .addresses(own)
    return .success(answer)
  }
}
