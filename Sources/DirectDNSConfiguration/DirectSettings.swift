// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

/// The settings that result from a configuration: the defaults, overridden by the file, and that by the environment.
public struct DirectSettings: Sendable {
  /// The resolver's configuration.
  public var resolver: ResolverConfiguration
  /// The options of each lookup.
  public var lookup: LookupOptions
  /// The system's DNS servers in the format of c-ares, for ``SystemDNS``; nil means those of resolv.conf.
  public var systemServers: String?
  /// Which addresses may be connected to.
  public var addressPolicy: AddressPolicy
  /// The names for which requests go direct.
  public var direct: DirectSwitch
  /// Which way names go through `dnsctl proxy`.
  public var proxy: ProxyEntry
  /// The providers as they were configured, with their credentials.
  let entries: [ProviderEntry]
  /// Where answers are stored; nil if nothing is configured, which means memory.
  ///
  /// The caller has to set the resolver's own ``/DirectDNS/ResolverConfiguration/store``: opening one needs SQLite or
  /// Redis, which not every program links.
  public var store: StoreSetting?

  /// Merges the sources: a pure function.
  ///
  /// - Parameters:
  ///   - file: the configuration file.
  ///   - environment: variables, those named `DIRECTDNS_…` and those of trusted certificates; none by default.
  /// - Throws: `invalidConfiguration` with the file and the key's path or the variable, the value and what to do; no
  ///   secret.
  public init(_ file: ConfigurationFile = ConfigurationFile(), environment: [String: String] = [:])
    throws(DirectDNSError)
  {
    do throws(ConfigurationFault) {
      try self.init(file, environment: EnvironmentSettings(environment), overrides: SettingsOverrides())
    } catch {
      throw error.error
    }
  }

  package init(
    _ file: ConfigurationFile, environment: EnvironmentSettings, overrides: SettingsOverrides
  ) throws(ConfigurationFault) {
    var providers: [ProviderConfiguration] = []
    var entries = Self.entries(file, environment, overrides)
    for index in entries.indices {
      entries[index] = entries[index].overridden(by: environment)
      do throws(DirectDNSError) {
        providers.append(try entries[index].configuration())
      } catch {
        throw Self.fault(entries[index], error, in: file, environment)
      }
    }
    Self.tellApart(&providers, of: entries)
    try Self.checkNames(of: providers, entries, in: file, environment)
    try Self.apply(environment.bootstraps, to: &providers, unused: nil)
    try Self.apply(overrides.bootstraps, to: &providers, unused: SettingsOverrides.bootstrapOrigin)

    var trust = TrustStore(
      privateAuthorities: overrides.authorities.isEmpty
        ? environment.authorities ?? file.authorities : overrides.authorities,
      environment: environment.variables)
    if overrides.authorities.isEmpty {
      trust.origins = environment.authorities == nil ? file.authorityOrigins : environment.authorityOrigins
    }
    resolver = ResolverConfiguration(providers: providers, trust: trust)
    resolver.usesSystemDNS = overrides.usesSystemDNS ?? environment.usesSystemDNS ?? file.usesSystemDNS ?? true
    resolver.cache = file.cache
    resolver.keepAlive = file.keepAlive
    resolver.localZones = file.localZones
    if let capacity = file.capacity { resolver.capacity = capacity }
    if let hedges = file.hedges { resolver.hedges = hedges }
    if let connections = overrides.connections ?? file.connectionsPerServer {
      resolver.connectionsPerServer = connections
    }
    if let timeout = overrides.timeout ?? environment.timeout ?? file.timeout { resolver.timeout = timeout }
    if let families = overrides.families ?? environment.families ?? file.families { resolver.families = families }
    lookup = LookupOptions(expired: overrides.expired ?? environment.expired ?? file.expired ?? .allowed)
    addressPolicy = file.addressPolicy
    direct = file.direct
    proxy = file.proxy
    self.entries = entries
    store =
      try overrides.store.map { text throws(ConfigurationFault) in
        try StoreSetting(text, origin: SettingsOverrides.storeOrigin)
      } ?? environment.store ?? file.store
    systemServers = file.systemServers.isEmpty ? nil : file.systemServers.joined(separator: ",")
  }

  /// The providers in the order in which they are asked.
  ///
  /// A provider that an option or a variable names may be one of the file's, with all of its settings there.
  private static func entries(
    _ file: ConfigurationFile, _ environment: EnvironmentSettings, _ overrides: SettingsOverrides
  ) -> [ProviderEntry] {
    let isOverridden = !overrides.providers.isEmpty
    let origin =
      isOverridden ? SettingsOverrides.providerOrigin : EnvironmentSettings.prefix + "PROVIDERS"
    let configured = file.providers ?? []
    guard let named = isOverridden ? overrides.providers : environment.providers else {
      return file.providers
        ?? ResolverConfiguration.defaultProviderNames.map { ProviderEntry($0, origin: "default") }
    }
    return named.map { text in
      let name = overrides.servers[text] ?? text
      return configured.first { $0.name == name } ?? configured.first { $0.text == text }
        ?? configured.first(shownAs: name, environment)
        ?? ProviderEntry(text, origin: overrides.servers[text] == nil ? origin : SettingsOverrides.serverOrigin)
    }
  }

  /// Adds the port to the names of providers with the same host, and a number to those with the same port and to a
  /// preset, from the second on; never the path or the query, which may be a secret.
  ///
  /// A name that was configured stays.
  fileprivate static func tellApart(_ providers: inout [ProviderConfiguration], of entries: [ProviderEntry]) {
    let hosts = providers.map(\.provider.name)
    for index in providers.indices where entries[index].name == nil && hosts.count(where: { $0 == hosts[index] }) > 1 {
      let url = providers[index].provider.url
      rename(&providers[index], from: "\(url.host)", to: "\(url.host):\(url.effectivePort)")
    }
    var seen: [String: Int] = [:]
    for index in providers.indices where entries[index].name == nil {
      let name = providers[index].provider.name
      let number = seen[name, default: 0] + 1
      seen[name] = number
      if number > 1 { rename(&providers[index], from: name, to: "\(name)#\(number)") }
    }
  }

  /// Refuses a name that was configured for one provider and that another one has, or the system's DNS: answers, metrics
  /// and `--provider` could not tell them apart.
  ///
  /// The same entry may be asked for twice.
  private static func checkNames(
    of providers: [ProviderConfiguration], _ entries: [ProviderEntry], in file: ConfigurationFile,
    _ environment: EnvironmentSettings
  ) throws(ConfigurationFault) {
    var owners: [String: ProviderEntry] = [:]
    for (entry, provider) in zip(entries, providers) {
      let name = provider.provider.name
      let isSystems = name == "system"
      let other = owners.updateValue(entry, forKey: name) ?? entry
      guard isSystems || other != entry else { continue }
      let owner = isSystems ? "the system's DNS" : "another provider"
      let text = "Provider \(name): \(owner) has that name, too. Give it a name of its own."
      throw fault(entry, DirectDNSError(.invalidConfiguration, text), in: file, environment)
    }
  }

  /// Renames a provider, if it has that name.
  private static func rename(_ provider: inout ProviderConfiguration, from old: String, to new: String) {
    guard var renamed = provider.provider as? any NameableProvider, renamed.name == old else { return }
    renamed.name = new
    provider.provider = renamed
  }

  private static func fault(
    _ entry: ProviderEntry, _ error: DirectDNSError, in file: ConfigurationFile, _ environment: EnvironmentSettings
  ) -> ConfigurationFault {
    // Whoever names a provider elsewhere may have meant one of the file's.
    let others = entry.isWellFormed ? [] : file.providers ?? []
    let names = others.compactMap { try? $0.overridden(by: environment).configuration().provider.name }
    let known = names.isEmpty ? "" : " The file \(file.name) has \(names.joined(separator: ", "))."
    return switch entry.origin {
    case SettingsOverrides.providerOrigin, SettingsOverrides.serverOrigin:
      ConfigurationFault("\(entry.origin): \(error.message)\(known)", isSyntaxError: !entry.isWellFormed)
    case "default": ConfigurationFault(error.message)
    case let origin where origin.hasPrefix(EnvironmentSettings.prefix):
      ConfigurationFault("\(origin): \(error.message)\(known)")
    case let path: ConfigurationFault("\(file.name): \(path): \(error.message)")
    }
  }

  /// Replaces the addresses of the providers whose URLs have those names.
  private static func apply(
    _ bootstraps: [BootstrapAddress], to providers: inout [ProviderConfiguration], unused option: String?
  ) throws(ConfigurationFault) {
    guard !bootstraps.isEmpty else { return }
    var used: Set<HostName> = []
    for index in providers.indices {
      guard let host = try? HostName(providers[index].provider.url.host) else { continue }
      let addresses = bootstraps.filter { $0.name == host }.map(\.address)
      guard !addresses.isEmpty else { continue }
      providers[index].bootstrap = addresses
      used.insert(host)
    }
    if let option, let unused = bootstraps.first(where: { !used.contains($0.name) }) {
      let hosts = providers.map { "\($0.provider.url.host)" }.joined(separator: ", ")
      throw ConfigurationFault(
        "\(option) \(unused.name)=\(unused.address): no provider's URL has that name. They have: \(hosts).")
    }
  }
}

extension ProviderEntry {
  /// The entry with the credentials that the environment has for it.
  fileprivate func overridden(by environment: EnvironmentSettings) -> ProviderEntry {
    var entry = self
    entry.credentials = credentials.overridden(by: environment.credentials(for: text))
    return entry
  }
}

extension [ProviderEntry] {
  /// The entry that answers show by that name, such as the host of its URL.
  fileprivate func first(shownAs name: String, _ environment: EnvironmentSettings) -> ProviderEntry? {
    // One that cannot be used has no name; its fault is shown when it is chosen.
    let usable = compactMap { entry -> (entry: ProviderEntry, configuration: ProviderConfiguration)? in
      (try? entry.overridden(by: environment).configuration()).map { (entry, $0) }
    }
    var configurations = usable.map(\.configuration)
    DirectSettings.tellApart(&configurations, of: usable.map(\.entry))
    return zip(usable, configurations).first { $1.provider.name == name }?.0.entry
  }
}
