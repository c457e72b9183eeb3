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
      Of several names' statuses the highest counts.

      ENVIRONMENT
      DIRECTDNS_CONFIG, DIRECTDNS_PROVIDERS, DIRECTDNS_BOOTSTRAP, DIRECTDNS_CA, DIRECTDNS_FAMILY, DIRECTDNS_EXPIRED, DIRECTDNS_SYSTEM, DIRECTDNS_TIMEOUT override the configuration file; options override them. Credentials: DIRECTDNS_ALIDNS_ACCOUNT, DIRECTDNS_ALIDNS_KEY_ID, DIRECTDNS_ALIDNS_SECRET, DIRECTDNS_DNSPOD_TOKEN, DIRECTDNS_EMAS_ACCOUNT, DIRECTDNS_EMAS_SECRET. NO_COLOR, SSL_CERT_DIR and SSL_CERT_FILE mean what they mean elsewhere.
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
    let resolver: Resolver
    let lookup: LookupOptions
    do {
      (resolver, lookup) = try makeResolver(in: context)
    } catch {
      let hint = error.status == .usage ? " See dnsctl resolve --help." : ""
      context.complain(error.message + hint)
      return error.status
    }
    let clock = context.clock
    let lookUp: @Sendable (String) async -> LookupOutcome = { host in
      let start = clock.now
      let result: Result<Resolution, DirectDNSError>
      do throws(DirectDNSError) {
        result = .success(try await resolver.resolve(host, options: lookup))
      } catch {
        result = .failure(error)
      }
      return LookupOutcome(host: host, result: result, elapsed: clock.now - start)
    }
    let names = hosts.filter { $0 != Pipeline.inputMark }
    let layout = TextTable(hosts: names, usesColour: context.usesColour)
    var writer = OutcomeWriter(context) { (outcome: LookupOutcome) in (format.render(outcome, layout), outcome.status) }
    do throws(PipelineError) {
      if let host = hosts.first, hosts.count == 1, host != Pipeline.inputMark {
        let outcome = await lookUp(host)
        do throws(StreamError) { try writer.write([outcome]) } catch { throw .output(error) }
      } else {
        try await OrderedPipeline(input: context.input) { await lookUp($0.text) }.run(hosts) {
          outcomes throws(StreamError) in
          try writer.write(outcomes)
        }
      }
    } catch {
      return error.status(in: context)
    }
    return writer.status
  }

  private func makeResolver(in context: CommandContext) throws(SettingsError) -> (Resolver, LookupOptions) {
    var settings = try upstream.settings(in: context)
    if trace { settings.resolver.observer = Trace(context).note }
    // Nothing is kept alive by a process that ends with its answer.
    if !hosts.contains(Pipeline.inputMark) { settings.resolver.keepAlive = [] }
    do throws(DirectDNSError) {
      return (try context.makeResolver(settings.resolver, settings.systemServers), settings.lookup)
    } catch {
      throw SettingsError(.configuration, error.description)
    }
  }
}
