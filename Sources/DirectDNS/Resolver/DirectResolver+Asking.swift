// SPDX-License-Identifier: Apache-2.0
/// Lookups that have no fresh answer in the cache.
extension DirectResolver {
  /// Looks up a name that has no fresh answer in the cache.
  nonisolated(nonsending) func lookUp(
    _ host: HostName, _ options: LookupOptions
  ) async throws(DirectDNSError) -> Resolution {
    let settings = settings
    let request = try request(host, options, settings.configuration.route(for: host))
    if let own = try ownAnswer(request, settings) { return own }
    // Read for metrics and spans alone.
    let began = hasMetrics || tracer != nil ? clock.now : nil
    switch lookups.send({ $0.begin(request, routedBy: settings, at: $1) }) {
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
      guard let began else { return try await lookups.outcome(of: number).result.get() }
      let span = tracer.map { LookupSpan($0, host) }
      let result = await lookups.outcome(of: number).result
      metrics.waited(result, clock.now - began)
      span?.end(result)
      return try result.get()
    }
  }

  /// The request of a lookup: its options, and the resolver's defaults where they leave something open.
  ///
  /// - Throws: `invalidRequest` if no family is wanted: the name would seem not to exist.
  func request(
    _ host: HostName, _ options: LookupOptions, _ route: NameRoute
  ) throws(DirectDNSError) -> LookupRequest {
    let wanted = options.families ?? families
    guard !wanted.members.isEmpty else {
      throw DirectDNSError(.invalidRequest, "families is empty: choose any, ipv4 or ipv6.")
    }
    return LookupRequest(
      host: host, wanted: wanted, route: route, expired: options.expired, timeout: options.timeout,
      purpose: options.purpose, prefersIPv6: prefersIPv6)
  }

  /// Looks up a name by the system's DNS alone, even if that is off as a fallback: for names with direct connect off.
  ///
  /// The cache is neither read nor written, and remembered failures do not count. Pinned and local names have the same
  /// addresses as always. Callers who ask at the same time share a query.
  package func resolveWithSystemDNS(_ host: HostName, options: LookupOptions) async throws(DirectDNSError) -> Resolution
  {
    let settings = settings
    let request = try request(host, options, settings.configuration.route(for: host))
    if request.route != .system, let own = try ownAnswer(request, settings) { return own }
    let number = lookups.send { $0.askSystemAlone(request, routedBy: settings, at: $1) }
    return try await lookups.outcome(of: number).result.get()
  }

  /// Whether a name is answered without asking anybody: it is pinned, this machine's, or one that is never looked up.
  package func answersItself(_ host: HostName) -> Bool {
    switch settings.configuration.localZones.route(for: host) {
    case .pinned, .loopback, .neverExists, .refused: true
    case .system, .providers: false
    }
  }

  /// What the cache knows about a name, without asking or refreshing anything.
  ///
  /// - Parameters:
  ///   - host: the name.
  ///   - options: the options of the lookup.
  ///   - start: when the caller's lookup began.
  /// - Returns: addresses that may be used at once, or a negative answer; nil if somebody would have to be asked.
  func knownOutcome(
    of host: HostName, _ options: LookupOptions, since start: ResolverInstant
  ) -> Result<Resolution, DirectDNSError>? {
    let wanted = options.families ?? families
    let found = cache.find(host, wanted, options.expired, prefersIPv6: prefersIPv6, since: start, at: clock.now)
    switch found?.verdict {
    case .serve: return found?.resolution.map { .success($0) }
    case .negative(let negative, let left):
      let configuration = settings.configuration
      let speaker = configuration.negativeSpeaker(for: configuration.route(for: host))
      return .failure(DirectDNSError(negative, of: host, wanted, left: left, by: speaker))
    case .wait, .miss, nil: return nil
    }
  }

  // MARK: Several names

  /// How many names the first server takes in one query.
  var batchLimit: Int {
    let now = clock.now
    return lookups.look { $0.servers.batchLimit(at: now) }
  }

  /// Asks for everything about several names that is not fresh, in one query; lookups of these names then join it.
  ///
  /// - Parameters:
  ///   - hosts: the names, no more than ``batchLimit``.
  ///   - families: the families to ask for; nil for the configured ones.
  func askTogether(_ hosts: [HostName], _ families: AddressFamilies?) {
    let families = families ?? settings.configuration.families
    lookups.send { $0.askTogether(hosts, families, at: $1) }
  }
}

/// Refreshing a name before it is needed.
extension DirectResolver {
  /// The result of a renewal.
  struct Renewal: Sendable {
    var resolution: Resolution
    /// Whether the store or a server had to be asked.
    var wasAsked: Bool
  }

  /// Asks for everything about a name that is not fresh and, unlike a lookup, waits for all of it.
  ///
  /// If asking fails, an expired answer is returned.
  ///
  /// - Parameters:
  ///   - host: the name.
  ///   - families: the families to ask for; nil for the configured ones.
  ///   - isPatient: false if no server is expected to answer: then a name with an expired answer does not wait longer
  ///     than in a lookup.
  /// - Returns: the answer.
  /// - Throws: why there is none.
  func renew(_ host: HostName, _ families: AddressFamilies?, isPatient: Bool) async throws(DirectDNSError) -> Renewal {
    let options = LookupOptions(families: families)
    var found = Resolution()
    // A family that is not kept has nothing to be renewed.
    if readFresh(host, options.forConnecting, to: &found) { return Renewal(resolution: found, wasAsked: false) }
    let settings = settings
    let request = try request(host, options, settings.configuration.route(for: host))
    if let own = try ownAnswer(request, settings) { return Renewal(resolution: own, wasAsked: false) }
    let number = lookups.send { $0.renew(request, routedBy: settings, isPatient: isPatient, at: $1) }
    let outcome = await lookups.outcome(of: number)
    return Renewal(resolution: try outcome.result.get(), wasAsked: outcome.wasAsked)
  }
}
