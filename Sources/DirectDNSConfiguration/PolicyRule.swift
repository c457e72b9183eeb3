// SPDX-License-Identifier: Apache-2.0
package import DirectDNS

/// An entry of an allow or deny list.
package enum PolicyRule: Sendable, Hashable {
  case network(IPNetwork)
  case suffix(HostName)

  /// Reads a network, an address or a name.
  package init(_ text: String) throws(ConfigurationFault) {
    if let network = try Self.network(text) {
      self = .network(network)
      return
    }
    guard !text.contains(",") else {
      throw ConfigurationFault("\"\(text.printable)\" has a comma. Give each network, address or name by itself.")
    }
    guard !text.contains("/") else {
      throw ConfigurationFault("\"\(text.printable)\" is not a network. Write 10.0.0.0/8 or 2001:db8::/32.")
    }
    do {
      self = .suffix(try HostName(suffix: text))
    } catch {
      throw ConfigurationFault(
        "\"\(text.printable)\" is neither a network, an address nor a name: \(error.clause).")
    }
  }

  /// `publicOnly`, `any`, or networks.
  package static func base(_ text: String) throws(ConfigurationFault) -> AddressPolicy.Base {
    switch text {
    case "publicOnly": return .publicOnly
    case "any": return .any
    default:
      var networks: [IPNetwork] = []
      for part in text.split(separator: ",", omittingEmptySubsequences: false) {
        guard let network = try Self.network(String(part)) else {
          throw ConfigurationFault(
            "\"\(String(part).printable)\" is not an address policy. Write publicOnly, any, or networks such as 10.0.0.0/8,192.168.0.0/16."
          )
        }
        networks.append(network)
      }
      return .networks(networks)
    }
  }

  package func add(
    to policy: inout AddressPolicy, _ networks: WritableKeyPath<AddressPolicy, [IPNetwork]>,
    _ suffixes: WritableKeyPath<AddressPolicy, [HostName]>
  ) {
    switch self {
    case .network(let network): policy[keyPath: networks].append(network)
    case .suffix(let suffix): policy[keyPath: suffixes].append(suffix)
    }
  }

  /// A network or an address; nil for any other text.
  private static func network(_ text: String) throws(ConfigurationFault) -> IPNetwork? {
    guard let network = IPNetwork(text) else { return IPAddress.written(text).map { IPNetwork($0) } }
    // 10.1.2.3/8 could mean the host or the network, which is 16 million times as large.
    guard IPAddress(String(text.prefix { $0 != "/" })) == network.address else {
      throw ConfigurationFault(
        "\"\(text.printable)\" has bits beyond its prefix. Write \(network), or the address alone.")
    }
    return network
  }
}
