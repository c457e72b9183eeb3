/// Answers that need no asking. This is the hot path: no lock, no allocation, no reference that threads share.
extension Resolver {
  @inline(__always)
  func fresh(_ host: HostName, _ options: LookupOptions) -> Resolution? {
    let now = clock.coarseNow
    guard
      let found = cache.find(
        host, wanted: options.families ?? configuration.families, expired: options.expired, prefersIPv6: prefersIPv6,
        at: now)
    else { return nil }
    return fresh(found, at: now)
  }

  @inline(__always)
  func fresh(spelled host: String, _ options: LookupOptions) -> Resolution? {
    let now = clock.coarseNow
    guard
      let found = cache.find(
        spelled: host, wanted: options.families ?? configuration.families, expired: options.expired,
        prefersIPv6: prefersIPv6, at: now)
    else { return nil }
    return fresh(found, at: now)
  }

  @inline(__always)
  private func fresh(_ found: AnswerCache.Found, at now: ResolverInstant) -> Resolution? {
    guard case .serve(let families, .fresh, refresh: false) = found.verdict else { return nil }
    if metrics.isCollected || configuration.observer != nil { metrics.hit(.fresh) }
    return resolution(found.hit, families, .fresh, at: now)
  }

  /// The answer in a record, for those families.
  @inline(__always)
  func resolution(
    _ hit: AnswerTable.Hit, _ families: AddressFamilies, _ freshness: Resolution.Freshness, at now: ResolverInstant
  ) -> Resolution {
    let uses4 = families.contains(AddressFamilies.ipv4)
    let uses6 = families.contains(AddressFamilies.ipv6)
    // Of two families, the one that was asked for earlier and ends earlier.
    let asked = min(uses4 ? hit.life4.askedAt : .max, uses6 ? hit.life6.askedAt : .max)
    let expires = min(uses4 ? hit.life4.expireAt : .max, uses6 ? hit.life6.expireAt : .max)
    let source = uses4 ? hit.shape.source4 : hit.shape.source6
    var addresses = hit.addresses
    var firstCount = hit.firstCount
    if (hit.shape.count4 > 0 && !uses4) || (hit.shape.count6 > 0 && !uses6) {
      addresses = AddressList(addresses.filter { families.contains($0.family) })
      firstCount = addresses.count
    }
    ranking.order(&addresses, firstCount: firstCount, at: now)
    return Resolution(
      addresses: addresses, canonicalName: hit.canonicalName, freshness: freshness, source: sources[source],
      ageNanoseconds: max(0, now.nanoseconds - asked), timeToLiveNanoseconds: expires - now.nanoseconds)
  }

  // MARK: Beyond fresh answers

  @inline(never)
  func cachedSlowly(spelled text: String, _ options: LookupOptions) -> Resolution? {
    guard let host = try? WebURL.Host(text) else { return nil }
    if case .address(let address) = host { return try? literal(address, options.families ?? configuration.families) }
    guard let name = try? HostName(host) else { return nil }
    return cachedSlowly(name, options)
  }

  @inline(never)
  func cachedSlowly(_ host: HostName, _ options: LookupOptions) -> Resolution? {
    let wanted = options.families ?? configuration.families
    let route = configuration.localZones.route(host)
    if let local = try? local(host, route, wanted) { return local }
    guard route == .providers || route == .system else { return nil }
    let now = clock.now
    let found = cache.findLocked(
      host, wanted: wanted, expired: options.expired, prefersIPv6: prefersIPv6, at: now)
    switch found?.verdict {
    case .serve(let families, let freshness, let refresh):
      if refresh { refreshBehind(host, wanted, route, at: now) }
      note(freshness, host)
      return found.map { resolution($0.hit, families, freshness, at: now) }
    case .wait(let families):
      refreshBehind(host, wanted, route, at: now)
      note(.stale, host)
      return found.map { resolution($0.hit, families, .stale, at: now) }
    case .negative: return nil
    case .miss, nil:
      refreshBehind(host, wanted, route, at: now)
      metrics.missed()
      return nil
    }
  }

  func note(_ freshness: Resolution.Freshness, _ host: HostName) {
    metrics.hit(freshness)
    configuration.observer?(.hit(host, freshness))
  }

  /// An address is its own answer.
  func literal(_ address: IPAddress, _ wanted: AddressFamilies) throws(DirectDNSError) -> Resolution {
    guard wanted.contains(address.family) else {
      throw DirectDNSError(.noAddress, "\(address) is no \(wanted) address, and only those were asked for.")
    }
    return Resolution(
      addresses: [address], canonicalName: nil, freshness: .fresh, source: .literal, ageNanoseconds: 0,
      timeToLiveNanoseconds: .max)
  }

  /// The answer to a name that nobody has to be asked for; nothing for all others.
  func local(_ host: HostName, _ route: NameRoute, _ wanted: AddressFamilies) throws(DirectDNSError) -> Resolution? {
    let addresses: [IPAddress]
    let source: Resolution.Source
    switch route {
    case .pinned(let pinned): (addresses, source) = (pinned, .pin)
    case .loopback: (addresses, source) = ([.ipv4(0x7f00_0001), .ipv6(high: 0, low: 1)], .local)
    case .neverExists: throw DirectDNSError(.nameNotFound, "\(host) does not exist: .invalid never does (RFC 6761).")
    case .refused:
      throw DirectDNSError(.refused, "\(host) is not looked up: .onion names never go to DNS (RFC 7686). Use a Tor client.")
    case .system where system == nil:
      throw DirectDNSError(
        .refused, "\(host) belongs to this network, so that only the system's DNS could be asked, and that is off. Allow it, or pin the name's addresses.")
    case .system, .providers: return nil
    }
    let usable = addresses.filter { wanted.contains($0.family) }
    guard !usable.isEmpty else {
      throw DirectDNSError(.noAddress, "\(host) is \(source.kind == "pin" ? "pinned" : "this machine") and has no \(wanted) address.")
    }
    let preferred: IPAddress.Family = prefersIPv6 ? .ipv6 : .ipv4
    let sorted = usable.filter { $0.family == preferred } + usable.filter { $0.family != preferred }
    return Resolution(
      addresses: AddressList(sorted), canonicalName: nil, freshness: .fresh, source: source, ageNanoseconds: 0,
      timeToLiveNanoseconds: .max)
  }
}
