internal import ArgumentParser
internal import DirectDNS

/// The options that say which addresses may be connected to.
struct PolicyOptions: ParsableArguments {
  @Option(
    name: .customLong("address-policy"),
    help: ArgumentHelp(
      "Which addresses may be connected to: publicOnly, any, or networks with commas between them. (default: publicOnly)",
      valueName: "policy"),
    completion: .list(["publicOnly", "any"]),
    transform: { text in try OptionFault.shown { () throws(OptionFault) in try PolicyRule.base(text) } })
  var base: AddressPolicy.Base?

  @Option(
    name: .customLong("allow"),
    help: ArgumentHelp(
      "A network or an address that may be used besides, or a name whose hosts may have any address.",
      valueName: "cidr|name"),
    transform: { text in try OptionFault.shown { () throws(OptionFault) in try PolicyRule(text) } })
  var allowed: [PolicyRule] = []

  @Option(
    name: .customLong("deny"),
    help: ArgumentHelp(
      "A network or an address that may not be used, or a name that nothing is sent to; wins over --allow.",
      valueName: "cidr|name"),
    transform: { text in try OptionFault.shown { () throws(OptionFault) in try PolicyRule(text) } })
  var denied: [PolicyRule] = []

  /// The configuration file's policy with these options: a base replaces its own, lists are added to.
  func policy(over configured: AddressPolicy) -> AddressPolicy {
    var policy = configured
    if let base { policy.base = base }
    for rule in allowed { rule.add(to: &policy, \.allowedNetworks, \.allowedSuffixes) }
    for rule in denied { rule.add(to: &policy, \.deniedNetworks, \.deniedSuffixes) }
    return policy
  }
}

/// An entry of an allow or deny list.
enum PolicyRule: Sendable, Hashable {
  case network(IPNetwork)
  case suffix(HostName)

  /// Reads a network, an address or a name.
  init(_ text: String) throws(OptionFault) {
    if let network = try Self.network(text) {
      self = .network(network)
      return
    }
    guard !text.contains("/") else {
      throw OptionFault(description: "\"\(text.printable)\" is no network. Write 10.0.0.0/8 or 2001:db8::/32.")
    }
    do {
      // A leading dot is how some tools write "and everything below"; here that is always meant.
      self = .suffix(try HostName(text.hasPrefix(".") ? String(text.dropFirst()) : text))
    } catch {
      throw OptionFault(
        description: "\"\(text.printable)\" is no network, no address and no name: \(error.message).")
    }
  }

  /// `publicOnly`, `any`, or networks.
  static func base(_ text: String) throws(OptionFault) -> AddressPolicy.Base {
    switch text {
    case "publicOnly": return .publicOnly
    case "any": return .any
    default:
      var networks: [IPNetwork] = []
      for part in text.split(separator: ",", omittingEmptySubsequences: false) {
        guard let network = try Self.network(String(part)) else {
          throw OptionFault(
            description:
              "\"\(String(part).printable)\" is no address policy. Write publicOnly, any, or networks such as 10.0.0.0/8,192.168.0.0/16."
          )
        }
        networks.append(network)
      }
      return .networks(networks)
    }
  }

  func add(
    to policy: inout AddressPolicy, _ networks: WritableKeyPath<AddressPolicy, [IPNetwork]>,
    _ suffixes: WritableKeyPath<AddressPolicy, [HostName]>
  ) {
    switch self {
    case .network(let network): policy[keyPath: networks].append(network)
    case .suffix(let suffix): policy[keyPath: suffixes].append(suffix)
    }
  }

  /// A network or an address; nothing for any other text.
  private static func network(_ text: String) throws(OptionFault) -> IPNetwork? {
    guard let network = IPNetwork(text) else { return IPAddress.written(text).map { IPNetwork($0) } }
    // 10.1.2.3/8 could mean the host or the network, and the one is 16 million times the other.
    guard IPAddress(String(text.prefix { $0 != "/" })) == network.address else {
      throw OptionFault(
        description: "\"\(text.printable)\" has bits beyond its prefix. Write \(network), or the address alone.")
    }
    return network
  }
}
