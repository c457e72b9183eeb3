internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration

/// `dnsctl check`: whether everything that lookups need is there.
struct CheckCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Check configuration, clock, libraries, network, providers and store.",
    discussion: """
      Every provider is asked at each of its addresses, on a connection of its own, past caches and fallbacks. Each line is ok, warn or fail, and says what to do.

      EXAMPLES
        dnsctl check
        dnsctl check --config pipeline.json5 --name api.example.com
        dnsctl check --provider doh+https://dns.example/dns-query --bootstrap dns.example=192.0.2.53
        dnsctl check --strict --format json

      EXIT STATUS
          0  all is well, or there are warnings
          1  with --strict: there are warnings
          2  something failed
         64  the command line is wrong
         74  standard output could not be written
         78  the configuration is wrong
        130  interrupted
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text, json
  }

  @OptionGroup(title: "Upstream options")
  var upstream: UpstreamOptions

  @Option(
    // It exists for such purposes (RFC 6761 §6.5).
    help: ArgumentHelp("The name that providers are asked for.", valueName: "host"))
  var name = "example.com"

  @Flag(help: "Count warnings as failures.")
  var strict = false

  @Option(help: "How findings are written.")
  var format = Format.text

  @OptionGroup
  var colours: ColourOptions

  func run(in context: CommandContext) async -> ExitStatus {
    let context = context.coloured(colours)
    do throws(SettingsError) {
      let host: HostName
      do throws(DirectDNSError) { host = try HostName(name) } catch {
        throw SettingsError(.usage, "--name: \(error.message).")
      }
      let settings = try upstream.settings(in: context)
      var findings = [Finding.ok("configuration", configurationDetail(settings, in: context))]
      var store: (any AnswerStore)?
      if let setting = settings.store { store = try context.openStore(setting) }
      findings += try await Checkup(settings: settings, store: store, name: host, context: context).run()
      do throws(StreamError) {
        try context.output.write(text(findings, in: context))
      } catch {
        return error == .closedPipe ? .closedPipe : .streams
      }
      return Self.status(findings, isStrict: strict)
    } catch {
      return error.status(in: context, of: "check")
    }
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
    return (context.configurationPath(upstream.configurationPath)?.printable ?? "no file") + "; asks "
      + (names.isEmpty ? "nobody but the system" : names.joined(separator: ", "))
  }

  private func text(_ findings: [Finding], in context: CommandContext) -> String {
    switch format {
    case .json: return findings.map { JSONLine($0).text }.joined()
    case .text:
      let width = context.isOutputTerminal ? context.terminalSize().columns : .max
      return FindingsText(style: TextStyle(isOn: context.usesColour), width: width).text(findings)
    }
  }
}
