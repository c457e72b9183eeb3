// SPDX-License-Identifier: Apache-2.0
/// Lookups that have to ask.
extension DirectResolver {
  /// A lookup that the hot path could not answer.
  nonisolated(nonsending) func lookUp(
    _ host: HostName, _ options: LookupOptions
  ) async throws(DirectDNSError) -> Resolution {
    let request = request(host, options, settings)
    if let local = try local(host, request.route, request.wanted) { return local }
    let isWatched = metrics.isCollected || tracer != nil
    let began = isWatched ? clock.now : ResolverInstant(nanoseconds: 0)
    switch lookups.tell({ $0.begin(request, at: $1) }) {
    case .known(let result):
      switch result {
      case .success(let resolution): metrics.hit(resolution.freshness)
      case .failure(let error): metrics.hit(error)
      }
      return try result.get()
    case .waiting(let number, let freshness?):
      metrics.hit(freshness)
      return try await lookups.outcome(of: number).result.get()
    case .waiting(let number, nil):
      guard isWatched else { return try await lookups.outcome(of: number).result.get() }
      let span = tracer.map { LookupTelemetry($0, host) }
      let result = await lookups.outcome(of: number).result
      metrics.waited(result, clock.now - began)
      span?.end(result)
      return try result.get()
    }
  }

  func request(
    _ host: HostName, _ options: LookupOptions, _ settings: ResolverSettings
  ) -> LookupRequest {
    LookupRequest(
      host: host, wanted: options.families ?? settings.configuration.families,
      route: settings.configuration.localZones.route(host),
      expired: options.expired, timeout: options.timeout, purpose: options.purpose, prefersIPv6: prefersIPv6)
  }

  /// Looks a name up by the system's DNS alone, be it off as a fallback: what is left when direct connect is switched off.
  ///
  /// Neither the cache nor its failures count, and nothing is remembered. Pins and names that never leave this machine are
  /// what they always are. Callers who ask at the same time share one query.
  package func resolveWithSystemDNS(_ host: HostName, options: LookupOptions) async throws(DirectDNSError) -> Resolution
  {
    let request = request(host, options, settings)
    if request.route != .system, let local = try local(host, request.route, request.wanted) { return local }
    let number = lookups.tell { $0.askSystemAlone(request, at: $1) }
    return try await lookups.outcome(of: number).result.get()
  }

  /// Whether a name is pinned, this machine's, or one that is never looked up: nobody is asked for it.
  package func answersItself(_ host: HostName) -> Bool {
    switch settings.configuration.localZones.route(host) {
    case .pinned, .loopback, .neverExists, .refused: true
    case .system, .providers: false
    }
  }

  /// What is known of a name without asking or starting anything.
  ///
  /// - Parameters:
  ///   - host: the name.
  ///   - options: what is wanted.
  ///   - start: when whoever wants to know began to look the name up.
  /// - Returns: addresses that may be used at once, or that there are none; nil if somebody would have to be asked.
  func knownOutcome(
    of host: HostName, _ options: LookupOptions, since start: ResolverInstant
  ) -> Result<Resolution, DirectDNSError>? {
    let wanted = options.families ?? families
    let found = cache.find(host, wanted, options.expired, prefersIPv6: prefersIPv6, since: start, at: clock.now)
    switch found?.verdict {
    case .serve: return found?.resolution.map { .success($0) }
    case .negative(let negative, let left):
      return .failure(DirectDNSError(negative, of: host, wanted, left: left))
    case .wait, .miss, nil: return nil
    }
  }

  // MARK: Several names

  /// How many names are asked for in one query, if several are to be asked for.
  var batchLimit: Int {
    let now = clock.now
    return lookups.look { $0.servers.states.batchServer(at: now)?.limit ?? 1 }
  }

  /// Begins to ask for whatever is not fresh of several names, in one query; whoever looks them up finds that under way.
  ///
  /// - Parameters:
  ///   - hosts: the names, no more than ``batchLimit``.
  ///   - families: which families; the resolver's own by default.
  func askTogether(_ hosts: [HostName], _ families: AddressFamilies?) {
    let families = families ?? settings.configuration.families
    lookups.tell { $0.askTogether(hosts, families, at: $1) }
  }
}

/// A name that is asked for ahead of need.
extension DirectResolver {
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
    var found = Resolution()
    if readFresh(host, options, to: &found) { return Renewal(resolution: found, wasAsked: false) }
    let request = request(host, options, settings)
    if let local = try local(host, request.route, request.wanted) { return Renewal(resolution: local, wasAsked: false) }
    let number = lookups.tell { $0.renew(request, isPatient: isPatient, at: $1) }
    let outcome = await lookups.outcome(of: number)
    return Renewal(resolution: try outcome.result.get(), wasAsked: outcome.wasAsked)
  }
}
