// SPDX-License-Identifier: Apache-2.0
/// What follows the events that the machine is told of: lookups that begin, the passing of time, new settings, the end.
extension LookupMachine.State {
  // MARK: Lookups

  mutating func begin(_ request: LookupRequest, at now: ResolverInstant) -> LookupMachine.Beginning {
    defer { advance(at: now) }
    let cached = find(request, at: now)
    switch cached?.verdict {
    case .serve(let served, _, let refresh):
      guard let resolution = cached?.resolution else { break }
      let open = refresh ? openFamilies(request, served, at: now) : []
      report(.hit(request.host, resolution.freshness))
      guard !open.isEmpty, request.purpose == .handingOut else { return .known(.success(resolution)) }
      let caller = caller(request, at: now)
      complete(caller, resolution, open, at: now)
      return .waiting(caller.number, known: resolution.freshness)
    case .negative(let negative, let left):
      return .known(.failure(DirectDNSError(negative, of: request.host, request.wanted, left: left)))
    case .wait:
      let caller = caller(request, at: now)
      refresh(caller, at: now)
      return .waiting(caller.number, known: nil)
    case .miss, nil: break
    }
    let caller = caller(request, at: now)
    ask(caller, hasRecord: cached != nil, at: now)
    return .waiting(caller.number, known: nil)
  }

  mutating func renew(_ request: LookupRequest, isPatient: Bool, at now: ResolverInstant) -> Int {
    defer { advance(at: now) }
    let caller = caller(request, at: now)
    renew(caller, isPatient: isPatient, round: 0, at: now)
    return caller.number
  }

  mutating func cancel(_ number: Int, at now: ResolverInstant) {
    guard let lookup = lookups.remove(number) else { return }
    finish(lookup.caller, .failure(cancelledError(lookup.request.host)))
    advance(at: now)
  }

  mutating func askTogether(_ hosts: [HostName], _ families: AddressFamilies, at now: ResolverInstant) {
    let deadlines = deadlines(nil, from: now)
    let batch = number()
    batches[batch] = QuestionBatch(deadlines)
    for host in hosts where settings.configuration.localZones.route(host) == .providers {
      _ = startRefresh(host, families, .providers, deadlines, batch: batch, at: now)
    }
    batches[batch]?.close()
    send(batch, at: now)
    advance(at: now)
  }

  // MARK: Time

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

  mutating func update(_ settings: ResolverSettings, at now: ResolverInstant) {
    let configuration = settings.configuration
    let before = self.settings.configuration
    self.settings = settings
    generation += 1
    // The servers that are being asked may be gone: whoever asks from now on asks the new ones.
    questions.beginAnew()
    systemFailures.policy = configuration.cache
    servers.update(configuration, at: now)
    // The servers that failed may be gone, so no question has to wait on their account.
    cache.forgetFailures()
    systemFailures.forgetAll()
    keptAlive.update(configuration)
    if configuration.keepAlive != before.keepAlive {
      keepAlive(keptAlive.names(configuration.keepAlive, inPlaceOf: before.keepAlive), at: now)
    }
    keptAlive.refreshFailingSoon(at: now)
    // A family that was not wanted before need not wait until the other one is due.
    if configuration.families != before.families { keptAlive.refreshSoon(keptAlive.names, at: now) }
    advance(at: now)
  }

  mutating func networkDidChange(at now: ResolverInstant) {
    cache.networkDidChange(now: now)
    systemFailures.forgetAll()
    networkChangedAt = now
    servers.networkDidChange(at: now)
    keptAlive.refreshFailingSoon(at: now)
    advance(at: now)
  }

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

  mutating func drain(_ host: HostName?, _ servers: Set<InFlightQuestion.Server>) -> Int {
    let number = number()
    let open = questions.all.filter { _, inFlight in
      servers.contains(inFlight.key.server) && (host == nil || inFlight.question.host == host)
    }
    if open.isEmpty { endings.append(.drained(number)) } else { drains[number] = Set(open.map(\.number)) }
    return number
  }
}
