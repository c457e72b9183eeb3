// SPDX-License-Identifier: Apache-2.0
/// The system's DNS: when it is asked, instead of the providers or after them, and how far its answers are believed.
extension LookupMachine {
  /// Looks up a name by the system's DNS alone.
  ///
  /// - Returns: the number that the result will have.
  mutating func askSystemAlone(
    _ request: LookupRequest, routedBy settings: ResolverSettings? = nil, at now: ResolverInstant
  ) -> Number<Lookup> {
    defer { advance(at: now) }
    let caller = caller(routed(request, by: settings), at: now)
    if isShutDown {
      finish(caller, .failure(shutDownError(request.host)))
    } else if caller.request.route != .system, let own = ownAnswer(caller.request, at: now) {
      finish(caller, own, wasAsked: false)
    } else {
      askSystem(caller, .askingSystemAlone, request.wanted, as: .systemAlone, at: now)
    }
    return caller.number
  }

  /// The providers gave no addresses: serves an expired answer, or else asks the system's DNS.
  mutating func fallBack(_ lookup: Lookup, at now: ResolverInstant) {
    let (caller, request, outcomes) = (lookup.caller, lookup.request, lookup.wait.outcomes)
    let failed = request.wanted.filter { if case .answered = outcomes[$0] { false } else { true } }
    guard !failed.isEmpty else { return finish(caller, .failure(negativeError(request, outcomes))) }
    if serveCached(caller, at: now) { return }
    let errors = failed.members.compactMap { outcomes[$0]?.error }
    if let ended = errors.first(where: { $0.code == .shutDown }) { return finish(caller, .failure(ended)) }
    guard request.route == .providers, settings.system != nil, now < caller.deadlines.whole else {
      return finish(caller, .failure(failure(lookup, errors)))
    }
    report(.askingSystem(request.host))
    askSystem(caller, .fallingBack(outcomes, failed: failed), failed, as: .system, at: now)
  }

  private mutating func askSystem(
    _ caller: LookupCaller, _ phase: Lookup.Phase, _ families: AddressFamilies, as server: InFlightQuestion.Server,
    at now: ResolverInstant
  ) {
    for family in families.members {
      let key = InFlightQuestion.Key(question: AddressQuestion(caller.request.host, family), server: server)
      join(key, caller.deadlines, .lookup(caller.number), at: now)
    }
    wait(caller, phase, families, until: caller.deadlines.whole, at: now)
  }

  /// The system's DNS has answered for the families that the providers failed, or the time is over.
  mutating func finishFallback(
    _ lookup: Lookup, _ known: FamilyOutcomes, failed: AddressFamilies, at now: ResolverInstant
  ) {
    let (caller, request, outcomes) = (lookup.caller, lookup.request, lookup.wait.outcomes)
    if let found = withStale(outcomes, caller, at: now) { return finish(caller, .success(found)) }
    // The providers have been taken away meanwhile, so that the store was read before the system's DNS.
    if outcomes.hasRestored { return ask(caller, isSecondLook: true, at: now) }
    let errors = failed.members.compactMap { known[$0]?.error }
    let systemErrors = failed.members.compactMap { outcomes[$0]?.error }
    if let ended = systemErrors.first(where: { $0.code == .shutDown }) { return finish(caller, .failure(ended)) }
    guard systemErrors.isEmpty, outcomes.all.count == failed.members.count else {
      return serveCached(caller, or: failure(lookup, errors + systemErrors), at: now)
    }
    // Where there are no providers, nobody else could have answered.
    guard failed == request.wanted, !settings.configuration.providers.isEmpty else {
      var all = known
      for family in failed.members { all[family] = outcomes[family] }
      let isSystems = settings.configuration.providers.isEmpty
      return finish(caller, .failure(negativeError(request, all, isSystems: isSystems)))
    }
    // While no provider answers, the system's "does not exist" may come from a captive portal: the error mentions it,
    // but it is not taken for the truth about the name.
    serveCached(caller, or: failure(lookup, errors, systemSays: negativeError(request, outcomes).code), at: now)
  }

  /// Ends a lookup with an error, unless an answer has come into the cache meanwhile, for another caller.
  private mutating func serveCached(
    _ caller: LookupCaller, or error: DirectDNSError, at now: ResolverInstant
  ) {
    if !serveCached(caller, at: now) { finish(caller, .failure(error)) }
  }

  mutating func finishSystemAlone(_ lookup: Lookup, at now: ResolverInstant) {
    let (caller, request, outcomes) = (lookup.caller, lookup.request, lookup.wait.outcomes)
    if let found = resolution(outcomes, request, at: now) { return finish(caller, .success(found)) }
    let errors = outcomes.all.compactMap(\.error)
    if let ended = errors.first(where: { $0.code == .shutDown }) { return finish(caller, .failure(ended)) }
    guard errors.isEmpty, outcomes.all.count == request.wanted.members.count else {
      return finish(caller, .failure(systemAloneError(request.host, errors)))
    }
    finish(caller, .failure(negativeError(request, outcomes, isSystems: true)))
  }

  // MARK: Its questions

  mutating func askSystem(
    _ number: Number<InFlightQuestion>, _ inFlight: InFlightQuestion, _ system: any SystemSource,
    at now: ResolverInstant
  ) {
    let timeout = max(inFlight.deadlines.whole - now, .milliseconds(1))
    actions.append(.askSystem(number, inFlight.question, system, timeout: timeout))
  }

  /// The system's DNS has answered, or has failed to.
  mutating func systemAnswered(
    _ number: Number<InFlightQuestion>, _ result: Result<Answer, ProviderFailure>, at now: ResolverInstant
  ) {
    defer { advance(at: now) }
    guard let inFlight = questions[number] else { return }
    let question = inFlight.question
    var result = result.flatMap { $0.fitting(question) }
    // For what callers are told; the life of the cache's entry is limited further down, against the policy's minimum.
    if inFlight.key.server == .system, case .success(var answer) = result {
      answer.ttl = answer.ttl.map { min($0, UInt32(Self.systemLifetimeLimit.components.seconds)) }
      result = .success(answer)
    }
    report(.systemAnswered(question, result, now - inFlight.asked))
    let isAlone = inFlight.key.server == .systemAlone
    if !isAlone { systemTally.note(result) }
    let outcome: QuestionOutcome =
      switch result {
      case .success(let answer): isAlone ? Self.unkept(answer, inFlight) : succeeded(answer, inFlight, at: now)
      case .failure(let failure):
        isAlone ? .failed(Self.systemFailed(question.host, failure)) : failed(failure, inFlight, at: now)
      }
    questionOutcomes.append((number, outcome))
  }

  /// The system's DNS has answered a question that the providers had failed, or that it alone is asked.
  private mutating func succeeded(
    _ answer: Answer, _ inFlight: InFlightQuestion, at now: ResolverInstant
  ) -> QuestionOutcome {
    let question = inFlight.question
    systemFailures.forget(question)
    serverAnswered(.system, at: now)
    let isItsOwn = settings.configuration.route(for: question.host) == .system
    // For any other name a negative answer is not kept: it may come from a captive portal. None is once the system's
    // DNS has been switched off.
    let entry =
      settings.system != nil && (isItsOwn || !answer.addresses.isEmpty)
      ? CacheEntry(
        answer, source: SourceNames.system, policy: settings.configuration.cache.atMost(Self.systemLifetimeLimit),
        asked: inFlight.asked, now: now) : nil
    // Beside providers the system's answer never replaces one of theirs that may still be used. And an answer that is
    // not kept must not clear the remembered failures of the providers, or they would be asked again at once.
    guard isItsOwn || entry != nil && !cache.hasProviderEntry(question, at: now) else {
      if case .negative(let negative) = answer.content, mayBeRemembered(inFlight) {
        // As short as a first failure: without that it would be asked again by every caller (RFC 9520).
        let family = AddressFamilies(question.family)
        systemFailures.note(DirectDNSError(negative, of: question.host, family), for: question, at: now)
      }
      return Self.unkept(answer, inFlight)
    }
    return keep(
      answer, entry, inFlight, SourceNames.system, isKept: mayKeep(inFlight), asked: inFlight.asked, at: now)
  }

  /// The system's DNS has failed a question likewise.
  private mutating func failed(
    _ failure: ProviderFailure, _ inFlight: InFlightQuestion, at now: ResolverInstant
  ) -> QuestionOutcome {
    let question = inFlight.question
    let error = Self.systemFailed(question.host, failure)
    // A failure is not remembered if the caller allowed too little time.
    guard mayBeRemembered(inFlight), !inFlight.deadlines.isShort || !isOutOfTime(inFlight, at: now) else {
      return .failed(error)
    }
    systemFailures.note(error, for: question, by: [.system], at: now)
    // Where the system alone is asked, this failure counts like one of the providers does elsewhere.
    if settings.configuration.route(for: question.host) == .system {
      cache.remember(error, for: question, by: [.system], now: now)
    }
    return .failed(error)
  }

  /// Whether what it said is of use for those who come: not if the network or the configuration has changed.
  private func mayBeRemembered(_ inFlight: InFlightQuestion) -> Bool {
    !inFlight.isInvalidated && !isOfOldNetwork(inFlight) && inFlight.generation == generation
  }

  /// The outcome while it is remembered why the system's DNS has no answer: a failure, or a denial.
  func systemOutcome(_ remembered: DirectDNSError, _ inFlight: InFlightQuestion) -> QuestionOutcome {
    switch remembered.code {
    case .nameNotFound: Self.unkept(Answer(.negative(.nameNotFound), ttl: nil), inFlight)
    case .noAddress: Self.unkept(Answer(.negative(.noAddress), ttl: nil), inFlight)
    default: .failed(remembered)
    }
  }

  /// The outcome with an answer that the cache does not keep.
  private static func unkept(_ answer: Answer, _ inFlight: InFlightQuestion) -> QuestionOutcome {
    let asked = inFlight.asked.nanoseconds
    return .answered(answer, .system, CacheLife(askedAt: asked, expireAt: asked))
  }

  /// The system's answers live for a minute at most, whatever the policy's minimum: they are only a fallback.
  private static let systemLifetimeLimit = Duration.seconds(60)
}

extension Answer {
  /// The answer with only the addresses of the question's family; a failure if it has none of them.
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
