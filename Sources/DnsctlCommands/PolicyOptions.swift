// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
package import DirectDNS
internal import DirectDNSConfiguration

/// The options that say which addresses may be connected to.
package struct PolicyOptions: ParsableArguments {
  package init() {}

  @Option(
    name: .customLong("address-policy"),
    help: ArgumentHelp(
      "Which addresses may be connected to: publicOnly, any, or networks with commas between them. (default: publicOnly)",
      valueName: "policy"),
    completion: .list(["publicOnly", "any"]),
    transform: { text in try ConfigurationFault.shown { () throws(ConfigurationFault) in try PolicyRule.base(text) } })
  var base: AddressPolicy.Base?

  @Option(
    name: .customLong("allow"),
    help: ArgumentHelp(
      "Another network or address that may be used, or a name whose hosts may have any address; may be given again.",
      valueName: "cidr|name"),
    transform: { text in try ConfigurationFault.shown { () throws(ConfigurationFault) in try PolicyRule(text) } })
  var allowed: [PolicyRule] = []

  @Option(
    name: .customLong("deny"),
    help: ArgumentHelp(
      "A network or an address that may not be used, or a name that nothing is sent to; may be given again, and wins over --allow.",
      valueName: "cidr|name"),
    transform: { text in try ConfigurationFault.shown { () throws(ConfigurationFault) in try PolicyRule(text) } })
  var denied: [PolicyRule] = []

  /// The configuration file's policy with these options: a base replaces the file's, lists are added to.
  package func policy(over configured: AddressPolicy) -> AddressPolicy {
    var policy = configured
    if let base { policy.base = base }
    for rule in allowed { rule.add(to: &policy, \.allowedNetworks, \.allowedSuffixes) }
    for rule in denied { rule.add(to: &policy, \.deniedNetworks, \.deniedSuffixes) }
    return policy
  }
}
