internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration

/// `dnsctl resolve`: names become addresses.
struct ResolveCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "resolve",
    abstract: "Look up the addresses of names over HTTP.",
    discussion: """
      Answers stand on standard output, errors and traces on standard error. With json, a name's error stands in its line instead.

      EXAMPLES
        dnsctl resolve www.example.com
        dnsctl resolve --provider google --family ipv4 --format short www.example.com
        dnsctl resolve --provider doh+https://dns.example/dns-query \\
            --bootstrap dns.example=192.0.2.53 www.example.com
        dnsctl resolve --format json - < names.txt
        dnsctl resolve --store sqlite www.example.com

      EXIT STATUS
          0  every name was answered
          1  a name does not exist, has no such address, or is no valid name
          2  providers or network failed
          3  a policy refused a name
         64  the command line is wrong
         74  standard input could not be read, or standard output not written
         78  the configuration is wrong
        130  interrupted
        141  the reader of standard output has gone
        143  terminated, with a store, which has what was learned
      Of several names' statuses the highest counts.

      ENVIRONMENT
      DIRECTDNS_CONFIG, DIRECTDNS_PROVIDERS, DIRECTDNS_BOOTSTRAP, DIRECTDNS_CA, DIRECTDNS_FAMILY, DIRECTDNS_EXPIRED, DIRECTDNS_SYSTEM, DIRECTDNS_TIMEOUT, DIRECTDNS_STORE override the configuration file; options override them. Credentials: DIRECTDNS_ALIDNS_ACCOUNT, DIRECTDNS_ALIDNS_KEY_ID, DIRECTDNS_ALIDNS_SECRET, DIRECTDNS_DNSPOD_TOKEN, DIRECTDNS_EMAS_ACCOUNT, DIRECTDNS_EMAS_SECRET. NO_COLOR, SSL_CERT_DIR and SSL_CERT_FILE mean what they mean elsewhere.
      """)

  @OptionGroup(title: "Upstream options")
  var upstream: UpstreamOptions

  @Option(help: "How answers are written.")
  var format = OutputFormat.text

  @Flag(help: "Show on standard error what happens: each query, its address, status and time.")
  var trace = false

  @Argument(
    help: ArgumentHelp(
      "A name or an address; - reads names from standard input, one a line.", valueName: "host"))
  var hosts: [String]

  func run(in context: CommandContext) async -> ExitStatus {
    do {
      let settings = try settings(in: context)
      let lookups = NameLookups(hosts: hosts, format: format)
      let (habits, doubts) = (remarks(DigHabit.objection), remarks(DigHabit.doubt))
      return try await context.withResolver(settings) { resolver, context in
        await lookups.run(in: context) { host throws(DirectDNSError) in
          if let objection = habits[host] { throw DirectDNSError(.invalidName, objection) }
          do throws(DirectDNSError) { return try await resolver.resolve(host, options: settings.lookup) } catch {
            guard let doubt = doubts[host] else { throw error }
            throw DirectDNSError(
              error.code, error.message + doubt, attempts: error.attempts, underlying: error.underlying)
          }
        }
      }
    } catch {
      return error.status(in: context, of: "resolve")
    }
  }

  /// What there is to say about arguments that look like dig's.
  private func remarks(_ remark: (String, Bool) -> String?) -> [String: String] {
    Dictionary(hosts.compactMap { host in remark(host, hosts.count > 1).map { (host, $0) } }) { first, _ in first }
  }

  private func settings(in context: CommandContext) throws(SettingsError) -> DirectSettings {
    var settings = try upstream.settings(in: context)
    if trace { settings.resolver.observer = Trace(context).note }
    // Nothing is kept alive by a process that ends with its answer.
    if !hosts.contains(Pipeline.inputMark) { settings.resolver.keepAlive = [] }
    return settings
  }
}
