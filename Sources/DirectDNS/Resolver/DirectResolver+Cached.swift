// SPDX-License-Identifier: Apache-2.0
internal import Logging

/// Answers from the cache.
///
/// This is the hot path: it takes no lock, touches no reference count that threads share, and allocates nothing but the
/// canonical name of an alias and long lists of addresses.
extension DirectResolver {
  /// Copies a name's fresh answer into an empty resolution.
  ///
  /// - Returns: false if there is no fresh answer, or if it cannot be read without the lock at the moment.
  func readFresh(_ host: HostName, _ options: LookupOptions, to found: inout Resolution) -> Bool {
    guard let reading = cache.read(host) else { return false }
    return readFresh(reading, options, to: &found)
  }

  /// The same for a name as people write it.
  func readFresh(spelled host: String, _ options: LookupOptions, to found: inout Resolution) -> Bool {
    guard let reading = cache.read(spelled: host) else { return false }
    return readFresh(reading, options, to: &found)
  }

  @inline(__always)
  private func readFresh(
    _ reading: AnswerTable.Reading, _ options: LookupOptions, to found: inout Resolution
  ) -> Bool {
    let now = coarseNow
    let wanted = options.families ?? families
    let verdict = cache.verdict(reading, wanted, options.expired, now)
    guard case .serve(let families, .fresh, refresh: false) = verdict else { return false }
    // Who is handed addresses would not learn of those that are not kept.
    if families != wanted, options.purpose == .handingOut, cache.lacksUnkept(reading, wanted) { return false }
    guard cache.isInOrder(reading, at: now) else { return readReordered(reading, options, to: &found, at: now) }
    return fill(&found, from: reading, families, at: now)
  }

  /// Puts the addresses in order first, since something was reported about them, or their order changes by itself.
  @inline(never)
  private func readReordered(
    _ reading: AnswerTable.Reading, _ options: LookupOptions, to found: inout Resolution, at now: ResolverInstant
  ) -> Bool {
    guard let reading = cache.reordered(reading, at: now),
      case .serve(let families, .fresh, refresh: false) = cache.verdict(
        reading, options.families ?? families, options.expired, now)
    else { return false }
    return fill(&found, from: reading, families, at: now)
  }

  @inline(__always)
  private func fill(
    _ found: inout Resolution, from reading: AnswerTable.Reading, _ families: AddressFamilies, at now: ResolverInstant
  ) -> Bool {
    let isFilled = cache.fill(
      &found, from: reading, families, .fresh, prefersIPv6: prefersIPv6, turn: AddressOrder.Turn(at: now), at: now)
    if isFilled, hasMetrics { metrics.hit(.fresh) }
    return isFilled
  }

  /// The present; without a call through the protocol if the clock is the machine's.
  @inline(__always)
  var coarseNow: ResolverInstant { usesSystemClock ? SystemClock().coarseNow : clock.coarseNow }

  /// A fresh answer, or one that needs nobody to be asked; nil for any other name.
  func freshOrOwnAnswer(_ host: HostName, _ options: LookupOptions) throws(DirectDNSError) -> Resolution? {
    var found = Resolution()
    if readFresh(host, options, to: &found) { return found }
    let settings = settings
    return try ownAnswer(request(host, options, settings.configuration.route(for: host)), settings)
  }

  // MARK: Beyond fresh answers

  @inline(never)
  func cachedSlowly(spelled text: String, _ options: LookupOptions) -> Resolution? {
    guard let host = try? Self.host(text) else { return nil }
    if case .address(let address) = host { return try? literal(address, options.families ?? families) }
    guard let name = try? HostName(host) else { return nil }
    return cachedSlowly(name, options)
  }

  /// The answer that a lookup gets without waiting, counted as that lookup; nil, and nothing counted or begun, if it
  /// has to wait or fails.
  package func answerAtOnce(_ host: HostName, _ options: LookupOptions) -> Resolution? {
    var found = Resolution()
    if readFresh(host, options, to: &found) { return found }
    return cachedSlowly(host, options, lookupFollows: true)
  }

  /// The answer in the cache although it is not fresh, or the name's own; begins a refresh, and counts the outcome.
  ///
  /// With `lookupFollows` it does so only for an answer that serves at once: the lookup sees to all others.
  @inline(never)
  func cachedSlowly(_ host: HostName, _ options: LookupOptions, lookupFollows: Bool = false) -> Resolution? {
    let settings = settings
    guard let request = try? request(host, options, settings.configuration.route(for: host)) else { return nil }
    if let own = try? ownAnswer(request, settings) { return own }
    guard request.route == .providers || request.route == .system else { return nil }
    let found = cache.find(request, at: clock.now)
    switch found?.verdict {
    case .serve(_, let served, let refresh):
      let freshness = found?.resolution?.freshness ?? served
      if refresh { lookups.send { $0.refreshBehind(request, routedBy: settings, at: $1) } }
      metrics.hit(freshness)
      lookupTelemetry.hit(host, freshness)
      return found?.resolution
    case _ where lookupFollows: return nil
    case .wait:
      lookups.send { $0.refreshBehind(request, routedBy: settings, at: $1) }
      metrics.hit(.stale)
      lookupTelemetry.hit(host, .stale)
      return found?.resolution
    case .negative(let negative, let left):
      if metrics.isCollected { metrics.hit(DirectDNSError(negative, of: host, request.wanted, left: left)) }
      return nil
    case .miss, nil:
      lookups.send { $0.refreshBehind(request, routedBy: settings, at: $1) }
      metrics.missed()
      return nil
    }
  }

  /// An address is its own answer.
  func literal(_ address: IPAddress, _ wanted: AddressFamilies) throws(DirectDNSError) -> Resolution {
    guard wanted.contains(address.family) else {
      throw DirectDNSError(.noAddress, "\(address) is no \(wanted) address, and only those were asked for.")
    }
    return Resolution(addresses: [address], source: .literal)
  }

  /// The answer about a name that needs nobody to be asked, because it is pinned or this machine's; nil for any other
  /// name.
  func ownAnswer(_ request: LookupRequest, _ settings: ResolverSettings) throws(DirectDNSError) -> Resolution? {
    // Nearly all names are the providers', and for those not even the clock is read.
    if case .providers = request.route { return nil }
    return try request.ownAnswer(ranking, hasSystem: settings.system != nil, at: clock.now)
  }

  /// The answer about a name that a client has pinned.
  func pinned(
    _ host: HostName, to addresses: [IPAddress], _ options: LookupOptions
  ) throws(DirectDNSError) -> Resolution? {
    // A pin has nothing to do with the system's DNS.
    try request(host, options, .pinned(addresses)).ownAnswer(ranking, hasSystem: false, at: clock.now)
  }
}
