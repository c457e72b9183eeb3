// SPDX-License-Identifier: Apache-2.0
/// Whether requests go straight to the addresses that this library finds: the switch that turns it off, for all names or
/// for some, when it is in the way.
///
/// Off means that a request goes the way it would go without this library: its name is looked up by the system's DNS
/// alone, past providers and cache, and nothing of it is rewritten. What the ``AddressPolicy`` of a ``DirectClient``
/// forbids stays forbidden.
public enum DirectSwitch: Hashable, Sendable {
  /// All requests go direct.
  case on
  /// None does.
  case off
  /// All do but those to these names and to every name below them.
  case offUnder([HostName])

  /// Whether requests to a host go direct.
  ///
  /// `example.com` covers `example.com` and `www.example.com`, and not `badexample.com`; one final dot of the host does
  /// not matter. A URL with an address is always sent there.
  public func isOn(for host: WebURL.Host) -> Bool {
    guard case .name = host else { return true }
    return switch self {
    case .on: true
    case .off: false
    case .offUnder(let suffixes): !suffixes.contains { host.hasSuffix($0) }
    }
  }

  /// Whether requests to a name go direct.
  public func isOn(for name: HostName) -> Bool {
    switch self {
    case .on: true
    case .off: false
    case .offUnder(let suffixes): !suffixes.contains { name.hasSuffix($0) }
    }
  }
}

extension DirectSwitch: CustomStringConvertible {
  /// `on`, `off`, or `off for a.example, b.example`.
  public var description: String {
    switch self {
    case .on: "on"
    case .off: "off"
    case .offUnder(let suffixes): suffixes.isEmpty ? "on" : "off for \(suffixes.map(\.text).joined(separator: ", "))"
    }
  }
}
