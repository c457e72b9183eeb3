// SPDX-License-Identifier: Apache-2.0
package import DirectDNS

/// The options of a command line, which override file and environment.
package struct SettingsOverrides: Sendable {
  /// The name of these providers in errors.
  static let providerOrigin = "--provider"
  /// The name of those that were given as a server among the arguments.
  static let serverOrigin = "@SERVER"
  /// The name of these addresses in errors.
  static let bootstrapOrigin = "--bootstrap"

  /// The name of that store in errors.
  static let storeOrigin = "--store"

  var providers: [String]
  /// The text of providers that were given as a server, by provider: it may be the name of a configured one.
  var servers: [String: String]
  var bootstraps: [BootstrapAddress]
  var authorities: [String]
  var families: AddressFamilies?
  var expired: ExpiredUse?
  var usesSystemDNS: Bool?
  var timeout: Duration?
  var store: String?
  var connections: Int?

  package init(
    providers: [String] = [], servers: [String: String] = [:], bootstraps: [BootstrapAddress] = [],
    authorities: [String] = [],
    families: AddressFamilies? = nil, expired: ExpiredUse? = nil, usesSystemDNS: Bool? = nil, timeout: Duration? = nil,
    store: String? = nil, connections: Int? = nil
  ) {
    self.providers = providers
    self.servers = servers
    self.bootstraps = bootstraps
    self.authorities = authorities
    self.families = families
    self.expired = expired
    self.usesSystemDNS = usesSystemDNS
    self.timeout = timeout
    self.store = store
    self.connections = connections
  }
}
