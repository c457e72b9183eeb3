// SPDX-License-Identifier: Apache-2.0
/// Which addresses a request may be sent to.
///
/// A name says nothing about where it leads: anybody may point a name of theirs at a machine behind the firewall, at a
/// cloud's metadata service or at this machine. So the policy judges the address, wherever it came from.
///
/// The first of these that contains the host or the address decides: ``deniedSuffixes``, ``deniedNetworks``,
/// ``allowedSuffixes``, ``allowedNetworks``, and then ``base``. An IPv4-mapped address and one under a NAT64 prefix
/// stand for the IPv4 address inside: the networks apply to both, and ``base`` judges the one inside. The unspecified
/// address (`0.0.0.0`, `::`) reaches this machine and is judged as its loopback address (`127.0.0.1`, `::1`), also if
/// it is inside another address; a denied network counts if it contains either.
///
/// Judging takes tens of nanoseconds, and allocates nothing for an address that may be used; the lists are searched one
/// by one.
public struct AddressPolicy: Hashable, Sendable {
  /// The rule for addresses that are in none of the lists.
  public enum Base: Hashable, Sendable {
    /// Public addresses: what IANA's special-purpose registries call globally reachable, for IPv6 within 2000::/3.
    case publicOnly
    /// Any address.
    case any
    /// Addresses of these networks, and no others.
    case networks([IPNetwork])
  }

  /// The rule for addresses that are in none of the lists.
  ///
  /// Default: ``Base/publicOnly``.
  public var base: Base
  /// Further networks that may be used, such as a company's own; none by default.
  public var allowedNetworks: [IPNetwork]
  /// Networks that may never be used; none by default.
  public var deniedNetworks: [IPNetwork]
  /// Names that may have any address but a denied one, as may all names below them; none by default.
  public var allowedSuffixes: [HostName]
  /// Names that nothing may be sent to, nor to names below them; none by default.
  public var deniedSuffixes: [HostName]
  /// The network's own NAT64 prefixes; none by default.
  ///
  /// ``NAT64Prefix/wellKnown`` always counts.
  public var nat64Prefixes: [NAT64Prefix]

  /// Creates a policy.
  public init(
    _ base: Base = .publicOnly, allowedNetworks: [IPNetwork] = [], deniedNetworks: [IPNetwork] = [],
    allowedSuffixes: [HostName] = [], deniedSuffixes: [HostName] = [], nat64Prefixes: [NAT64Prefix] = []
  ) {
    self.base = base
    self.allowedNetworks = allowedNetworks
    self.deniedNetworks = deniedNetworks
    self.allowedSuffixes = allowedSuffixes
    self.deniedSuffixes = deniedSuffixes
    self.nat64Prefixes = nat64Prefixes
  }

  /// Public addresses and no others.
  public static let publicOnly = AddressPolicy(.publicOnly)
  /// Any address.
  public static let any = AddressPolicy(.any)

  /// Says why an address may not be connected to.
  ///
  /// - Parameters:
  ///   - address: the address to connect to.
  ///   - host: the host that it was found for; without one the lists of suffixes do not apply.
  /// - Returns: the reason; nil when the address may be connected to.
  public func objection(to address: IPAddress, host: WebURL.Host? = nil) -> Objection? {
    func objection(_ cause: Objection.Cause, to judged: IPAddress) -> Objection {
      Objection(address: address, host: host, judgedAddress: judged, cause: cause)
    }
    func denial(of judged: IPAddress) -> Objection? {
      if let network = deniedNetworks.first(where: { $0.covers(judged) }) {
        return objection(.deniedNetwork(network), to: judged)
      }
      return judged.connected == judged ? nil : denial(of: judged.connected)
    }

    if let host, let suffix = denyingSuffix(of: host) { return objection(.deniedSuffix(suffix), to: address) }
    if let denial = denial(of: address) { return denial }
    let embedded = EmbeddedIPv4(in: address, prefixes: nat64Prefixes)
    for ipv4 in embedded {
      if let denial = denial(of: ipv4) { return denial }
    }

    if let host, allowedSuffixes.contains(where: { host.hasSuffix($0) }) { return nil }
    if isListed(address.connected) { return nil }
    var standsForIPv4 = false
    for inner in embedded {
      standsForIPv4 = true
      let ipv4 = inner.connected
      if !isListed(ipv4), let cause = baseObjection(to: ipv4) { return objection(cause, to: ipv4) }
    }
    guard !standsForIPv4 else { return nil }
    return baseObjection(to: address.connected).map { objection($0, to: address.connected) }
  }

  /// Drops the addresses that may not be connected to.
  ///
  /// - Parameters:
  ///   - addresses: the addresses of the host; for none, the result is empty.
  ///   - host: the host that they were found for.
  /// - Returns: the others, in their order.
  /// - Throws: an error of code ``DirectDNSError/Code/addressForbidden`` when all of them are forbidden. It has the
  ///   reason for the first one.
  public func allowed(
    _ addresses: some Sequence<IPAddress>, for host: WebURL.Host
  ) throws(DirectDNSError) -> [IPAddress] {
    var allowed: [IPAddress] = []
    var objections: [Objection] = []
    for address in addresses {
      if let objection = objection(to: address, host: host) {
        objections.append(objection)
      } else {
        allowed.append(address)
      }
    }
    guard allowed.isEmpty, let first = objections.first else { return allowed }
    throw DirectDNSError(.addressForbidden, first.message(amongOf: objections.count))
  }

  /// Checks that something may be sent to a host at all, before any of its addresses is known.
  ///
  /// - Parameter host: the host of a URL or of a `Host` field.
  /// - Throws: an error of code ``DirectDNSError/Code/addressForbidden`` for a host under ``deniedSuffixes``.
  public func check(_ host: WebURL.Host) throws(DirectDNSError) {
    guard let suffix = denyingSuffix(of: host) else { return }
    throw DirectDNSError(.addressForbidden, Objection.denial(of: host, by: suffix))
  }

  private func denyingSuffix(of host: WebURL.Host) -> HostName? { deniedSuffixes.first { host.hasSuffix($0) } }

  private func isListed(_ address: IPAddress) -> Bool {
    if allowedNetworks.contains(where: { $0.contains(address) }) { return true }
    guard case .networks(let networks) = base else { return false }
    return networks.contains { $0.contains(address) }
  }

  private func baseObjection(to address: IPAddress) -> Objection.Cause? {
    switch base {
    case .publicOnly: SpecialPurposeNetworks.forbidding(address).map(Objection.Cause.specialPurpose)
    case .any: nil
    case .networks(let networks): .outside(networks)
    }
  }
}

extension IPAddress {
  /// The address that a connection goes to: itself, but this machine's loopback address for the unspecified one.
  ///
  /// Linux keeps BSD's rule that a connection to INADDR_ANY is one to loopback (`ip_route_output_key_hash_rcu`,
  /// `tcp_v6_connect`).
  fileprivate var connected: IPAddress {
    guard value == 0 else { return self }
    return .loopback(family)
  }
}

extension IPNetwork {
  /// Whether a denied network contains the address; a network of IPv4-mapped addresses also contains the IPv4 addresses
  /// in them, since both reach the same sockets.
  fileprivate func covers(_ candidate: IPAddress) -> Bool {
    if contains(candidate) { return true }
    guard candidate.family == .ipv4, prefixLength >= 96, address.isIPv4Mapped else { return false }
    return contains(.ipv6(high: 0, low: 0xFFFF << 32 | candidate.low))
  }
}
