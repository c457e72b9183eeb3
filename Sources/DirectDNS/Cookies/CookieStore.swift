// SPDX-License-Identifier: Apache-2.0
/// The cookies of a jar, and the rules for storing, sending and removing them (RFC 6265bis §5.7 and §5.8).
///
/// Cookies are kept by domain: a request looks only at those of its host and of the domains above,
/// however many cookies there are.
struct CookieStore {
  struct Entry {
    var cookie: Cookie
    /// The position in the order in which cookies came, which decides between equally long paths; a newer value keeps
    /// it.
    let order: UInt64
    /// The position in the order of use; not a time, since clocks jump and many uses fall into one second.
    var lastUse: UInt64
  }

  struct DomainCookies {
    let owner: Cookie.Domain
    var entries: [Entry] = []
  }

  let configuration: CookieJarConfiguration
  private(set) var table: [Cookie.Domain: DomainCookies] = [:]
  /// The domains of each registrable domain that have cookies.
  private(set) var families: [Cookie.Domain: Set<Cookie.Domain>] = [:]
  /// The number of cookies, including expired ones that were not removed yet.
  private(set) var count = 0
  private var sequence: UInt64 = 0

  init(configuration: CookieJarConfiguration) {
    self.configuration = configuration
  }

  // MARK: Storing

  /// Stores a cookie that a response set.
  mutating func receive(_ cookie: Cookie, in request: CookieContext, at now: CookieTime) throws(CookieRejection) {
    guard cookie.isSecure || request.isSecure || !overlaysSecure(cookie, at: now) else { throw .overlaysSecure }
    insert(cookie, at: now)
  }

  /// Stores a cookie in place of the one that it replaces; an expired cookie only removes the other one.
  mutating func insert(_ cookie: Cookie, at now: CookieTime) {
    var cookie = cookie
    cookie.expires = cookie.expires.map { min($0, now + min(configuration.maximumAge, Cookie.maximumAge)) }
    let replaced = removeFirst(on: cookie.domain) { cookie.replaces($0.cookie) }
    // An expired cookie counts as gone, even if it was not removed yet: the new one does not inherit its position.
    let old = replaced.flatMap { $0.cookie.isExpired(at: now) ? nil : $0 }
    guard !cookie.isExpired(at: now) else { return }
    sequence += 1
    if let old { cookie.creation = old.cookie.creation }
    let entry = Entry(cookie: cookie, order: old?.order ?? sequence, lastUse: sequence)
    let owner = table[cookie.domain]?.owner ?? cookie.domain.owner
    table[cookie.domain, default: DomainCookies(owner: owner)].entries.append(entry)
    families[owner, default: []].insert(cookie.domain)
    count += 1
    makeRoom(for: owner, at: now)
  }

  /// Whether an insecure cookie would overlay a `Secure` one of the same name (RFC 6265bis §5.7, step 16).
  private func overlaysSecure(_ cookie: Cookie, at now: CookieTime) -> Bool {
    (families[cookie.domain.owner] ?? []).contains { domain in
      (domain.matches(cookie.domain) || cookie.domain.matches(domain))
        && (table[domain]?.entries ?? []).contains { entry in
          entry.cookie.isSecure && entry.cookie.name == cookie.name && !entry.cookie.isExpired(at: now)
            && CookiePath.matches(cookie.path, entry.cookie.path)
        }
    }
  }

  // MARK: Sending

  /// The cookies that a request carries, those with longer paths first, equally long ones in the configuration's order.
  func entries(for request: CookieContext, at now: CookieTime) -> [Entry] {
    places(for: request, at: now).map { table.values[$0.domain].entries[$0.index] }
  }

  /// The `Cookie` field of a request; the cookies in it count as used.
  mutating func header(
    for request: CookieContext, at now: CookieTime, where isIncluded: (Entry) -> Bool = { _ in true }
  ) -> String? {
    sequence += 1
    var cookies: [Cookie] = []
    for place in places(for: request, at: now) where isIncluded(table.values[place.domain].entries[place.index]) {
      table.values[place.domain].entries[place.index].lastUse = sequence
      table.values[place.domain].entries[place.index].cookie.lastAccess = now
      cookies.append(table.values[place.domain].entries[place.index].cookie)
    }
    return CookieHeader.value(of: cookies, limit: configuration.maximumHeaderBytes)
  }

  private struct Place {
    let domain: Dictionary<Cookie.Domain, DomainCookies>.Index
    let index: Int
    let pathLength: Int
    let order: UInt64
  }

  private func places(for request: CookieContext, at now: CookieTime) -> [Place] {
    var found: [Place] = []
    collect(on: request.host)
    for parent in request.host.parents { collect(on: parent) }
    switch configuration.order {
    case .oldestFirst: found.sort { ($1.pathLength, $0.order) < ($0.pathLength, $1.order) }
    case .curl: found.sort { curlRank($0).lexicographicallyPrecedes(curlRank($1), by: >) }
    }
    return found

    func collect(on domain: Cookie.Domain) {
      guard let domainIndex = table.index(forKey: domain) else { return }
      let entries = table.values[domainIndex].entries
      for index in entries.indices where entries[index].cookie.isSent(with: request, at: now) {
        let length = entries[index].cookie.path.utf8.count
        found.append(Place(domain: domainIndex, index: index, pathLength: length, order: entries[index].order))
      }
    }
  }

  /// What curl sorts by, the greater first.
  private func curlRank(_ place: Place) -> [UInt64] {
    let cookie = table.values[place.domain].entries[place.index].cookie
    let lengths = [place.pathLength, cookie.domain.description.utf8.count, cookie.name.utf8.count]
    return lengths.map { UInt64($0) } + [place.order]
  }

  // MARK: Reading and removing

  /// Changes the cookies of a domain, but not their domain, and returns them.
  mutating func update(on domain: Cookie.Domain, _ change: (inout Cookie) -> Void) -> [Cookie] {
    guard let domainIndex = table.index(forKey: domain) else { return [] }
    for index in table.values[domainIndex].entries.indices {
      change(&table.values[domainIndex].entries[index].cookie)
    }
    return table.values[domainIndex].entries.map(\.cookie)
  }

  /// The cookies that have not expired, in the order in which they came.
  func cookies(at now: CookieTime) -> [Cookie] {
    table.values.flatMap { $0.entries.filter { !$0.cookie.isExpired(at: now) } }
      .sorted { $0.order < $1.order }.map(\.cookie)
  }

  /// Removes the cookies for which a condition holds, and returns their number.
  @discardableResult
  mutating func removeAll(where isRemoved: (Entry) -> Bool) -> Int {
    removeAll(on: Array(table.keys), where: isRemoved)
  }

  /// Removes the cookies for which a condition holds from some domains, and returns their number.
  @discardableResult
  mutating func removeAll(
    on domains: some Sequence<Cookie.Domain>, where isRemoved: (Entry) -> Bool
  ) -> Int {
    let before = count
    for domain in domains {
      guard let domainIndex = table.index(forKey: domain) else { continue }
      count -= table.values[domainIndex].entries.count
      table.values[domainIndex].entries.removeAll(where: isRemoved)
      count += table.values[domainIndex].entries.count
      if table.values[domainIndex].entries.isEmpty { remove(domainIndex) }
    }
    return before - count
  }

  private mutating func removeFirst(on domain: Cookie.Domain, where isRemoved: (Entry) -> Bool) -> Entry? {
    guard let domainIndex = table.index(forKey: domain),
      let index = table.values[domainIndex].entries.firstIndex(where: isRemoved)
    else { return nil }
    count -= 1
    defer { if table.values[domainIndex].entries.isEmpty { remove(domainIndex) } }
    return table.values[domainIndex].entries.remove(at: index)
  }

  private mutating func remove(_ domainIndex: Dictionary<Cookie.Domain, DomainCookies>.Index) {
    let (domain, emptied) = table.remove(at: domainIndex)
    families[emptied.owner]?.remove(domain)
    if families[emptied.owner]?.isEmpty == true { families[emptied.owner] = nil }
  }
}

/// The `Cookie` field made of cookies (RFC 6265bis §5.8.3, steps 4 and 6).
enum CookieHeader {
  /// The cookies' pairs, in the order given, as many as fit.
  ///
  /// - Parameters:
  ///   - cookies: the cookies.
  ///   - limit: the bytes that the whole line `Cookie: …` may have; a cookie that no longer fits is left out.
  /// - Returns: the field's value; nil when there is nothing to send.
  static func value(of cookies: some Sequence<Cookie>, limit: Int) -> String? {
    var text = ""
    var room = max(0, limit) - "Cookie: ".utf8.count
    for cookie in cookies {
      let separator = text.isEmpty ? "" : "; "
      let equals = cookie.name.isEmpty ? "" : "="
      let size = separator.utf8.count + cookie.name.utf8.count + equals.utf8.count + cookie.value.utf8.count
      guard size <= room else { continue }
      room -= size
      text += separator
      text += cookie.name
      text += equals
      text += cookie.value
    }
    return text.isEmpty ? nil : text
  }
}
