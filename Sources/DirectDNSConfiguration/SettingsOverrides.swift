// SPDX-License-Identifier: Apache-2.0
package import DirectDNS

/// What is laid over file and environment: the options of a command line.
package struct SettingsOverrides: Sendable {
  /// How errors call these providers.
  static let providerOrigin = "--provider"
  /// How errors call these addresses.
  static let bootstrapOrigin = "--bootstrap"

  /// How errors call that store.
  static let storeOrigin = "--store"

  var providers: [String]
  /// Of those providers that were given as a server, what that was: a configured provider may be called so.
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
