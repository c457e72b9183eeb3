internal import DirectDNS

/// Why the command cannot begin: the command line or the configuration is wrong.
struct SettingsError: Error, Sendable, Hashable {
  /// `usage` or `configuration`.
  var status: ExitStatus
  var message: String

  init(_ status: ExitStatus, _ message: String) {
    self.status = status
    self.message = message
  }
}

/// Everything that a resolver is made of: defaults, over them the file, over it the environment, over it the options.
struct ResolverSettings: Sendable {
  var configuration: ResolverConfiguration
  var lookup: LookupOptions
  /// The system's DNS servers as c-ares reads them; nothing means resolv.conf's.
  var systemServers: String?
  /// What the file says of addresses that may be connected to.
  var addressPolicy: AddressPolicy

  /// Merges the sources: a function of values.
  init(
    options: UpstreamOptions, environment: EnvironmentSettings, file: ConfigurationFile, fileName: String,
    variables: [String: String]
  ) throws(SettingsError) {
    let entries = Self.entries(options: options, environment: environment, file: file)
    var providers: [ProviderConfiguration] = []
    for var entry in entries {
      entry.credentials = entry.credentials.overridden(by: environment.credentials(for: entry.text))
      do throws(DirectDNSError) {
        providers.append(try entry.configuration())
      } catch {
        throw Self.error(entry, error, fileName: fileName)
      }
    }
    try Self.apply(environment.bootstraps, to: &providers, unused: nil)
    try Self.apply(options.bootstraps, to: &providers, unused: "--bootstrap")

    configuration = ResolverConfiguration(providers: providers)
    configuration.usesSystemDNS =
      options.noSystem ? false : environment.usesSystemDNS ?? file.usesSystemDNS ?? true
    configuration.cache = file.cache
    configuration.keepAlive = file.keepAlive
    configuration.localZones = file.localZones
    if let capacity = file.capacity { configuration.capacity = capacity }
    if let hedges = file.hedges { configuration.hedges = hedges }
    if let timeout = options.timeout ?? environment.timeout ?? file.timeout {
      configuration.timeout = timeout
    }
    if let family = options.family ?? environment.families ?? file.families {
      configuration.families = family.families
    }
    configuration.trust = TrustStore(
      privateAuthorities: options.authorities.isEmpty
        ? environment.authorities ?? file.authorities : options.authorities,
      environment: variables)
    lookup = LookupOptions(expired: (options.expired ?? environment.expired ?? file.expired ?? .allowed).use)
    addressPolicy = file.addressPolicy
    systemServers = file.systemServers.isEmpty ? nil : file.systemServers.joined(separator: ",")
  }

  /// The providers in the order of asking.
  ///
  /// One that an option or a variable names may be one of the file's, with all
  /// that the file says of it.
  private static func entries(
    options: UpstreamOptions, environment: EnvironmentSettings, file: ConfigurationFile
  ) -> [ProviderEntry] {
    let origin = options.providers.isEmpty ? EnvironmentSettings.prefix + "PROVIDERS" : "--provider"
    let named = options.providers.isEmpty ? environment.providers : options.providers
    let configured = file.providers ?? []
    guard let named else {
      return file.providers
        ?? ResolverConfiguration.defaultProviderNames.map { ProviderEntry($0, origin: "default") }
    }
    return named.map { text in
      configured.first { $0.name == text } ?? configured.first { $0.text == text }
        ?? ProviderEntry(text, origin: origin)
    }
  }

  private static func error(_ entry: ProviderEntry, _ error: DirectDNSError, fileName: String)
    -> SettingsError
  {
    switch entry.origin {
    case "--provider" where !entry.isWellFormed: SettingsError(.usage, "--provider: \(error.message)")
    case "default": SettingsError(.configuration, error.message)
    case let origin where origin.hasPrefix("--") || origin.hasPrefix(EnvironmentSettings.prefix):
      SettingsError(.configuration, "\(origin): \(error.message)")
    case let path: SettingsError(.configuration, "\(fileName): \(path): \(error.message)")
    }
  }

  /// Gives addresses to the providers whose URLs have those names, in place of their own.
  private static func apply(
    _ bootstraps: [BootstrapOption], to providers: inout [ProviderConfiguration], unused option: String?
  ) throws(SettingsError) {
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
      throw SettingsError(
        .configuration,
        "\(option) \(unused.name)=\(unused.address): no provider's URL has that name. They have: \(hosts).")
    }
  }
}
