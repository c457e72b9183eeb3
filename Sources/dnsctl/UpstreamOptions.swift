internal import ArgumentParser
internal import DirectDNS

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
    transform: { text in try OptionFault.shown { () throws(OptionFault) in try BootstrapOption(text) } })
  var bootstraps: [BootstrapOption] = []

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

  @Option(name: .customLong("store"), help: StoreSetting.help, completion: .list(["memory", "sqlite"]))
  var storeText: String?

  @Option(
    name: .customLong("config"),
    help: ArgumentHelp(
      "The configuration file. (default: directdns/config.json5 in $XDG_CONFIG_HOME or ~/.config, where there is one)",
      valueName: "file"),
    completion: .file(extensions: ["json5", "json"]))
  var configurationPath: String?
}

extension UpstreamOptions {
  /// What these options come to, with environment and configuration file.
  func settings(in context: CommandContext) throws(SettingsError) -> ResolverSettings {
    let environment = try EnvironmentSettings(context.environment)
    let (file, fileName) = try configurationFile(environment, in: context)
    return try ResolverSettings(
      options: self, environment: environment, file: file, fileName: fileName, variables: context.environment)
  }

  /// Where answers are remembered.
  func store() throws(SettingsError) -> StoreSetting {
    try storeText.map { text throws(SettingsError) in try StoreSetting(text, origin: StoreSetting.option) } ?? .none
  }

  /// The file that was asked for, or the default one if it is there.
  private func configurationFile(
    _ environment: EnvironmentSettings, in context: CommandContext
  ) throws(SettingsError) -> (ConfigurationFile, name: String) {
    let asked = configurationPath ?? environment.configurationPath
    guard let path = asked ?? Self.defaultPath(context.environment) else { return (ConfigurationFile(), "") }
    let bytes: [UInt8]?
    do throws(StreamError) { bytes = try context.readFile(path) } catch {
      throw SettingsError(.configuration, "\(path): the configuration file cannot be read: \(error.reason).")
    }
    guard let bytes else {
      guard asked != nil else { return (ConfigurationFile(), "") }
      let source = configurationPath == nil ? "\(EnvironmentSettings.prefix)CONFIG" : "--config"
      throw SettingsError(.configuration, "\(path): there is no such configuration file. Check \(source).")
    }
    var file = try ConfigurationFile(bytes, name: path)
    // A path in the file goes from the file, not from where the command happens to run.
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
    file.authorities = file.authorities.map { $0.hasPrefix("/") ? $0 : folder + $0 }
    return (file, path)
  }

  private static func defaultPath(_ environment: [String: String]) -> String? {
    // The base directory specification wants absolute paths and ignores others.
    if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
      return folder + "/directdns/config.json5"
    }
    guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
    return home + "/.config/directdns/config.json5"
  }
}

/// What is wrong with an option's value, naming the part.
struct OptionFault: Error, CustomStringConvertible {
  var description: String

  /// What `read` gives, its fault as the parser of the command line shows one.
  static func shown<Value>(_ read: () throws(OptionFault) -> Value) throws -> Value {
    do throws(OptionFault) { return try read() } catch { throw ValidationError(error.description) }
  }
}

/// `NAME=IP`: an address of a provider's host.
struct BootstrapOption: Sendable, Hashable {
  let name: HostName
  let address: IPAddress

  init(_ text: String) throws(OptionFault) {
    guard let equals = text.firstIndex(of: "=") else {
      throw OptionFault(
        description: "\"\(text.printable)\" has no \"=\". Write NAME=IP, such as dns.google=8.8.8.8.")
    }
    let host = String(text[..<equals])
    let value = String(text[text.index(after: equals)...])
    do {
      name = try HostName(host)
    } catch {
      throw OptionFault(description: "\"\(host.printable)\", before the \"=\", is no host name: \(error.message).")
    }
    guard let address = IPAddress.written(value) else {
      throw OptionFault(
        description:
          "\"\(value.printable)\", behind the \"=\", is no IP address. Write \(name)=192.0.2.1, for example.")
    }
    self.address = address
  }
}

extension IPAddress {
  /// Reads an address as people write it: brackets are how IPv6 addresses stand in URLs, where many come from.
  static func written(_ text: String) -> IPAddress? {
    let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
    return IPAddress(isBracketed ? String(text.dropFirst().dropLast()) : text)
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
