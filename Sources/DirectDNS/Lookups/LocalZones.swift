// SPDX-License-Identifier: Apache-2.0
/// Where a name is looked up, decided from its spelling alone.
public enum NameRoute: Sendable, Hashable {
  /// The caller's own table has it.
  case pinned([IPAddress])
  /// It is this machine (RFC 6761 §6.3).
  case loopback
  /// It never exists (`*.invalid`, RFC 6761 §6.4).
  case neverExists
  /// It must not be looked up (`*.onion`, RFC 7686).
  case refused
  /// It means something on this network only: the system's DNS, never a public provider.
  case system
  /// Public providers.
  case providers
}

/// The names that stay at home.
public struct LocalZones: Sendable, Hashable {
  /// Fixed addresses per name, like a hosts file.
  ///
  /// They win over everything.
  public var pins: [HostName: [IPAddress]]
  /// Further suffixes whose names go to the system's DNS only.
  public var suffixes: [HostName]

  /// Creates local zones.
  public init(pins: [HostName: [IPAddress]] = [:], suffixes: [HostName] = []) {
    self.pins = pins
    self.suffixes = suffixes
  }

  // RFC 6761 and what hosts files of common systems name so.
  private static let loopbackNames = names("localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback")
  private static let localhost = HostName(canonical: "localhost")
  private static let invalid = HostName(canonical: "invalid")
  private static let arpa = HostName(canonical: "arpa")
  private static let onion = HostName(canonical: "onion")
  // RFC 6762 (mDNS), RFC 8375 (home networks), and ICANN's reservation for private use.
  private static let builtIn = names("local", "internal", "home.arpa")

  private static func names(_ texts: String...) -> [HostName] { texts.map(HostName.init(canonical:)) }

  /// Where a name is looked up.
  public func route(_ host: HostName) -> NameRoute {
    if let addresses = pins[host] { return .pinned(addresses) }
    if host.hasSuffix(Self.localhost) || Self.loopbackNames.contains(host) { return .loopback }
    if host.hasSuffix(Self.invalid) { return .neverExists }
    if host.hasSuffix(Self.onion) { return .refused }
    if host.isSingleLabel || Self.builtIn.contains(where: host.hasSuffix) || suffixes.contains(where: host.hasSuffix) {
      return .system
    }
    // Few names are in reverse: the list is searched for these alone.
    if host.hasSuffix(Self.arpa), LocalReverseZones.contain(host) { return .system }
    return .providers
  }
}
