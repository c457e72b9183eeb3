// SPDX-License-Identifier: Apache-2.0
/// Which cookies are removed if there are too many (RFC 6265bis §5.7).
extension CookieStore {
  /// Removes cookies until the limits are met: expired ones first; then, if a registrable domain has too many, those
  /// that are not `Secure`; and among equals the one that was used longest ago.
  mutating func makeRoom(for owner: Cookie.Domain, at now: CookieTime) {
    while size(of: owner) > configuration.maximumCookiesPerDomain {
      let family = (families[owner] ?? []).compactMap { table.index(forKey: $0) }
      guard remove(dispensable(on: family, at: now, sparingSecure: true), at: now) else { break }
    }
    while count > configuration.maximumCookies {
      guard remove(dispensable(on: table.indices, at: now, sparingSecure: false), at: now) else { break }
    }
  }

  private func size(of owner: Cookie.Domain) -> Int {
    (families[owner] ?? []).reduce(0) { $0 + (table[$1]?.entries.count ?? 0) }
  }

  private enum Dispensable {
    case expired(on: [Cookie.Domain])
    case leastUsed(on: Cookie.Domain, order: UInt64)
  }

  /// The expired cookies of some domains; if none has expired, the one to remove next.
  private func dispensable(
    on places: some Sequence<Dictionary<Cookie.Domain, DomainCookies>.Index>, at now: CookieTime, sparingSecure: Bool
  ) -> Dispensable? {
    var expired: [Cookie.Domain] = []
    var least: (isSpared: Bool, lastUse: UInt64, place: Dictionary<Cookie.Domain, DomainCookies>.Index, index: Int)?
    for place in places {
      // By index: a copy of each of thousands of entries would be most of the cost.
      let entries = table.values[place].entries
      for index in entries.indices {
        if entries[index].cookie.isExpired(at: now) { expired.append(table.keys[place]) }
        let isSpared = sparingSecure && entries[index].cookie.isSecure
        let lastUse = entries[index].lastUse
        if let least, isSpared == least.isSpared ? lastUse > least.lastUse : isSpared { continue }
        least = (isSpared, lastUse, place, index)
      }
    }
    guard expired.isEmpty else { return .expired(on: expired) }
    return least.map { .leastUsed(on: table.keys[$0.place], order: table.values[$0.place].entries[$0.index].order) }
  }

  private mutating func remove(_ cookies: Dispensable?, at now: CookieTime) -> Bool {
    switch cookies {
    case .expired(let domains): removeAll(on: domains) { $0.cookie.isExpired(at: now) } > 0
    case .leastUsed(let domain, let order): removeAll(on: [domain]) { $0.order == order } > 0
    case nil: false
    }
  }
}
