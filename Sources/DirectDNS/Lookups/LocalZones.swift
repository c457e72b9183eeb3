// SPDX-License-Identifier: Apache-2.0
/// Where a name is looked up, decided from its spelling alone.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum NameRoute: Sendable, Hashable {
  /// Nowhere: its addresses are configured.
  case pinned([IPAddress])
  /// Nowhere: it is this machine (RFC 6761 §6.3).
  case loopback
  /// Nowhere: it never exists (`*.invalid`, RFC 6761 §6.4).
  case neverExists
  /// Nowhere: it must not be looked up (`*.onion`, RFC 7686).
  case refused
  /// By the system's DNS, and never by a public provider: the name has a meaning on this network only.
  case system
  /// By the public providers.
  case providers
}

extension DirectDNSError {
  static func neverExists(_ name: String) -> DirectDNSError {
    DirectDNSError(.nameNotFound, "\(name) does not exist: .invalid never does (RFC 6761).")
  }

  static func needsSystem(_ name: String) -> DirectDNSError {
    DirectDNSError(
      .refused,
      "\(name) belongs to this network, so that only the system's DNS could be asked, and that is off. Allow it (configuration file: system; dnsctl: no --no-system, DIRECTDNS_SYSTEM=true), or pin the name's addresses."
    )
  }

  static func isOnion(_ name: String) -> DirectDNSError {
    DirectDNSError(.refused, "\(name) is not looked up: .onion names never go to DNS (RFC 7686). Use a Tor client.")
  }
}

/// The names that no public provider is asked about.
public struct LocalZones: Sendable, Hashable {
  /// Fixed addresses per name, like a hosts file.
  ///
  /// They take precedence over everything else, and a name with an empty list has no address (`noAddress`). Each family
  /// is tried in the order that stands here, but for addresses that have failed or were slower, which are put behind as
  /// those of any other name are. A provider whose host is pinned is reached at these addresses, unless it has a
  /// ``ProviderConfiguration/bootstrap`` of its own.
  public var pins: [HostName: [IPAddress]]
  /// Further suffixes; names that end in one are looked up by the system's DNS only.
  public var suffixes: [HostName]

  /// Creates local zones.
  public init(pins: [HostName: [IPAddress]] = [:], suffixes: [HostName] = []) {
    self.pins = pins
    self.suffixes = suffixes
  }

  // RFC 6761, and the names that the hosts files of common systems have for this machine.
  private static let loopbackNames = names("localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback")
  private static let localhost = HostName(canonical: "localhost")
  private static let invalid = HostName(canonical: "invalid")
  private static let arpa = HostName(canonical: "arpa")
  private static let onion = HostName(canonical: "onion")
  // RFC 6762 (mDNS), RFC 8375 (home networks), and ICANN's reservation for private use.
  private static let builtIn = names("local", "internal", "home.arpa")

  private static func names(_ texts: String...) -> [HostName] { texts.map(HostName.init(canonical:)) }

  /// Where a name is looked up.
  public func route(for host: HostName) -> NameRoute {
    if let addresses = pins[host] { return .pinned(addresses) }
    if host.hasSuffix(Self.localhost) || Self.loopbackNames.contains(host) { return .loopback }
    if host.hasSuffix(Self.invalid) { return .neverExists }
    if host.hasSuffix(Self.onion) { return .refused }
    if host.isSingleLabel || Self.builtIn.contains(where: host.hasSuffix) || suffixes.contains(where: host.hasSuffix) {
      return .system
    }
    // Only for the few reverse names is the long list searched.
    if host.hasSuffix(Self.arpa), LocalReverseZones.contain(host) { return .system }
    return .providers
  }

  /// Where records of a name are looked up.
  func route(for name: DNSName) -> NameRoute {
    switch name.routed.map({ route(for: $0) }) ?? .providers {
    // Its host name may have a dot, or none stand for it.
    case .providers where name.labels.count == 1: .system
    case let route: route
    }
  }
}

extension DNSName {
  /// The host name that decides who may be asked; nil for the root, and for a name that ends like an address.
  ///
  /// A label that no host has is replaced by what a host name would make of it alone, or by a letter: if the whole were
  /// none for its sake, a local name would go to a public provider.
  fileprivate var routed: HostName? {
    if let hostName { return hostName }
    // In ASCII it may be too long for a name.
    return replacingLabels { (try? HostName($0))?.text ?? "x" } ?? replacingLabels { _ in "x" }
  }

  private func replacingLabels(by replacement: (String) -> String) -> HostName? {
    let texts = labels.map { label in
      let text = String(decoding: label, as: UTF8.self)
      return label.allSatisfy(HostName.isNameByte) ? text : replacement(text)
    }
    return try? HostName(texts.joined(separator: "."))
  }
}

/// The reverse names of private and local addresses (RFC 6303 §4, RFC 7793): they have a meaning on this network only,
/// and no public server should learn of them.
///
/// RFC 6303 also lists the addresses for documentation, which are left out: a query for them gives nothing away.
enum LocalReverseZones {
  private static let zones: [HostName] =
    (["0", "10", "127", "254.169", "168.192", "255.255.255.255"] + (16...31).map { "\($0).172" }
    + (64...127).map { "\($0).100" }).map {
      HostName(canonical: $0 + ".in-addr.arpa")
    }
    + (["d.f", "8.e.f", "9.e.f", "a.e.f", "b.e.f"].map { HostName(canonical: $0 + ".ip6.arpa") })
    // IPv4-mapped addresses (::ffff:0:0/96): no server has their names.
    + [HostName(canonical: "f.f.f.f." + String(repeating: "0.", count: 20) + "ip6.arpa")]
    + [IPAddress.ipv6(high: 0, low: 1), .ipv6(high: 0, low: 0)].compactMap { DNSName(reverse: $0).hostName }

  static func contain(_ name: HostName) -> Bool { zones.contains(where: name.hasSuffix) }
}
