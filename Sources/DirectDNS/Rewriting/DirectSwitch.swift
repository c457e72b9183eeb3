// SPDX-License-Identifier: Apache-2.0
/// Whether requests go straight to the addresses that this library finds: it can be turned off for all names or for
/// some.
///
/// Off means that a request is sent as it would be without this library: only the system's DNS looks up its name,
/// without providers and cache, and it is not rewritten. What the ``AddressPolicy`` of a ``DirectClient`` forbids stays
/// forbidden.
public enum DirectSwitch: Hashable, Sendable {
  /// All requests go direct.
  case on
  /// No request goes direct.
  case off
  /// All requests go direct, except to these names and all names below them.
  case offUnder([HostName])

  /// Whether requests to a host go direct.
  ///
  /// `example.com` covers `example.com` and `www.example.com`, and not `badexample.com`; one final dot of the host does
  /// not matter. A URL with an address is always sent there.
  public func isOn(for host: WebURL.Host) -> Bool {
    if case .address = host { true } else { isOn { host.hasSuffix($0) } }
  }

  /// Whether requests to a name go direct.
  public func isOn(for name: HostName) -> Bool { isOn { name.hasSuffix($0) } }

  private func isOn(_ liesUnder: (HostName) -> Bool) -> Bool {
    switch self {
    case .on: true
    case .off: false
    case .offUnder(let suffixes): !suffixes.contains(where: liesUnder)
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
