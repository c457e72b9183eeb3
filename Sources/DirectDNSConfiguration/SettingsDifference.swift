// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The difference between two configurations: a pure function of both, for people who read logs.
///
/// It contains no secret: for credentials, and for parts of a URL that may be secret, it says only that they changed.
public struct SettingsDifference: Sendable, Hashable, CustomStringConvertible {
  /// The changes, such as `direct: on → off` or `providers: +quad9 -google`.
  public let changes: [String]

  /// Compares two configurations.
  public init(from old: DirectSettings, to new: DirectSettings) {
    var list = ChangeList()
    list.value("direct", old.direct, new.direct)
    list.providers(old.entries, new.entries)
    // What the program itself changed.
    if old.entries == new.entries { list.adjusted(old.resolver.providers, new.resolver.providers) }
    list.pins(old.resolver.localZones.pins, new.resolver.localZones.pins)
    list.members("localZones", old.resolver.localZones.suffixes, new.resolver.localZones.suffixes)
    list.members("keepAlive", old.resolver.keepAlive.sorted(), new.resolver.keepAlive.sorted())
    list.value("system", old.resolver.usesSystemDNS ? "on" : "off", new.resolver.usesSystemDNS ? "on" : "off")
    list.value("system.servers", old.systemServers ?? "resolv.conf", new.systemServers ?? "resolv.conf")
    list.value("timeout", old.resolver.timeout, new.resolver.timeout)
    list.value("hedging", old.resolver.hedges, new.resolver.hedges)
    list.value(
      "connectionsPerServer", old.resolver.connectionsPerServer, new.resolver.connectionsPerServer)
    list.value("families", old.resolver.families, new.resolver.families)
    list.value("expired", old.lookup.expired.rawValue, new.lookup.expired.rawValue)
    list.cache(old.resolver.cache, new.resolver.cache)
    list.policy(old.addressPolicy, new.addressPolicy)
    list.upstream(old.proxy.upstream, new.proxy.upstream)
    list.members("proxy.routes", old.proxy.routes.rules, new.proxy.routes.rules)
    list.members("ca", old.resolver.trust.privateAuthorities, new.resolver.trust.privateAuthorities)
    list.value("store", Self.text(old.store?.place), Self.text(new.store?.place), isLive: false)
    list.value("capacity", old.resolver.capacity, new.resolver.capacity, isLive: false)
    changes = list.changes.map(\.printable)
  }

  /// A server's URL may hold a password.
  private static func text(_ place: StorePlace?) -> String {
    switch place {
    case nil, .memory?: "memory"
    case .file(let path)?: path ?? "sqlite"
    case .server?: "a server"
    }
  }

  /// Whether there is no difference.
  public var isEmpty: Bool { changes.isEmpty }

  /// The changes in one line.
  public var description: String { changes.isEmpty ? "no change" : changes.joined(separator: "; ") }
}

/// Changes as they are found.
private struct ChangeList {
  private(set) var changes: [String] = []

  mutating func value<Value: Equatable>(_ key: String, _ old: Value, _ new: Value, isLive: Bool = true) {
    guard old != new else { return }
    changes.append("\(key): \(old) → \(new)\(isLive ? "" : " (from the next start on)")")
  }

  /// The added and the removed members; if there are none, the new order.
  mutating func members<Member: Hashable & CustomStringConvertible>(_ key: String, _ old: [Member], _ new: [Member]) {
    guard old != new else { return }
    let parts =
      Self.some(Self.surplus(of: new, over: old).map { "+\($0)" })
      + Self.some(Self.surplus(of: old, over: new).map { "-\($0)" })
    let text = parts.isEmpty ? Self.some(new.map(\.description)).joined(separator: ", ") : parts.joined(separator: " ")
    changes.append("\(key): \(text)")
  }

  /// The members of a list that another one does not have, or not as often.
  private static func surplus<Member: Hashable>(of list: [Member], over other: [Member]) -> [Member] {
    var counts = Dictionary(other.map { ($0, 1) }, uniquingKeysWith: +)
    return list.filter { member in
      guard let count = counts[member], count > 0 else { return true }
      counts[member] = count - 1
      return false
    }
  }

  /// A log line must not list thousands of names.
  private static func some(_ texts: [String]) -> [String] {
    let limit = 20
    return texts.count <= limit ? texts : texts.prefix(limit) + ["and \(texts.count - limit) more"]
  }

  mutating func providers(_ old: [ProviderEntry], _ new: [ProviderEntry]) {
    members("providers", old.map(\.label), new.map(\.label))
    for (before, entry) in Self.pairs(old, new, by: \.label) where before != entry {
      let key = "providers.\(entry.label)"
      if before.text != entry.text { changes.append("\(key): URL changed") }
      if before.credentials != entry.credentials { changes.append("\(key): credentials changed") }
      value("\(key).bootstrap", Self.addresses(before.bootstrap), Self.addresses(entry.bootstrap))
      value("\(key).rateLimit", Self.rate(before.rateLimit), Self.rate(entry.rateLimit))
      value("\(key).clientSubnet", Self.text(before.clientSubnet), Self.text(entry.clientSubnet))
      value("\(key).plainHTTP", before.plainHTTP, entry.plainHTTP)
    }
  }

  /// The same for providers that are there without an entry, whose requests are compared but not shown, since they may
  /// contain a secret.
  mutating func adjusted(_ old: [ProviderConfiguration], _ new: [ProviderConfiguration]) {
    members("providers", old.map(\.provider.name), new.map(\.provider.name))
    for (before, now) in Self.pairs(old, new, by: \.provider.name) {
      let key = "providers.\(now.provider.name)"
      if before.provider.url != now.provider.url {
        changes.append("\(key): URL changed")
      } else if Self.request(of: before) != Self.request(of: now) {
        changes.append("\(key): request changed")
      }
      value("\(key).bootstrap", Self.addresses(before.bootstrap), Self.addresses(now.bootstrap))
      value("\(key).rateLimit", Self.rate(before.rateLimit), Self.rate(now.rateLimit))
    }
  }

  /// The request of a provider for a fixed name at a fixed time.
  private static func request(of configuration: ProviderConfiguration) -> [String] {
    guard let host = try? HostName("www.example.com") else { return [] }
    let message = configuration.provider.request(for: AddressQuestion(host, .ipv4), at: 0)
    return [message.url, "\(message.body ?? [])"]
  }

  /// Pairs the n-th of a name with the n-th of the same name, since one host may have several providers.
  private static func pairs<Member>(
    _ old: [Member], _ new: [Member], by name: (Member) -> String
  ) -> [(old: Member, new: Member)] {
    var rest = Dictionary(grouping: old, by: name).mapValues { $0[...] }
    return new.compactMap { member in rest[name(member)]?.popFirst().map { (old: $0, new: member) } }
  }

  mutating func pins(_ old: [HostName: [IPAddress]], _ new: [HostName: [IPAddress]]) {
    var lines: [String] = []
    for name in Set(old.keys).union(new.keys).sorted() where old[name] != new[name] {
      switch (old[name], new[name]) {
      case (nil, let added?): lines.append("+\(name) \(Self.addresses(added))")
      case (_?, nil): lines.append("-\(name)")
      case (let before, let after): lines.append("\(name) \(Self.addresses(before)) → \(Self.addresses(after))")
      }
    }
    if !lines.isEmpty { changes.append("pins: \(Self.some(lines).joined(separator: ", "))") }
  }

  mutating func cache(_ old: CachePolicy, _ new: CachePolicy) {
    for (key, property) in CachePolicy.times {
      value("cache.\(key.rawValue)", old[keyPath: property], new[keyPath: property])
    }
    value(
      "cache.negativeTTLWithoutSOA", Self.text(old.negativeTTLWithoutSOA), Self.text(new.negativeTTLWithoutSOA))
    value("cache.refreshesAhead", old.refreshesAhead, new.refreshesAhead)
  }

  mutating func policy(_ old: AddressPolicy, _ new: AddressPolicy) {
    value("addressPolicy.base", Self.text(old.base), Self.text(new.base))
    for (key, networks, suffixes) in [
      ("allow", \AddressPolicy.allowedNetworks, \AddressPolicy.allowedSuffixes),
      ("deny", \.deniedNetworks, \.deniedSuffixes),
    ] {
      members(
        "addressPolicy.\(key)", old[keyPath: networks].map(\.description) + old[keyPath: suffixes].map(\.text),
        new[keyPath: networks].map(\.description) + new[keyPath: suffixes].map(\.text))
    }
    members("addressPolicy.nat64", old.nat64Prefixes.map(\.description), new.nat64Prefixes.map(\.description))
  }

  /// Of the credentials it says only that they changed.
  mutating func upstream(_ old: UpstreamProxy?, _ new: UpstreamProxy?) {
    guard old != new else { return }
    let (before, after) = (Self.text(old), Self.text(new))
    value("proxy.upstream", before, before == after ? "\(after), credentials or options changed" : after)
  }

  // MARK: Values as text

  private static func addresses(_ addresses: [IPAddress]?) -> String {
    addresses.map { $0.map(\.description).joined(separator: " ") } ?? "its own"
  }

  private static func rate(_ limit: RateLimit?) -> String {
    limit.map { "\($0.perSecond)/s, \($0.burst) at once" } ?? "its own"
  }

  private static func text(_ value: (some CustomStringConvertible)?) -> String { value?.description ?? "none" }

  private static func text(_ base: AddressPolicy.Base) -> String {
    switch base {
    case .publicOnly: "publicOnly"
    case .any: "any"
    case .networks(let networks): networks.map(\.description).joined(separator: " ")
    }
  }
}

extension ProviderEntry {
  /// The provider's name in answers; of a URL only the host, since the rest may be a key.
  fileprivate var label: String {
    if let name { return name }
    guard let plus = text.firstIndex(of: "+"), let url = try? WebURL(String(text[text.index(after: plus)...])) else {
      return text
    }
    return "\(url.host)"
  }
}
