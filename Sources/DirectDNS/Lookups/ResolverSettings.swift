// SPDX-License-Identifier: Apache-2.0
/// What a resolver goes by at the moment: whoever needs it reads it as a whole, and an update puts another in its place.
final class ResolverSettings: Sendable {
  let configuration: ResolverConfiguration
  /// The system's DNS; nil where it is off.
  let system: (any SystemSource)?
  /// The system's DNS, be it off.
  let systemSource: any SystemSource

  init(_ configuration: ResolverConfiguration, system: any SystemSource) {
    self.configuration = configuration
    self.system = configuration.usesSystemDNS ? system : nil
    systemSource = system
  }
}
