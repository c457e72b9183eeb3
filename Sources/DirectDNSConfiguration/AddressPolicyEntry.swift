// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The address policy of the configuration file.
extension AddressPolicy {
  enum Key: String, ConfigurationKey { case base, allow, deny, nat64 }

  /// `publicOnly`, `any`, or an object with a base, lists of networks and names, and NAT64 prefixes.
  init(_ node: ConfigurationNode) throws(ConfigurationFault) {
    let expectation = "Give \"publicOnly\", \"any\", or an object with base, allow, deny and nat64."
    if case .text = node.value {
      self.init(try Self.base(node, expectation))
      return
    }
    let object = try node.object(Key.self, expectation)
    self.init(
      try object[.base].map { node throws(ConfigurationFault) in
        try Self.base(node, "Give \"publicOnly\", \"any\", or a list of networks.")
      } ?? .publicOnly)
    for rule in try Self.rules(object[.allow]) { rule.add(to: &self, \.allowedNetworks, \.allowedSuffixes) }
    for rule in try Self.rules(object[.deny]) { rule.add(to: &self, \.deniedNetworks, \.deniedSuffixes) }
    nat64Prefixes = try (object[.nat64]?.list("Give a list of NAT64 prefixes.") ?? []).map {
      node throws(ConfigurationFault) in
      let expectation = "Give a NAT64 prefix such as 2001:db8:64::/96."
      guard let network = IPNetwork(try node.text(expectation)) else { throw node.fault(expectation) }
      do throws(DirectDNSError) { return try NAT64Prefix(network) } catch {
        throw node.fault("\(expectation) \(error.message)")
      }
    }
  }

  private static func base(_ node: ConfigurationNode, _ expectation: String) throws(ConfigurationFault) -> Base {
    switch node.value {
    case .text("publicOnly"): return .publicOnly
    case .text("any"): return .any
    case .list:
      return .networks(
        try node.list(expectation).map { node throws(ConfigurationFault) in
          guard case .network(let network) = try rule(node) else {
            throw node.fault("Give a network such as 10.0.0.0/8.")
          }
          return network
        })
    default: throw node.fault(expectation)
    }
  }

  private static func rules(_ node: ConfigurationNode?) throws(ConfigurationFault) -> [PolicyRule] {
    try (node?.list("Give a list of networks and names.") ?? []).map { node throws(ConfigurationFault) in
      try rule(node)
    }
  }

  private static func rule(_ node: ConfigurationNode) throws(ConfigurationFault) -> PolicyRule {
    let expectation = "Give a network, an address or a name."
    let text = try node.text(expectation)
    do throws(ConfigurationFault) { return try PolicyRule(text) } catch {
      throw node.fault("\(expectation) \(error.message)")
    }
  }
}
