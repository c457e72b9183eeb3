// SPDX-License-Identifier: Apache-2.0
/// The events that the machine is told of: replies, the passing of time, new settings, the end.
extension LookupMachine {
  /// A query has ended.
  mutating func ended(_ query: Int, _ reply: QueryMachine.Reply, at now: ResolverInstant) {
    servers.ended(query, reply, at: now)
    advance(at: now)
  }

  /// The system's DNS has answered, or has failed to.
  mutating func systemAnswered(_ number: Int, _ result: Result<Answer, ProviderFailure>, at now: ResolverInstant) {
    if let query = queries[number] { noteSystem(number, query, result, at: now) }
    advance(at: now)
  }

  /// The store has been read.
  mutating func storeRead(_ number: Int, _ reading: StoreReading<CacheEntry>, at now: ResolverInstant) {
    noteStore(number, reading, at: now)
    advance(at: now)
  }

  /// The store has said who holds the lease on a question.
  mutating func leaseTaken(_ number: Int, _ state: StoreLease.State, at now: ResolverInstant) {
    noteLease(number, state, at: now)
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
        guard var lookup = lookups.removeValue(forKey: number) else { continue }
        lookup.wait.timePassed(at: now)
        proceed(lookup, at: now)
      case .store(let number): storeTimePassed(number, at: now)
      case .keepAlive(let host): refreshAhead(host, at: now)
      }
      advance(at: now)
    }
  }

  /// Takes over new settings.
  mutating func update(_ settings: ResolverSettings, at now: ResolverInstant) {
    let configuration = settings.configuration
    let before = self.settings.configuration
    self.settings = settings
    generation += 1
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

  /// The computer is on another network: forgets failures and the servers' health.
  mutating func networkDidChange(at now: ResolverInstant) {
    cache.networkDidChange(now: now)
    systemFailures.forgetAll()
    networkChangedAt = now
    servers.networkDidChange(at: now)
    keptAlive.refreshFailingSoon(at: now)
    advance(at: now)
  }

  /// Forgets what is known about a name, and detaches the queries under way: who asks from now on does not join them,
  /// and their answers are not kept.
  mutating func invalidate(_ host: HostName, at now: ResolverInstant) {
    cache.forget(host, now: now)
    for family in IPAddress.Family.allCases {
      let question = AddressQuestion(host, family)
      systemFailures.forget(question)
      if hasStore { actions.append(.forgetStored(question)) }
      for server in [InFlightQuery.Server.providers, .system] {
        guard let number = numbers.removeValue(forKey: .init(question: question, server: server)) else { continue }
        queries[number]?.invalidate()
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
    for (number, query) in queries.all {
      queryOutcomes.append((number, .failed(shutDownError(query.question.host))))
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
  mutating func drain(_ host: HostName? = nil, _ servers: Set<InFlightQuery.Server>) -> Int {
    let number = number()
    let open = queries.all.filter { _, query in
      servers.contains(query.key.server) && (host == nil || query.question.host == host)
    }
    if open.isEmpty { endings.append(.drained(number)) } else { drains[number] = Set(open.map(\.number)) }
    return number
  }
}
