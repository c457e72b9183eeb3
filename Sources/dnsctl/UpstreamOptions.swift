internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration

/// The options of every command that resolves names.
struct UpstreamOptions: ParsableArguments {
  @Option(
    name: .customLong("provider"),
    help: ArgumentHelp(
      "A provider, in the order of asking: alidns, google, cloudflare, quad9, dnspod, the name of one in the configuration file, or a URL: doh+https://…, doh-post+https://…, json+https://…, dnspod+http(s)://…, emas+http(s)://…. Replaces those that are configured.",
      valueName: "name|url"),
    completion: .list(["alidns", "google", "cloudflare", "quad9", "dnspod"]))
  var providers: [String] = []

  @Option(
    name: .customLong("bootstrap"),
    help: ArgumentHelp(
      "An address of a provider's host, so that no DNS is needed to reach it. Replaces a preset's own.",
      valueName: "name=ip"),
    transform: { text in try ConfigurationFault.shown { () throws(ConfigurationFault) in try BootstrapAddress(text) } })
  var bootstraps: [BootstrapAddress] = []

  @Option(
    name: .customLong("ca"),
    help: ArgumentHelp("A file of further certificate authorities (PEM).", valueName: "file"),
    completion: .file(extensions: ["pem", "crt", "cer"]))
  var authorities: [String] = []

  @Option(help: "The addresses to ask for. (default: any)")
  var family: FamilyOption?

  @Option(help: "What to do with expired answers. (default: allowed)")
  var expired: ExpiredOption?

  @Flag(name: .customLong("no-system"), help: "Do not fall back on the system's DNS.")
  var noSystem = false

  @Option(
    help: ArgumentHelp("Seconds that a lookup may take, decimals allowed. (default: 5)", valueName: "s"),
    transform: { text in
      guard let timeout = Seconds.timeout(text) else {
        throw ValidationError("Give a number of seconds, more than 0 and at most 86400.")
      }
      return timeout
    })
  var timeout: Duration?

  @Option(
    help: ArgumentHelp(
      "The most connections to one provider that speaks HTTP/1.1 alone, from 1 to 1000. (default: 32)", valueName: "n"),
    transform: { text in
      guard let count = Int(text), (1...1000).contains(count) else {
        throw ValidationError("Give a whole number of connections, from 1 to 1000.")
      }
      return count
    })
  var connections: Int?

  @Option(name: .customLong("store"), help: StoreOptions.help, completion: .list(["memory", "sqlite"]))
  var storeText: String?

  @Option(
    name: .customLong("config"), help: StoreOptions.configurationHelp,
    completion: .file(extensions: ["json5", "json"]))
  var configurationPath: String?
}

extension UpstreamOptions {
  /// What these options come to, with environment and configuration file.
  func settings(in context: CommandContext) throws(SettingsError) -> DirectSettings {
    try context.settings(file: configurationPath, overrides(in: context))
  }

  /// The configuration file, for a command that runs on: it is kept to while it changes; nothing where there is no file.
  ///
  /// - Parameters:
  ///   - context: where the file, the clock and the environment are.
  ///   - adjust: what the command sets over it, each time.
  /// - Returns: the file as a service, whose resolvers and clients are kept to it.
  /// - Throws: what is wrong with the file, or with the options over it.
  func liveConfiguration(
    in context: CommandContext, adjust: @escaping @Sendable (inout DirectSettings) -> Void = { _ in }
  ) throws(SettingsError) -> LiveConfiguration? {
    try context.liveConfiguration(file: configurationPath, overrides(in: context), adjust: adjust)
  }

  private func overrides(in context: CommandContext) throws(SettingsError) -> SettingsOverrides {
    SettingsOverrides(
      providers: providers, bootstraps: bootstraps, authorities: authorities, families: family?.families,
      expired: expired?.use, usesSystemDNS: noSystem ? false : nil, timeout: timeout,
      store: try context.storeText(storeText), connections: connections)
  }
}

extension ConfigurationFault {
  /// What `read` gives, its fault as the parser of the command line shows one.
  static func shown<Value>(_ read: () throws(ConfigurationFault) -> Value) throws -> Value {
    do throws(ConfigurationFault) { return try read() } catch { throw ValidationError(error.message) }
  }
}

/// `any`, `ipv4` or `ipv6`.
enum FamilyOption: String, ExpressibleByArgument, CaseIterable, Sendable {
  case any, ipv4, ipv6

  var families: AddressFamilies {
    switch self {
    case .any: .any
    case .ipv4: .ipv4
    case .ipv6: .ipv6
    }
  }
}

/// `allowed`, `refused` or `preferred`.
enum ExpiredOption: String, ExpressibleByArgument, CaseIterable, Sendable {
  case allowed, refused, preferred

  var use: ExpiredUse {
    switch self {
    case .allowed: .allowed
    case .refused: .refused
    case .preferred: .preferred
    }
  }
}
