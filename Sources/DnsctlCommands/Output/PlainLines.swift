// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Lines of a hosts file (hosts(5)): an address and a name.
enum HostsFile {
  /// The lines of one name, as DNS spells it; none for an address.
  static func lines(_ host: String, _ addresses: some Sequence<IPAddress>) -> String {
    guard let name = try? HostName(host) else { return "" }
    return addresses.map { "\($0) \(name.text)\n" }.joined()
  }
}

/// Lines of values separated by tabs, which no value contains.
enum TabSeparated {
  /// The lines of one name's addresses: name, type, TTL in seconds (empty if it does not expire), address, freshness,
  /// and the provider or other source.
  static func lines(_ host: String, _ resolution: Resolution) -> String {
    resolution.addresses.map { address in
      line([
        host, "\(DNSRecordType(address.family))", resolution.timeToLive.map { "\($0.components.seconds)" } ?? "",
        "\(address)", resolution.freshness.rawValue, resolution.source.provider ?? resolution.source.kind,
      ])
    }.joined()
  }

  static func line(_ values: [String]) -> String { values.map(\.printable).joined(separator: "\t") + "\n" }
}
