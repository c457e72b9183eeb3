// SPDX-License-Identifier: Apache-2.0
/// The states of all servers, in the configured order: a value that events and time change.
struct ServerStates: Sendable {
  /// Which server may be asked now.
  enum Next: Sendable {
    case taken(DNSServer)
    /// None, but the next request to that server is reserved, and may be sent at that instant.
    case turn(Number<DNSServer>, at: ResolverInstant)
    /// None before that instant, when a server's pause ends (429), or what is known of its end; no request can be
    /// reserved until then.
    case blocked(until: ResolverInstant)
    /// None in time, for these reasons.
    case late([DirectDNSError.Attempt])
    /// None is left.
    case none
  }

  /// What is done about a query whose time is used up.
  enum Failover: Sendable {
    /// That server is asked instead.
    case replace(DNSServer)
    /// That server, whose breaker is open, is asked too, and the query goes on: a slow server is not given up for it.
    case alongside(DNSServer)
    /// No other server can be asked before that instant.
    case later(ResolverInstant)
    /// No other server is left: the query goes on until the providers' time is over.
    case noServer
  }

  private(set) var all: [DNSServerState] = []
  /// Their numbers, in the configured order.
  private var numbers: [Number<DNSServer>] = []
  private var nextNumber = 0
  private(set) var hedges = false
  private var budget = HedgeBudget()

  init(_ configuration: ResolverConfiguration, at now: ResolverInstant) { update(configuration, at: now) }

  /// Takes over other providers; those that stay keep their state.
  mutating func update(_ configuration: ResolverConfiguration, at now: ResolverInstant) {
    var known = all
    all = configuration.reachedProviders.map { provider in
      guard let place = known.firstIndex(where: { $0.isServer(of: provider) }) else {
        let server = DNSServerState(Number(rawValue: nextNumber), provider, at: now)
        nextNumber += 1
        return server
      }
      var server = known.remove(at: place)
      server.update(provider, at: now)
      return server
    }
    numbers = all.map(\.number)
    hedges = configuration.hedges && all.count > 1
  }

  /// The numbers of the servers, in the order in which a lookup asks them.
  func order(at now: ResolverInstant) -> [Number<DNSServer>] {
    // A single server is asked whatever its health, and mostly no breaker is open.
    guard all.count > 1, all.contains(where: { $0.health.openedAt != nil }) else { return numbers }
    return ServerOrder.order(all.map { $0.health.breaker(at: now) }).map { all[$0].number }
  }

  /// Takes the first of those servers that may be asked now, or reserves a request to the one that may be asked
  /// soonest.
  mutating func next(among numbers: [Number<DNSServer>], before deadline: ResolverInstant, at now: ResolverInstant)
    -> Next
  {
    for number in numbers {
      guard let place = place(of: number), all[place].take(at: now) else { continue }
      budget.queried(at: now)
      return .taken(all[place].server)
    }
    let places = places(of: numbers)
    guard let soonest = places.min(by: { all[$0].ready(at: now) < all[$1].ready(at: now) }) else {
      return .none
    }
    let ready = all[soonest].ready(at: now)
    // What the query finds out that was sent after a pause may come at any moment.
    guard ready < deadline || places.contains(where: { all[$0].health.isTried(at: now) }) else {
      return .late(places.map { all[$0].tooLate(at: now) })
    }
    guard ready < deadline, let instant = all[soonest].reserve(at: now) else {
      return .blocked(until: min(ready, deadline))
    }
    return .turn(all[soonest].number, at: instant)
  }

  /// Uses a request that was reserved.
  ///
  /// - Returns: the server; nil if it has said 429 meanwhile, or was removed.
  mutating func begin(_ number: Number<DNSServer>, at now: ResolverInstant) -> DNSServer? {
    guard let place = place(of: number), !all[place].isBlocked(at: now) else { return nil }
    budget.queried(at: now)
    return all[place].server
  }

  /// The request rate of a server; nil if it has none, or was removed.
  func rateLimit(of number: Number<DNSServer>) -> RateLimit? {
    place(of: number).flatMap { all[$0].configuration.rateLimit }
  }

  /// Takes back a request that was reserved, and will not be sent.
  mutating func giveBack(_ number: Number<DNSServer>) {
    if let place = place(of: number) { all[place].bucket?.giveBack() }
  }

  /// Takes a server to ask when the time of a query is used up, or when it has failed beside another.
  ///
  /// One whose breaker is closed or is to be tried again, or else one whose breaker is open.
  mutating func takeFailover(
    among numbers: [Number<DNSServer>], before deadline: ResolverInstant, at now: ResolverInstant
  ) -> Failover {
    guard let soonest = failover(among: numbers, before: deadline, at: now) else { return .noServer }
    guard all[soonest].take(at: now) else { return .later(all[soonest].ready(at: now)) }
    budget.queried(at: now)
    let server = all[soonest].server
    // Its breaker is open also when it is to be tried again: only an answer closes it.
    return all[soonest].health.openedAt != nil ? .alongside(server) : .replace(server)
  }

  /// Whether a server has failed, and is asked only because those that work may not be for a moment, such as by a rate
  /// that is used up: it most likely takes all of a query's time.
  func isStopgap(
    _ number: Number<DNSServer>, among numbers: [Number<DNSServer>], before deadline: ResolverInstant,
    at now: ResolverInstant
  ) -> Bool {
    guard let place = place(of: number), all[place].isOpen(at: now) else { return false }
    return places(of: numbers).contains { !all[$0].isOpen(at: now) && all[$0].ready(at: now) < deadline }
  }

  /// When ``takeFailover(among:before:at:)`` takes a server; nil if none can be asked in time.
  func failoverInstant(
    among numbers: [Number<DNSServer>], before deadline: ResolverInstant, at now: ResolverInstant
  ) -> ResolverInstant? {
    failover(among: numbers, before: deadline, at: now).map { all[$0].ready(at: now) }
  }

  private func failover(
    among numbers: [Number<DNSServer>], before deadline: ResolverInstant, at now: ResolverInstant
  ) -> Int? {
    let inTime = places(of: numbers).filter { all[$0].ready(at: now) < deadline }
    let usable = inTime.filter { !all[$0].isOpen(at: now) }
    return (usable.isEmpty ? inTime : usable).min { all[$0].ready(at: now) < all[$1].ready(at: now) }
  }

  /// Takes one of those servers for a hedge, if the budget has room for one.
  ///
  /// - Parameters:
  ///   - numbers: the servers, in the order of asking.
  ///   - question: what is asked for, if that is a family's addresses.
  ///   - end: when its lookup ends.
  ///   - now: the present.
  /// - Returns: the server; nil if none may be asked at once, or the budget has no room.
  mutating func takeHedge(
    among numbers: [Number<DNSServer>], for question: AddressQuestion?, until end: ResolverInstant,
    at now: ResolverInstant
  ) -> DNSServer? {
    // A server first: the budget is not spent if there is none.
    guard let place = places(of: numbers).first(where: { all[$0].ready(at: now) <= now }),
      budget.take(for: question, until: end, at: now), all[place].take(at: now)
    else { return nil }
    return all[place].server
  }

  /// How long to wait for a server before another one is asked as well.
  func hedgingDelay(of number: Number<DNSServer>) -> Duration {
    place(of: number).map { all[$0].health.hedgingDelay } ?? ServerHealth.unknownDelay
  }

  /// The server that is asked first, if it takes several names in one query.
  func batchServer(at now: ResolverInstant) -> (number: Number<DNSServer>, limit: Int)? {
    guard let number = order(at: now).first, let place = place(of: number), !all[place].refusesBatches,
      let limit = all[place].server.batchLimit
    else { return nil }
    return (number, limit)
  }

  /// Notes that a server takes only one name at a time after all.
  mutating func noteBatchRefusal(_ number: Number<DNSServer>) {
    if let place = place(of: number) { all[place].refusesBatches = true }
  }

  /// Notes that a server is being asked.
  mutating func asked(_ number: Number<DNSServer>, at now: ResolverInstant) {
    if let place = place(of: number) { all[place].health.asked(at: now) }
  }

  /// Notes the end of a query.
  ///
  /// - Returns: what it did to the server's breaker; nil if nothing, or if the server was removed.
  @discardableResult
  mutating func ended(
    _ number: Number<DNSServer>, _ result: Result<Answer, ProviderFailure>, of lookup: ServerHealth.LookupKey,
    in time: Duration,
    at now: ResolverInstant
  ) -> ServerHealth.BreakerChange? {
    guard let place = place(of: number) else { return nil }
    let openedAt = all[place].health.openedAt
    switch result {
    case .success: all[place].health.answered(in: time, at: now)
    case .failure(let failure): all[place].health.failed(failure.kind, of: lookup, in: time, at: now)
    }
    all[place].tally.note(result)
    return ServerHealth.BreakerChange(from: openedAt, to: all[place].health.openedAt)
  }

  /// Notes that nothing came in the little time that a caller allowed.
  ///
  /// - Returns: what it did to the server's breaker; nil if nothing, or if the server was removed.
  mutating func wasSilent(
    _ number: Number<DNSServer>, to host: HostName, for time: Duration, at now: ResolverInstant
  ) -> ServerHealth.BreakerChange? {
    guard let place = place(of: number) else { return nil }
    let openedAt = all[place].health.openedAt
    all[place].health.wasSilent(to: host, for: time, at: now)
    all[place].tally.noteCancelled()
    return ServerHealth.BreakerChange(from: openedAt, to: all[place].health.openedAt)
  }

  /// Notes that a query was cancelled because another server answered first.
  ///
  /// That says nothing about the server's health. If the query was a probe, the next probe comes after the usual time.
  mutating func lostRace(_ number: Number<DNSServer>) {
    if let place = place(of: number) { all[place].tally.noteCancelled() }
  }

  /// Forgets what was learned on the last network.
  mutating func networkDidChange() {
    for place in all.indices {
      all[place].health.networkDidChange()
      all[place].refusesBatches = false
    }
  }

  /// Whether a server must not be asked now, because it said 429.
  func isBlocked(_ number: Number<DNSServer>, at now: ResolverInstant) -> Bool {
    place(of: number).map { all[$0].isBlocked(at: now) } ?? false
  }

  /// Whether questions wait for what a server's first query after a pause finds out.
  func isTried(_ number: Number<DNSServer>, at now: ResolverInstant) -> Bool {
    place(of: number).map { all[$0].health.isTried(at: now) } ?? false
  }

  private func place(of number: Number<DNSServer>) -> Int? { all.firstIndex { $0.number == number } }

  private func places(of numbers: [Number<DNSServer>]) -> [Int] { numbers.compactMap(place) }
}
