// SPDX-License-Identifier: Apache-2.0
/// A resolver's present settings: they are read as a whole, and an update replaces them by others.
final class ResolverSettings: Sendable {
  let configuration: ResolverConfiguration
  /// The system's DNS; nil if it is off.
  let system: (any SystemSource)?
  /// The system's DNS, even if it is off.
  let systemSource: any SystemSource
  /// The authorities that the resolver's own transport trusts, by what their files held; nil without such a transport.
  let trust: CurlTrust?

  init(_ configuration: ResolverConfiguration, system: any SystemSource, trust: CurlTrust? = nil) {
    self.configuration = configuration
    self.system = configuration.usesSystemDNS ? system : nil
    systemSource = system
    self.trust = trust
  }

  /// Whether they say the same as others: then whatever has failed would fail again, and nothing is to begin anew.
  ///
  /// Not so where that cannot be told: of a provider or a system's DNS that is neither `Equatable` nor the same object.
  func isSame(as other: ResolverSettings) -> Bool {
    trust == other.trust && isEqual(systemSource, other.systemSource)
      && configuration.isSame(as: other.configuration)
  }
}

extension ResolverConfiguration {
  /// Whether lookups go on by it as by another one; what an update cannot change does not count.
  fileprivate func isSame(as other: Self) -> Bool {
    usesSystemDNS == other.usesSystemDNS && cache == other.cache && keepAlive == other.keepAlive
      && localZones == other.localZones && timeout == other.timeout && hedges == other.hedges
      && connectionsPerServer == other.connectionsPerServer && families == other.families && trust == other.trust
      && providers.elementsEqual(other.providers) { $0.isSame(as: $1) }
  }
}

extension ProviderConfiguration {
  fileprivate func isSame(as other: Self) -> Bool {
    bootstrap == other.bootstrap && rateLimit == other.rateLimit && isEqual(provider, other.provider)
  }
}

/// Whether two values are equal, or one object.
private func isEqual(_ one: Any, _ other: Any) -> Bool {
  if let one = one as? any Equatable { return one.isEqual(to: other) }
  return type(of: one) is AnyClass && (one as AnyObject) === (other as AnyObject)
}

extension Equatable {
  fileprivate func isEqual(to other: Any) -> Bool { (other as? Self) == self }
}
