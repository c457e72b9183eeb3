/// Which cookies go when there are too many (RFC 6265bis §5.7).
extension CookieStore {
  /// Takes cookies away until the limits hold: expired ones, then of a registrable domain with too many those that are
  /// not `Secure`, and among equals whichever was used longest ago.
  mutating func makeRoom(for owner: Cookie.Domain, at now: CookieTime) {
    while size(of: owner) > configuration.maximumCookiesPerDomain {
      let family = (families[owner] ?? []).compactMap { shelves.index(forKey: $0) }
      guard removeLeast(of: family, at: now, rank: { ($0.cookie.isSecure ? 1 : 0, $0.lastUse) }) else { break }
    }
    while count > configuration.maximumCookies {
      guard removeLeast(of: shelves.indices, at: now, rank: { (0, $0.lastUse) }) else { break }
    }
  }

  private func size(of owner: Cookie.Domain) -> Int {
    (families[owner] ?? []).reduce(0) { $0 + (shelves[$1]?.entries.count ?? 0) }
  }

  /// Removes every expired cookie of some shelves, or where none has expired the one of the lowest rank.
  private mutating func removeLeast(
    of places: some Collection<Dictionary<Cookie.Domain, Shelf>.Index>, at now: CookieTime,
    rank: (Entry) -> (Int, UInt64)
  ) -> Bool {
    var expired: [Cookie.Domain] = []
    var least: (rank: (Int, UInt64), domain: Cookie.Domain, order: UInt64)?
    for place in places {
      let (domain, shelf) = shelves[place]
      for entry in shelf.entries {
        if entry.cookie.isExpired(at: now) { expired.append(domain) }
        let rank = rank(entry)
        if least.map({ rank < $0.rank }) ?? true { least = (rank, domain, entry.order) }
      }
    }
    if !expired.isEmpty { return removeAll(on: expired) { $0.cookie.isExpired(at: now) } > 0 }
    guard let least else { return false }
    return removeAll(on: [least.domain]) { $0.order == least.order } > 0
  }
}
