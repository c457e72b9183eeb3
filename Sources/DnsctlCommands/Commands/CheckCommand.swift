// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration

/// `dnsctl check`: whether everything that lookups need is there.
struct CheckCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check configuration, clock, libraries, network, providers and store; or a proxy.",
    discussion: """
      Every provider is asked at each of its addresses, on a connection of its own, past caches and fallbacks. Each line is ok, warn or fail, and says what to do.

      With --proxy a proxy is checked instead: that it is ready, that it reaches the name's port 443, and that it refuses 169.254.169.254, where clouds keep credentials.

      A query has 3 s, and a proxy's reply 10 s: --timeout, --connections and --expired change nothing here, and with --proxy no lookup option does.

      EXAMPLES
        dnsctl check
        dnsctl check --config pipeline.json5 --name api.example.com
        dnsctl check --provider doh+https://dns.example/dns-query \\
          --bootstrap dns.example=192.0.2.53
        dnsctl check --strict --format json
        dnsctl check --proxy http://127.0.0.1:3128

      JSON
      One compact object for each line. Every key is always there, in this order.
        subject  what was looked at
        grade    ok, warn or fail
        detail   what was found
        advice   what to do, or null

      EXIT STATUS
          0  all is well, or there are warnings
          1  with --strict: there are warnings
          2  something failed
         64  the command line is wrong
         74  a file could not be read, or standard output not written
         78  the configuration is wrong
        130  interrupted
        141  the reader of standard output has gone

      The environment counts as for dnsctl resolve.
      """)

  @OptionGroup(title: "Lookup options")
  var lookupArguments: LookupArguments

  @Option(
    // Reserved for such purposes (RFC 6761 §6.5).
    help: ArgumentHelp(
      "The name that providers are asked for: its IPv4 addresses, with --family ipv6 its IPv6 addresses.",
      valueName: "host"))
  var name = "example.com"

  @Option(help: ArgumentHelp("A proxy to check: http://ADDRESS:PORT.", valueName: "url"))
  var proxy: String?

  @Option(
    name: .customLong("proxy-user"), parsing: .unconditional,
    help: ArgumentHelp(
      "Name and password for the proxy. @FILE holds them in its first line.", valueName: "user:password|@file"))
  var proxyUser: String?

  @Flag(help: "Count warnings as failures.")
  var strict = false

  @OptionGroup
  var output: ShownFormatOptions

  @OptionGroup
  var colours: ColourOptions

  func run(in context: CommandContext) async throws(CommandError) -> ExitStatus {
    let context = context.coloured(colours)
    let host: HostName
    do throws(DirectDNSError) { host = try HostName(name) } catch {
      throw CommandError(.usage, "--name: \(error.clause).")
    }
    let findings =
      if let proxy { try await proxyCheckup(proxy, host, in: context).run() } else {
        try await lookupFindings(host, in: context)
      }
    return context.write(text(findings, in: context)).joined(Self.status(findings, isStrict: strict))
  }

  private func lookupFindings(_ host: HostName, in context: CommandContext) async throws(CommandError) -> [Finding] {
    guard proxyUser == nil else { throw CommandError(.usage, "--proxy-user needs --proxy.") }
    // It is one of the findings.
    let settings = try lookupArguments.settings(in: context, tellsMisspelt: false)
    do throws(DirectDNSError) { try settings.resolver.validate() } catch { throw CommandError(error) }
    if let reason = LocalZones(suffixes: settings.resolver.localZones.suffixes).objection(to: host) {
      throw CommandError(.usage, "--name: providers cannot be asked for \(host): \(reason).")
    }
    let configuration = Finding.ok("configuration", configurationDetail(settings, in: context))
    var store = Checkup.Store.memory
    if let setting = settings.store {
      // A look makes no file: it would belong to whoever looks.
      let path = try setting.path(context.environment)
      if let path, isMissing(path) {
        store = .missing(path)
      } else if let opened = try context.openStore(setting) {
        store = .opened(opened, path: path)
      }
    }
    return [configuration] + (try await Checkup(settings: settings, store: store, name: host, context: context).run())
  }

  private func proxyCheckup(
    _ text: String, _ host: HostName, in context: CommandContext
  ) throws(CommandError) -> ProxyCheckup {
    guard !text.hasPrefix("unix:") else {
      throw CommandError(
        .usage,
        "--proxy: a proxy at a Unix socket cannot be checked: give an address of it, such as http://127.0.0.1:3128.")
    }
    let scheme = text.firstRange(of: "://").map { text[..<$0.lowerBound].lowercased() }
    guard scheme == nil || scheme == "http" else {
      throw CommandError(
        .usage, "--proxy: only HTTP proxies that take no TLS are checked: write http://ADDRESS:PORT.")
    }
    let url: WebURL
    do throws(DirectDNSError) { url = try WebURL(scheme == nil ? "http://\(text)" : text) } catch {
      throw CommandError(.usage, "--proxy: \(error.clause).")
    }
    guard url.username.isEmpty, url.password.isEmpty else {
      throw CommandError(.usage, "--proxy: name and password have their place in --proxy-user @FILE.")
    }
    let address: IPAddress
    switch url.host {
    case .address(let given): address = given
    case .name("localhost"): address = .loopback()
    case .name: throw CommandError(.usage, "--proxy: give the proxy's address, such as http://127.0.0.1:3128.")
    }
    var credentials: String?
    if let proxyUser {
      credentials = try InputFile.secret(proxyUser, for: "--proxy-user", by: context.readFile)
      guard credentials?.contains(":") == true else {
        throw CommandError(.usage, "--proxy-user: write USER:PASSWORD; dnsctl does not ask for a password.")
      }
    }
    let place = "\(address.bracketed):\(url.port ?? 80)"
    return ProxyCheckup(
      place: place, probe: ProxyProbe(address: address, port: url.port ?? 80, credentials: credentials), name: host,
      clock: context.clock)
  }

  static func status(_ findings: [Finding], isStrict: Bool) -> ExitStatus {
    switch findings.map(\.grade).max() {
    case .fail: .upstreamFailed
    case .warn where isStrict: .noAnswer
    default: .answered
    }
  }

  private func configurationDetail(_ settings: DirectSettings, in context: CommandContext) -> String {
    let names = settings.resolver.providers.map { $0.provider.name.printable }
    return (context.configurationPath(lookupArguments.configurationPath)?.printable ?? "no file") + "; asks "
      + (names.isEmpty ? "only the system" : names.joined(separator: ", "))
  }

  private func text(_ findings: [Finding], in context: CommandContext) -> String {
    guard !output.isJSON else { return findings.map { JSONLine($0).text }.joined() }
    return FindingsText(style: context.style).text(findings)
  }
}
