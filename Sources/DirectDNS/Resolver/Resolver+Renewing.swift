/// A name that is asked for ahead of need.
extension Resolver {
  /// What came of a renewal.
  struct Renewal: Sendable {
    var resolution: Resolution
    /// Whether anything had to be asked for, of the store or of a provider.
    var wasAsked: Bool
  }

  /// Asks for whatever is not fresh of a name and, other than a lookup, waits for all of it.
  ///
  /// What is fresh costs no query. Where the asking fails, an expired answer serves.
  ///
  /// - Parameters:
  ///   - host: the name.
  ///   - families: which families; the resolver's own by default.
  ///   - isPatient: false where nobody is expected to answer: then a name that has an expired answer waits for no longer
  ///     than a lookup would.
  /// - Returns: the answer.
  /// - Throws: why there is none.
  func renew(_ host: HostName, _ families: AddressFamilies?, isPatient: Bool) async throws(DirectDNSError) -> Renewal {
    let options = LookupOptions(families: families)
    if let found = fresh(host, options) { return Renewal(resolution: found, wasAsked: false) }
    let configuration = settings.configuration
    let wanted = families ?? configuration.families
    let route = configuration.localZones.route(host)
    if let local = try local(host, route, wanted) { return Renewal(resolution: local, wasAsked: false) }
    let deadlines = lookupDeadlines(from: clock.now)
    var outcomes: [IPAddress.Family: FlightOutcome] = [:]
    var wasAsked = false
    // Twice where the store had an answer that is not fresh either.
    for _ in 0..<2 {
      let now = clock.now
      let flights = startRefresh(host, wanted, route, deadlines, at: now)
      guard !flights.isEmpty else { break }
      wasAsked = true
      let isHurried = !isPatient && settle(host, wanted, .allowed, at: now)?.resolution != nil
      let wait = FlightWait(AddressFamilies(flights.map(\.0)), for: .keeping, clock: clock)
      let result = await wait.run(flights, until: isHurried ? now + configuration.cache.patience : nil)
      guard !result.isCancelled else { throw cancelled(host) }
      outcomes = result.outcomes
      guard outcomes.values.contains(where: \.isRestored) else { break }
    }
    let settled = settle(host, wanted, .allowed, at: clock.now)
    // What is not kept, as with TTL 0, stands in the outcomes alone.
    if let resolution = settled?.resolution ?? answer(outcomes) {
      return Renewal(resolution: resolution, wasAsked: wasAsked)
    }
    if case .negative(let negative, let left) = settled?.verdict {
      throw negativeError(host, wanted, negative, left: left)
    }
    let known = outcomes.filter { !$0.value.isRestored }
    let resolution = try await asked(host, wanted, route, options, deadlines, known: known)
    return Renewal(resolution: resolution, wasAsked: true)
  }
}
