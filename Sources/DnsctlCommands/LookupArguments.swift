// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
package import DirectDNS
package import DirectDNSConfiguration

/// The options of every command that resolves names.
package struct LookupArguments: ParsableArguments {
  package init() {}

  /// The providers that the library knows by name.
  private static let presets = ["alidns", "google", "cloudflare", "quad9", "dnspod"]

  @Option(
    name: .customLong("provider"),
    help: ArgumentHelp(
      "A provider; may be given again, in the order of asking: alidns, google, cloudflare, quad9, dnspod, the name of one in the configuration file, or a URL: doh+https://…, doh-post+https://…, json+https://…, dnspod+http(s)://…, emas+http(s)://…. Replaces those that are configured.",
      valueName: "name|url"),
    completion: .list(Self.presets))
  var providers: [String] = []

  @Option(
    name: .customLong("bootstrap"),
    help: ArgumentHelp(
      "An address of a provider's host, so that no DNS is needed to reach it; may be given again. Replaces a preset's own.",
      valueName: "name=ip"),
    transform: { text in try ConfigurationFault.shown { () throws(ConfigurationFault) in try BootstrapAddress(text) } })
  var bootstraps: [BootstrapAddress] = []

  @Option(
    name: .customLong("ca"),
    help: ArgumentHelp(
      "A file of further certificate authorities (PEM); may be given again. Replaces those that are configured.",
      valueName: "file"),
    completion: .file(extensions: ["pem", "crt", "cer"]))
  var authorities: [String] = []

  @Option(help: "The addresses to ask for. (default: any)")
  var family: FamilyWord?

  @Flag(name: [.customShort("4"), .customLong("ipv4")], help: "The same as --family ipv4.")
  var ipv4 = false

  @Flag(name: [.customShort("6"), .customLong("ipv6")], help: "The same as --family ipv6.")
  var ipv6 = false

  @Option(help: "What to do with expired answers. (default: allowed)")
  var expired: ExpiredOption?

  @Flag(name: .customLong("no-system"), help: "Do not fall back on the system's DNS.")
  var noSystem = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Seconds that a lookup may take, decimals allowed. (default: 5)", valueName: "s"),
    transform: { text in try Seconds.timeoutOption(text) })
  var timeout: Duration?

  @Option(
    parsing: .unconditional,
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

  package func validate() throws {
    guard [family != nil, ipv4, ipv6].count(where: { $0 }) < 2 else {
      throw ValidationError("Choose one of --family, -4 and -6.")
    }
  }
}

extension LookupArguments {
  /// The families that were chosen, if some were.
  var families: AddressFamilies? { ipv4 ? .ipv4 : ipv6 ? .ipv6 : family?.families }

  /// The settings that result from these options, the environment and the configuration file.
  ///
  /// A variable that looks like a misspelt one is told, but for a command that has a way of its own to tell it.
  package func settings(
    in context: CommandContext, tellsMisspelt: Bool = true
  ) throws(CommandError) -> DirectSettings {
    try context.settings(file: configurationPath, overrides(in: context), tellsMisspelt: tellsMisspelt)
  }

  /// Updates a resolver whenever the configuration file changes, for a command that keeps running.
  ///
  /// Without a terminal, SIGHUP makes it read the file at once. At a terminal SIGHUP ends the process, since closing it
  /// sends that.
  ///
  /// A file that the resolver or `check` refuses changes nothing.
  ///
  /// - Parameters:
  ///   - resolver: the resolver that is updated.
  ///   - context: has the file, the clock and the environment.
  ///   - trapsHangUp: whether SIGHUP is for this; if not, it keeps its effect without a terminal, too.
  ///   - report: called with what changed, with the reason why a file cannot be used, and when it can again.
  ///   - changed: called with the settings that are in force, at first and after each reading.
  ///   - check: checks new settings before any of them is applied.
  ///   - begun: called as soon as changes and SIGHUP are followed; never if nil is returned.
  ///   - read: called after each reading, whatever its result.
  /// - Returns: a task to cancel at the end; nil if there is no file, or one that can be read only once, such as a
  ///   pipe.
  /// - Throws: what is wrong with the file, or with the options combined with it.
  package func follow(
    _ resolver: DirectResolver, in context: CommandContext, trapsHangUp: Bool = true,
    report: @escaping @Sendable (String) -> Void, changed: @escaping @Sendable (DirectSettings) -> Void = { _ in },
    check: @escaping LiveConfiguration.Check = { _ in }, begun: @escaping @Sendable () -> Void = {},
    read: @escaping @Sendable () -> Void = {}
  ) throws(CommandError) -> Task<Void, any Error>? {
    let trapsHangUp = trapsHangUp && !context.isAtTerminal
    // Also where there is nothing to read again, so that a reload never ends a service.
    if trapsHangUp { context.ignoreHangUp() }
    // A pipe can be read only once, and so its settings stay.
    let store = storeText.flatMap { $0.hasPrefix("@") ? String($0.dropFirst()) : nil }
    let files = [context.askedConfiguration(configurationPath), store]
    guard files.compactMap(\.self).allSatisfy({ ReadableFile.mayBeRegular($0) }) else { return nil }
    let live = try context.liveConfiguration(file: configurationPath, overrides(in: context), check: check) {
      outcome, settings, wasRefused in
      switch outcome {
      case .success(let difference):
        for change in difference.changes { report("configuration: \(change)") }
        if wasRefused, difference.isEmpty { report("configuration: the file can be used again, and changes nothing") }
        // Without a difference too: what was missed at an earlier reading is made up for.
        changed(settings)
      case .failure(let error):
        report("\(DirectDNSError.sentence(error.message)) The previous configuration stays in force.")
      }
      read()
    }
    guard let live else { return nil }
    // The file may be another one than when the command began.
    do throws(DirectDNSError) {
      try check(live.settings)
      try live.keep(resolver)
    } catch {
      throw CommandError(error)
    }
    changed(live.settings)
    return Task {
      guard !trapsHangUp else { return try await live.run(listens: begun) }
      begun()
      await live.follow()
    }
  }

  private func overrides(in context: CommandContext) throws(CommandError) -> SettingsOverrides {
    for path in authorities { try InputFile.check(path, of: "--ca") }
    var servers: [String: String] = [:]
    let providers = providers.map { text in
      // A server among the arguments, which may be the name of a configured one.
      guard text.hasPrefix("@"), let provider = ServerArgument.provider(String(text.dropFirst())) else { return text }
      servers[provider] = String(text.dropFirst())
      return provider
    }
    return SettingsOverrides(
      providers: providers, servers: servers, bootstraps: bootstraps, authorities: authorities, families: families,
      expired: expired?.use, usesSystemDNS: noSystem ? false : nil, timeout: timeout,
      store: try context.storeText(storeText), connections: connections)
  }
}

extension ConfigurationFault {
  /// The result of `read`, with its fault as an error of the command line parser.
  static func shown<Value>(_ read: () throws(ConfigurationFault) -> Value) throws -> Value {
    do throws(ConfigurationFault) { return try read() } catch { throw ValidationError(error.message) }
  }
}

extension FamilyWord: ExpressibleByArgument {}

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
