// SPDX-License-Identifier: Apache-2.0
/// The events that the machine is told of: lookups that begin, answers, the passing of time, new settings, the end.
extension LookupMachine {
  // MARK: Lookups

  // A caller has routed its request to see whether anybody needs to be asked. It says by which settings, so that the
  // zones are searched again only if others have come between the two.

  /// Begins the lookup of a name that has no fresh answer.
  mutating func begin(
    _ request: LookupRequest, routedBy settings: ResolverSettings? = nil, at now: ResolverInstant
  ) -> Beginning {
    defer { advance(at: now) }
    let request = routed(request, by: settings)
    if let own = ownAnswer(request, at: now) { return .known(own) }
    let cached = cache.find(request, at: now)
    switch cached?.verdict {
    case .serve(let served, _, let refresh):
      guard let resolution = cached?.resolution else { break }
      let open = refresh || lacksUnkept(request, served) ? startRefreshBeside(request, served, at: now) : []
      report(.hit(request.host, resolution.freshness))
      guard !open.isEmpty, request.purpose == .handingOut else { return .known(.success(resolution)) }
      let caller = caller(request, at: now)
      complete(caller, resolution, open, at: now)
      return .waiting(caller.number, known: resolution.freshness)
    case .negative(let negative, let left):
      return .known(.failure(negativeError(negative, request, left: left)))
    case .wait, .miss, nil: break
    }
    let caller = caller(request, at: now)
    if case .wait? = cached?.verdict {
      refresh(caller, at: now)
    } else {
      ask(caller, hasRecord: cached != nil, at: now)
    }
    return .waiting(caller.number, known: nil)
  }

  /// Begins a lookup that refreshes everything about a name that is not fresh, and waits for all of it.
  ///
  /// - Returns: the number that its result will have.
  mutating func renew(
    _ request: LookupRequest, routedBy settings: ResolverSettings? = nil, isPatient: Bool, at now: ResolverInstant
  ) -> Number<Lookup> {
    defer { advance(at: now) }
    let caller = caller(routed(request, by: settings), at: now)
    if let own = ownAnswer(caller.request, at: now) {
      finish(caller, own, wasAsked: false)
    } else {
      renew(caller, isPatient: isPatient, round: 0, at: now)
    }
    return caller.number
  }

  /// Refreshes what is not fresh, without a lookup that waits for it.
  mutating func refreshBehind(
    _ request: LookupRequest, routedBy settings: ResolverSettings? = nil, at now: ResolverInstant
  ) {
    let request = routed(request, by: settings)
    guard ownAnswer(request, at: now) == nil else { return }
    _ = startRefreshBehind(request, at: now)
    advance(at: now)
  }

  /// Ends a lookup whose caller was cancelled; its questions go on, for the cache.
  mutating func cancel(_ number: Number<Lookup>, at now: ResolverInstant) {
    guard let lookup = lookups.remove(number) else { return }
    finish(lookup.caller, .failure(cancelledError(lookup.request.host)))
    advance(at: now)
  }

  /// Asks for everything about several names that is not fresh, in one query.
  mutating func askTogether(_ hosts: [HostName], _ families: AddressFamilies, at now: ResolverInstant) {
    let deadlines = deadlines(nil, from: now)
    let batch: Number<QuestionBatch> = number()
    batches[batch] = QuestionBatch(deadlines)
    for host in hosts where settings.configuration.route(for: host) == .providers {
      _ = startRefresh(host, families, .providers, deadlines, batch: batch, at: now)
    }
    batches[batch]?.close()
    send(batch, at: now)
    advance(at: now)
  }

  // MARK: What has happened

  /// A query has ended.
  mutating func ended(_ query: QueryMachine.QueryNumber, _ reply: QueryMachine.Reply, at now: ResolverInstant) {
    servers.ended(query, reply, at: now)
    advance(at: now)
  }

  /// The instant has come that ``nextInstant()`` named.
  mutating func timePassed(at now: ResolverInstant) {
    servers.timePassed(at: now)
    // Answers that are here count before anything is called late.
    advance(at: now)
    while let due = takeDue(at: now) {
      switch due {
      case .lookup(let number):
        guard var lookup = lookups.remove(number) else { continue }
        lookup.wait.timePassed(at: now)
        proceed(lookup, at: now)
      case .store(let number): storeTimePassed(number, at: now)
      case .keepAlive(let host): refreshAhead(host, at: now)
      }
      advance(at: now)
    }
  }

  // MARK: Changes

  /// Takes over new settings; those that say the same as the present ones change nothing.
  mutating func update(_ settings: ResolverSettings, at now: ResolverInstant) {
    let former = self.settings
    self.settings = settings
    guard !settings.isSame(as: former) else { return }
    let (configuration, before) = (settings.configuration, former.configuration)
    generation += 1
    // The servers that are being asked may be gone: whoever asks from now on asks the new ones.
    questions.beginAnew()
    systemFailures.policy = configuration.cache
    servers.update(configuration, at: now)
    // The servers that failed may be gone, so no question has to wait on their account.
    cache.forgetFailures(now: now)
    systemFailures.forgetAll()
    keptAlive.configuration = configuration
    if configuration.keepAlive != before.keepAlive {
      keepAlive(keptAlive.names(configuration.keepAlive, inPlaceOf: before.keepAlive), at: now)
    }
    // The pause that they are in is due to servers that have changed.
    keptAlive.refreshSoon(keptAlive.failing, at: now)
    if configuration.localZones != before.localZones || configuration.providers.isEmpty != before.providers.isEmpty {
      moveNames(from: before, at: now)
    }
    // Not before: a server would be asked for a name that is to be looked up elsewhere.
    servers.renewTurns(at: now)
    endAwaitingStore(at: now)
    // A family that was not wanted before need not wait until the other one is due.
    if configuration.families != before.families { keptAlive.refreshSoon(keptAlive.names, at: now) }
    advance(at: now)
  }

  /// Begins anew with names that are looked up elsewhere from now on, or nowhere any more.
  ///
  /// What is being asked for them ends: its answer would cover a pin, and what it fails would be asked of servers that
  /// are to learn nothing of a local name. Those who wait get what they would if they came now.
  private mutating func moveNames(from before: ResolverConfiguration, at now: ResolverInstant) {
    let configuration = settings.configuration
    var moved: Set<HostName> = []
    for (number, inFlight) in questions.all where inFlight.key.server != .systemAlone {
      let host = inFlight.question.host
      guard configuration.routeChange(of: host, from: before) != .none else { continue }
      moved.insert(host)
      abandon(number, inFlight, at: now)
    }
    for host in moved.sorted() {
      if configuration.routeChange(of: host, from: before) == .elsewhere { cache.forget(host, now: now) }
      keptAlive.beginAnew(host, at: now)
    }
    for (number, lookup) in lookups.all {
      guard configuration.routeChange(of: lookup.request.host, from: before) != .none else { continue }
      if let lookup = lookups.remove(number) { move(lookup, at: now) }
    }
    // The system's DNS is never asked for records: it is the zones that say whether anybody may be.
    let (former, zones) = (before.localZones, configuration.localZones)
    for (number, name) in servers.recordNames where former.route(for: name) != zones.route(for: name) {
      servers.cancel(number)
    }
  }

  /// Ends a question whose name is looked up elsewhere from now on.
  private mutating func abandon(
    _ number: Number<InFlightQuestion>, _ inFlight: InFlightQuestion, at now: ResolverInstant
  ) {
    questions[number]?.abandon()
    endLease(of: number)
    deliver(number, .failed(cancelledError(inFlight.question.host)), at: now)
    servers.cancel(.init(sameAs: number))
    if let batch = inFlight.batch, batches[batch]?.isSent == true {
      // It may still wait for its turn. The other names are asked for one by one.
      servers.cancel(.init(sameAs: batch))
    } else {
      leaveBatch(number, inFlight, at: now)
    }
  }

  /// Has a lookup go on where its name is looked up now, in the time that is left.
  private mutating func move(_ lookup: consuming Lookup, at now: ResolverInstant) {
    lookup.caller = LookupCaller(
      number: lookup.caller.number, request: routed(lookup.request, by: nil), deadlines: lookup.deadlines,
      began: lookup.caller.began)
    if case .askingSystemAlone = lookup.phase, lookup.request.route == .system { return lookups.add(lookup) }
    if let own = ownAnswer(lookup.request, at: now) {
      finish(lookup.caller, own)
    } else if case .askingSystemAlone = lookup.phase {
      lookups.add(lookup)
    } else if case .renewing(let isPatient, _) = lookup.phase {
      renew(lookup.caller, isPatient: isPatient, round: 0, at: now)
    } else {
      switch cache.find(lookup.request, at: now)?.verdict {
      case .serve: if !serveCached(lookup.caller, at: now) { ask(lookup.caller, at: now) }
      case .wait: refresh(lookup.caller, at: now)
      case .negative, .miss, nil: ask(lookup.caller, at: now)
      }
    }
  }

  /// The computer is on another network: forgets failures and the servers' health.
  ///
  /// Every answer is due, so that names that are kept alive are asked for soon.
  mutating func networkDidChange(at now: ResolverInstant) {
    cache.networkDidChange(now: now)
    systemFailures.forgetAll()
    networkChangedAt = now
    servers.networkDidChange(at: now)
    askAgainAwaitingStore(at: now)
    keptAlive.refreshSoon(keptAlive.names, at: now)
    advance(at: now)
  }

  /// Forgets what is known about a name, and detaches the questions under way: who asks from now on does not join them,
  /// and their answers are not kept.
  mutating func invalidate(_ host: HostName, at now: ResolverInstant) {
    cache.forget(host, now: now)
    for family in IPAddress.Family.allCases {
      let question = AddressQuestion(host, family)
      systemFailures.forget(question)
      if hasStore { actions.append(.forgetStored(question)) }
      for server in [InFlightQuestion.Server.providers, .system] {
        questions.invalidate(.init(question: question, server: server))
      }
    }
    keptAlive.beginAnew(host, at: now)
  }

  /// Ends all lookups and queries; nothing is asked afterwards.
  mutating func shutdown(at now: ResolverInstant) {
    guard !isShutDown else { return }
    isShutDown = true
    keepAlive([], at: now)
    servers.shutdown()
    advance(at: now)
    for (number, inFlight) in questions.all {
      questionOutcomes.append((number, .failed(shutDownError(inFlight.question.host))))
      endLease(of: number)
    }
    advance(at: now)
    // Questions of a batch that waited for the store are not sent any more.
    batches = [:]
  }

  /// Asks to be told when all questions that are under way now have ended.
  ///
  /// - Parameters:
  ///   - host: only questions about this name count; nil for all.
  ///   - servers: only questions to these servers count.
  /// - Returns: the number that ``Ending/drained(_:)`` will have.
  mutating func drain(_ host: HostName? = nil, _ servers: Set<InFlightQuestion.Server>) -> Number<Drain> {
    let number: Number<Drain> = number()
    let open = questions.all.filter { _, inFlight in
      servers.contains(inFlight.key.server) && (host == nil || inFlight.question.host == host)
    }
    if open.isEmpty {
      endings.append(.drained(number))
    } else {
      drains[number] = Set(open.map(\.number))
    }
    return number
  }
}
