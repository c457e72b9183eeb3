internal import Logging

/// Lookups that have to ask: what is waited for, and what serves when nobody answers.
extension Resolver {
  func lookUp(_ host: HostName, _ options: LookupOptions) async throws(DirectDNSError) -> Resolution {
    let configuration = settings.configuration
    let wanted = options.families ?? configuration.families
    let route = configuration.localZones.route(host)
    if let local = try local(host, route, wanted) { return local }
    let deadlines = lookupDeadlines(options.timeout, from: clock.now)
    let settled = settle(host, wanted, options.expired, at: clock.now)
    let known: Known?
    do throws(DirectDNSError) {
      known = try self.known(host, wanted, route, settled)
    } catch {
      metrics.hit(error)
      throw error
    }
    if let known {
      metrics.hit(known.resolution.freshness)
      return try await completed(known, host, wanted, options, deadlines)
    }
    return try await watched(host) { () async throws(DirectDNSError) in
      try await settled.isRefreshable
        ? refreshed(host, wanted, route, options, deadlines) : asked(host, wanted, route, options, deadlines)
    }
  }

  /// A lookup that waits, with its span, its time and its outcome told to those who collect them.
  nonisolated(nonsending) private func watched(
    _ host: HostName, _ lookUp: nonisolated(nonsending) () async throws(DirectDNSError) -> Resolution
  ) async throws(DirectDNSError) -> Resolution {
    guard metrics.isCollected || tracer != nil else { return try await lookUp() }
    let span = tracer.map { LookupSpan($0, host) }
    let began = clock.now
    let result: Result<Resolution, DirectDNSError>
    do throws(DirectDNSError) { result = .success(try await lookUp()) } catch { result = .failure(error) }
    metrics.waited(result, clock.now - began)
    span?.end(result)
    return try result.get()
  }

  // MARK: Refreshing

  /// Starts the refresh of what is not fresh, and waits for nothing.
  @discardableResult
  func refreshBehind(
    _ host: HostName, _ wanted: AddressFamilies, _ route: NameRoute, at now: ResolverInstant
  ) -> [(IPAddress.Family, Flight<FlightOutcome>)] {
    let started = startRefresh(host, wanted, route, lookupDeadlines(from: now), at: now)
    guard !started.isEmpty else { return started }
    metrics.refreshed(.behind)
    settings.configuration.observer?(.refresh(host))
    return started
  }

  func startRefresh(
    _ host: HostName, _ wanted: AddressFamilies, _ route: NameRoute, _ deadlines: LookupDeadlines,
    _ batch: QuestionBatch? = nil, at now: ResolverInstant
  ) -> [(IPAddress.Family, Flight<FlightOutcome>)] {
    guard !hasEnded else { return [] }
    let known = cache.value(host)
    return wanted.members.compactMap { family in
      let question = AddressQuestion(host, family)
      if let entry = known?[family].entry, cache.phase(of: entry, at: now) == .fresh { return nil }
      guard cache.mayRefresh(question, at: now) else { return nil }
      return (family, flight(question, route, deadlines, batch))
    }
  }

  /// A stale answer is there: the refresh may take as long as patience lasts, then the stale answer serves.
  private func refreshed(
    _ host: HostName, _ wanted: AddressFamilies, _ route: NameRoute, _ options: LookupOptions,
    _ deadlines: LookupDeadlines
  ) async throws(DirectDNSError) -> Resolution {
    let now = clock.now
    let flights = startRefresh(host, wanted, route, deadlines, at: now)
    let wait = familyWait(AddressFamilies(flights.map(\.0)), options)
    let result = await wait.run(flights, until: min(now + settings.configuration.cache.patience, deadlines.whole))
    guard !result.isCancelled else { throw cancelled(host) }
    let isRestored = result.outcomes.values.contains(where: \.isRestored)
    if !isRestored, let answer = answer(result.outcomes) { return answer }
    // The table knows best what is left: a negative answer has replaced the stale one by now.
    let later = clock.now
    let settled = settle(host, wanted, options.expired, at: later)
    if let resolution = settled?.resolution {
      note(resolution.freshness, host)
      return resolution
    }
    switch settled?.verdict {
    case .negative(let negative, let left): throw negativeError(host, wanted, negative, left: left)
    case .serve, .wait, .miss, nil: break
    }
    if let answer = answer(result.outcomes) { return answer }
    return try await asked(host, wanted, route, options, deadlines, known: result.outcomes)
  }

  /// Asks for a kept-alive name's families, fresh or not.
  func refreshAhead(_ host: HostName) -> [Flight<FlightOutcome>] {
    guard !hasEnded else { return [] }
    let settings = self.settings
    let configuration = settings.configuration
    let route = configuration.localZones.route(host)
    guard route == .providers || route == .system && settings.system != nil else { return [] }
    let deadlines = lookupDeadlines(from: clock.now)
    metrics.refreshed(.ahead)
    return configuration.families.members.map { flight(AddressQuestion(host, $0), route, deadlines) }
  }

  // MARK: Asking

  /// Nothing is there: asks, and falls back on expired answers and the system's DNS.
  func asked(
    _ host: HostName, _ wanted: AddressFamilies, _ route: NameRoute, _ options: LookupOptions,
    _ deadlines: LookupDeadlines, known: [IPAddress.Family: FlightOutcome] = [:], isSecondLook: Bool = false
  ) async throws(DirectDNSError) -> Resolution {
    guard !hasEnded else { throw DirectDNSError(.shutDown, "The resolver was shut down before \(host) was looked up.") }
    var outcomes = known
    let now = clock.now
    var flights: [(IPAddress.Family, Flight<FlightOutcome>)] = []
    // A flight that others began may have more time than this caller has; one of its own ends by itself.
    var isHurried = options.timeout.map { $0 < settings.configuration.timeout } ?? false
    for family in wanted.members where outcomes[family] == nil {
      let question = AddressQuestion(host, family)
      switch cache.remembered(question, at: now) {
      case .negative(let negative, let source, let life):
        outcomes[family] = .answered(Answer(.negative(negative), ttl: nil), sources[Int(source)], life)
      case .failure(let error): outcomes[family] = .failed(error)
      case nil:
        isHurried = isHurried || self.flights.isFlying(question) || systemFlights.isFlying(question)
        flights.append((family, flight(question, route, deadlines)))
      }
    }
    let wait = familyWait(AddressFamilies(flights.map(\.0)), options)
    let result = await wait.run(flights, until: isHurried ? deadlines.whole : nil)
    guard !result.isCancelled else { throw cancelled(host) }
    outcomes.merge(result.outcomes) { $1 }
    let isRestored = !isSecondLook && outcomes.values.contains(where: \.isRestored)
    if isRestored {
      // The cache has what came from the store, beside what others said.
      let settled = settle(host, wanted, options.expired, at: clock.now)
      if var known = try self.known(host, wanted, route, settled) {
        // What is still under way was waited for.
        known.open.removeAll { family, _ in outcomes[family] == nil }
        return try await completed(known, host, wanted, options, deadlines)
      }
    }
    if let answer = answer(outcomes) { return answer }
    if isRestored {
      let settled = settle(host, wanted, options.expired, at: clock.now)
      if settled.isRefreshable { return try await refreshed(host, wanted, route, options, deadlines) }
      // The caller has no use for it: this time the providers are asked.
      return try await asked(host, wanted, route, options, deadlines, isSecondLook: true)
    }
    return try await fallback(host, wanted, route, options, deadlines, outcomes)
  }

  /// No provider has addresses.
  ///
  /// Answers that expired come before the system's DNS.
  private func fallback(
    _ host: HostName, _ wanted: AddressFamilies, _ route: NameRoute, _ options: LookupOptions,
    _ deadlines: LookupDeadlines, _ outcomes: [IPAddress.Family: FlightOutcome]
  ) async throws(DirectDNSError) -> Resolution {
    let failed = wanted.members.filter { family in
      if case .answered = outcomes[family] { false } else { true }
    }
    guard !failed.isEmpty else { throw negativeError(host, wanted, outcomes) }
    let now = clock.now
    if let resolution = settle(host, wanted, options.expired, at: now)?.resolution {
      note(resolution.freshness, host)
      return resolution
    }
    let errors = failed.compactMap { family in
      if case .failed(let error) = outcomes[family] { error } else { nil }
    }
    if errors.contains(where: { $0.code == .shutDown }) { throw errors[0] }
    guard route == .providers, system != nil, now < deadlines.whole else {
      throw failure(host, errors, options.expired)
    }

    systemLogger.notice("no provider answered: asking the system's DNS", metadata: ["host": "\(host)"])
    let flights = failed.map { ($0, systemFlight(AddressQuestion(host, $0), deadlines)) }
    let wait = familyWait(AddressFamilies(failed), options)
    let result = await wait.run(flights, until: deadlines.whole)
    guard !result.isCancelled else { throw cancelled(host) }
    if let answer = answer(result.outcomes) { return answer }
    let systemErrors = failed.compactMap { family in
      if case .failed(let error) = result.outcomes[family] { error } else { nil }
    }
    guard systemErrors.isEmpty, result.outcomes.count == failed.count else {
      throw failure(host, errors + systemErrors, options.expired)
    }
    guard failed.count == wanted.members.count else {
      throw negativeError(host, wanted, outcomes.merging(result.outcomes) { $1 })
    }
    // Where no provider answers, a captive portal's DNS may well be the one that says "does not exist": its word is
    // told, and is not taken for the name's own answer.
    throw failure(host, errors, options.expired, systemSays: negativeError(host, wanted, result.outcomes).code)
  }

  // MARK: Flights

  /// The one flight that asks a question, whoever waits for it.
  private func flight(
    _ question: AddressQuestion, _ route: NameRoute, _ deadlines: LookupDeadlines, _ batch: QuestionBatch? = nil
  ) -> Flight<FlightOutcome> {
    if route == .system { return systemFlight(question, deadlines) }
    return flights.flight(question) { [self] in
      batch?.expect()
      defer { forget(question.host, unlessRoutedTo: [.providers]) }
      var lease: StoreLink.Lease?
      if let store {
        switch await storeTurn(store, question, deadlines) {
        case .landed(let outcome):
          batch?.leave()
          return outcome
        case .ask(let taken): lease = taken
        }
      }
      do throws(Upstreams.Failed) {
        let answered: Upstreams.Answered
        switch await batch?.outcome(of: question) {
        case .answered(let together): answered = together
        case .alone(let failed): answered = try await upstreams.answer(question, deadlines, after: failed)
        case nil: answered = try await upstreams.answer(question, deadlines)
        }
        serverAnswered(.endpoint(answered.endpoint))
        let source = sources.code(ofProvider: answered.provider) ?? SourceNames.system
        tellStore(answered, question, source: source, lease: lease)
        return kept(answered.answer, question, source, asked: answered.asked)
      } catch {
        if let lease { store?.endSoon(lease) }
        let now = clock.now
        let known = error.isCancelled ? nil : providersFailed(question, error)
        guard let known else {
          return .failed(DirectDNSError(.shutDown, "The resolver was shut down while \(question.host) was looked up."))
        }
        cache.remember(known, for: question, by: error.endpoints.map { .endpoint($0) }, now: now)
        return .failed(known)
      }
    }
  }

  private func systemFlight(_ question: AddressQuestion, _ deadlines: LookupDeadlines) -> Flight<FlightOutcome> {
    systemFlights.flight(question) { [self] in
      let settings = self.settings
      defer { forget(question.host, unlessRoutedTo: [.providers, .system]) }
      let asked = clock.now
      if let error = systemFailures.withLock({ $0.error(for: question, at: asked) }) { return .failed(error) }
      guard let system = settings.system else { return .failed(DirectDNSError(.refused, "The system's DNS is off.")) }
      var outcome: Result<Answer, ProviderFailure>
      do throws(ProviderFailure) {
        var answer = try await system.answer(
          to: question.host, family: question.family, timeout: max(deadlines.whole - asked, .milliseconds(1)))
        answer.ttl = answer.ttl.map { min($0, Self.systemLifetimeLimit) }
        outcome = .success(answer)
      } catch {
        outcome = .failure(error)
      }
      systemTally.withLock { $0.note(outcome) }
      observe(question, outcome, duration: clock.now - asked)
      switch outcome {
      case .success(let answer):
        systemFailures.withLock { $0.forget(question) }
        serverAnswered(.system)
        // A provider's answer is never overwritten by the system's.
        guard cache.hasProviderEntry(question) else { return kept(answer, question, SourceNames.system, asked: asked) }
        return .answered(answer, .system, CacheLife(askedAt: asked.nanoseconds, expireAt: asked.nanoseconds))
      case .failure(let failure):
        let error = DirectDNSError(
          .upstreamFailed, "\(question.host) could not be looked up: the system's DNS failed.",
          attempts: [.init(provider: "system", reason: failure.reason)])
        systemFailures.withLock { $0.note(error, for: question, by: [.system], at: clock.now) }
        // Nobody else is asked about such a name: the failure is a refresh's that failed, as a provider's is of others.
        if settings.configuration.localZones.route(question.host) == .system {
          cache.remember(error, for: question, by: [.system], now: clock.now)
        }
        return .failed(error)
      }
    }
  }

  /// A server answers: what it failed before may soon be asked for again.
  func serverAnswered(_ server: FailureMemory.Server) {
    let now = clock.now
    var released = cache.answered(by: server, at: now)
    if server == .system { released += systemFailures.withLock { $0.answered(by: .system, at: now) } }
    guard released > 0 else { return }
    logger.debug("a server answers again: what it failed is asked for anew", metadata: ["questions": "\(released)"])
    wakeKeptAlive()
  }

  /// The system's answers live a minute at most, in seconds: they are a makeshift.
  static let systemLifetimeLimit: UInt32 = 60

  func observe(_ question: AddressQuestion, _ outcome: Result<Answer, ProviderFailure>, duration: Duration) {
    upstreams.report.askedSystem(outcome, duration)
    guard let observer = settings.configuration.observer else { return }
    let isAnswer = if case .success = outcome { true } else { false }
    observer(
      .attempt(
        ResolverEvent.Attempt(
          provider: "system", origin: "system", question: question, address: nil, status: nil,
          outcome: UpstreamReport.text(outcome), isAnswer: isAnswer, isHedge: false, duration: duration)))
  }

  /// Keeps an answer, and says what its waiters get.
  private func kept(
    _ answer: Answer, _ question: AddressQuestion, _ source: UInt16, asked: ResolverInstant
  ) -> FlightOutcome {
    let now = clock.now
    noteKept(evicted: cache.store(answer, to: question, source: source, asked: asked, now: now))
    let entry = CacheEntry(answer, source: source, policy: settings.configuration.cache, asked: asked, now: now)
    let life = entry?.life ?? CacheLife(askedAt: asked.nanoseconds, expireAt: now.nanoseconds)
    return .answered(answer, sources[Int(source)], life)
  }

  /// An answer came into the cache, and so many names had to go for it.
  func noteKept(evicted count: Int) {
    metrics.holds(cache.count)
    guard count > 0 else { return }
    metrics.evicted(count)
    cacheLogger.debug("the cache is full: names had to go", metadata: ["evicted": "\(count)"])
    settings.configuration.observer?(.evicted(count))
  }

  // MARK: What callers get

  /// The addresses that came, the preferred family's first; nothing if none came.
  func answer(_ outcomes: [IPAddress.Family: FlightOutcome]) -> Resolution? {
    let now = clock.now
    var addresses = AddressList()
    var firstCount = 0
    var life: CacheLife?
    var source: Resolution.Source?
    var canonicalName: HostName?
    var isStored = false
    for family in prefersIPv6 ? [IPAddress.Family.ipv6, .ipv4] : [.ipv4, .ipv6] {
      guard case .answered(let answer, let from, let answerLife) = outcomes[family], !answer.addresses.isEmpty
      else { continue }
      if addresses.isEmpty { firstCount = answer.addresses.count }
      for address in answer.addresses { addresses.append(address) }
      life = CacheLife(
        askedAt: min(life?.askedAt ?? .max, answerLife.askedAt),
        expireAt: min(life?.expireAt ?? .max, answerLife.expireAt))
      source = source ?? from
      isStored = isStored || from == .store
      canonicalName = canonicalName ?? answer.canonicalName
    }
    guard let life, let source else { return nil }
    // The first use of an answer begins where its server says; what comes from a store was used before.
    ranking.order(&addresses, firstCount: firstCount, takesTurns: isStored, at: now)
    return Resolution(
      addresses: addresses, canonicalName: canonicalName, freshness: .fresh, source: source,
      ageNanoseconds: max(0, now.nanoseconds - life.askedAt),
      timeToLiveNanoseconds: max(0, life.expireAt - now.nanoseconds))
  }
}

extension AnswerCache.Settled? {
  /// Whether there is a stale answer, which a refresh may better.
  fileprivate var isRefreshable: Bool { if case .wait? = self?.verdict { true } else { false } }
}
