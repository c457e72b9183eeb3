// SPDX-License-Identifier: Apache-2.0
/// What happens to the lookups: replies, times, other settings, the end.
extension LookupMachine {
  /// A query has ended.
  mutating func ended(_ query: Int, _ reply: QueryMachine.Reply, at now: ResolverInstant) {
    servers.ended(query, reply, at: now)
    advance(at: now)
  }

  /// The system's DNS has answered, or has not.
  mutating func systemAnswered(_ number: Int, _ result: Result<Answer, ProviderFailure>, at now: ResolverInstant) {
    if let query = queries[number] { noteSystem(number, query, result, at: now) }
    advance(at: now)
  }

  /// The store was looked into.
  mutating func storeRead(_ number: Int, _ reading: StoreReading<CacheEntry>, at now: ResolverInstant) {
    if let query = queries[number] { noteStore(number, query, reading, at: now) }
    advance(at: now)
  }

  /// The store said whose turn it is.
  mutating func leaseTaken(_ number: Int, _ state: StoreLink.LeaseState, at now: ResolverInstant) {
    if let query = queries[number], case .takingLease(let wait) = query.stage {
      noteLease(number, state, wait, at: now)
    } else if case .taken(let lease) = state {
      actions.append(.endLease(lease))
    }
    advance(at: now)
  }

  /// The time has come that it wanted to be told of.
  mutating func timePassed(at now: ResolverInstant) {
    servers.timePassed(at: now)
    // What has come by now counts before what is late.
    advance(at: now)
    while let timer = takeDue(at: now) {
      switch timer {
      case .lookup(let number):
        guard var lookup = lookups.removeValue(forKey: number) else { continue }
        lookup.wait.timePassed(at: now)
        goOn(number, lookup, at: now)
      case .store(let number): storeTimePassed(number, at: now)
      case .keepAlive(let host): refreshAhead(host, at: now)
      }
      advance(at: now)
    }
  }

  /// Goes on by other settings.
  mutating func update(_ settings: ResolverSettings, at now: ResolverInstant) {
    let configuration = settings.configuration
    let before = self.settings.configuration
    self.settings = settings
    generation += 1
    systemFailures.policy = configuration.cache
    servers.update(configuration, at: now)
    // Whoever failed may be gone, and nobody waits for a pause to end that was made for another's sake.
    cache.forgetFailures()
    systemFailures.forgetAll()
    let (added, removed) = (
      configuration.keepAlive.subtracting(before.keepAlive), before.keepAlive.subtracting(configuration.keepAlive)
    )
    if !added.isEmpty || !removed.isEmpty {
      keepAlive(keptAlive.names.subtracting(removed).union(added), at: now)
    }
    refreshFailingSoon(at: now)
    advance(at: now)
  }

  /// The machine is on another network: failures and health are forgotten.
  mutating func networkDidChange(at now: ResolverInstant) {
    cache.networkDidChange(now: now)
    systemFailures.forgetAll()
    networkChangedAt = now
    servers.networkDidChange(at: now)
    refreshFailingSoon(at: now)
    advance(at: now)
  }

  /// Forgets what is known of a name, and what is about to be: nobody who asks from now on waits for a query that was
  /// sent before.
  mutating func invalidate(_ host: HostName, at now: ResolverInstant) {
    cache.forget(host, now: now)
    for family in IPAddress.Family.allCases {
      let question = AddressQuestion(host, family)
      systemFailures.forget(question)
      if hasStore { actions.append(.forgetStored(question)) }
      for server in [InFlightQuery.Server.providers, .system] {
        guard let number = numbers.removeValue(forKey: .init(question: question, server: server)) else { continue }
        queries[number]?.isInvalidated = true
      }
    }
    refreshSoon([host], at: now)
  }

  /// Ends what is under way; nothing is asked afterwards.
  mutating func shutdown(at now: ResolverInstant) {
    guard !isShutDown else { return }
    isShutDown = true
    keepAlive([], at: now)
    servers.shutdown()
    advance(at: now)
    for (number, query) in queries.all {
      queryOutcomes.append((number, .failed(shutDownError(query.question.host))))
      if let lease = query.lease { actions.append(.endLease(lease)) }
    }
    advance(at: now)
    // Those that waited for a store are asked for no more.
    batches = [:]
  }

  /// Says when all that is asked by now is over.
  ///
  /// - Parameters:
  ///   - host: the name that counts; nil for all.
  ///   - servers: whose queries count.
  /// - Returns: the number by which that is said.
  mutating func drain(_ host: HostName? = nil, _ servers: Set<InFlightQuery.Server>) -> Int {
    let number = number()
    let open = queries.all.filter { _, query in
      servers.contains(query.key.server) && (host == nil || query.question.host == host)
    }
    if open.isEmpty { endings.append(.drained(number)) } else { drains[number] = Set(open.map(\.number)) }
    return number
  }
}
