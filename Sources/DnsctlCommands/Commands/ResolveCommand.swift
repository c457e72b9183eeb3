// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration

/// `dnsctl resolve`: looks up the addresses of names, or records of other types.
struct ResolveCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "resolve",
    abstract: "Look up the addresses of names over HTTPS, or records of other types.",
    discussion: """
      Answers go to standard output, errors and traces to standard error. With json, a name's error is in its line instead.

      Addresses (A, AAAA) come from the cache and the store where these have them, expired ones too where a fresh answer cannot be had in time. Records of all other types are asked for each time, of the same providers in the same way, and are neither cached nor stored. DNS messages (RFC 8484) and the JSON APIs carry them; DNSPod and EMAS carry addresses alone, and the system's DNS is asked for addresses alone: names of this network, private addresses in reverse among them, have no other records here.

      EXAMPLES
        dnsctl resolve www.example.com
        dnsctl resolve -t MX,TXT example.com
        dnsctl resolve -x 192.0.2.1
        dnsctl resolve @1.1.1.1 -4 --short www.example.com
        dnsctl resolve @google --json www.example.com
        dnsctl resolve --provider doh+https://dns.example/dns-query \\
            --bootstrap dns.example=192.0.2.53 www.example.com
        dnsctl resolve -f hosts - < names.txt
        dnsctl resolve --store sqlite www.example.com

      FORMATS
      text is for people; json has one object a line; short has addresses, or records' data, alone; hosts has the lines of a hosts file; tsv has name, type, TTL, data, freshness and source, with tabs between. Data is in the presentation form of its type's RFC, and as \\# LENGTH HEX (RFC 3597) where the type is not known or its data is malformed; such text of a JSON API is shown as it came.

      JSON
      One compact object a line. Every key is always there, in this order, and null where there is nothing.
        host           the name as it was asked for
        canonicalName  the end of the CNAME chain, where the name is an alias
                       that has addresses
        addresses      the addresses in the order of use
        ttl            whole seconds that the answer may be used from now on;
                       null for what does not expire
        age            whole seconds since the answer was asked for
        freshness      fresh, due, grace or stale
        source         provider, system, literal (an address), pin, local
                       (such as localhost), store
        provider       the name of the provider that had the answer
        elapsedMs      milliseconds that the lookup took
        error          null, or an object with code and message; with an
                       error all but host and elapsedMs is null

      With -t or -x there is a line for each type: host, type, canonicalName, records (each has name, type, ttl, null where it does not expire, and data as text), age, freshness, source, provider, authenticated (whether the provider has validated by DNSSEC; null for addresses), elapsedMs and error.

      An error's code is nameNotFound, noAddress, noRecord (with -t or -x) or invalidName, which end with 1; upstreamFailed, timedOut, cancelled or shutDown, with 2; refused, with 3; invalidConfiguration (a type that no provider carries), with 78.

      EXIT STATUS
          0  every name was answered
          1  a name does not exist, has no such address or record, or is not a
             valid name
          2  providers or network failed
          3  a policy refused a name
         64  the command line is wrong
         74  standard input or a file could not be read, or standard output
             not written
         78  the configuration is wrong
        130  interrupted
        141  the reader of standard output has gone
        143  terminated, with a store, which has what was learned
      Of several names' statuses the highest counts.

      ENVIRONMENT
      DIRECTDNS_CONFIG, DIRECTDNS_PROVIDERS, DIRECTDNS_BOOTSTRAP, DIRECTDNS_CA, DIRECTDNS_FAMILY, DIRECTDNS_EXPIRED, DIRECTDNS_SYSTEM, DIRECTDNS_TIMEOUT, DIRECTDNS_STORE override the configuration file; options override them. What looks like a misspelt one of them is told on standard error. Credentials: DIRECTDNS_ALIDNS_ACCOUNT, DIRECTDNS_ALIDNS_KEY_ID, DIRECTDNS_ALIDNS_SECRET, DIRECTDNS_DNSPOD_TOKEN, DIRECTDNS_EMAS_ACCOUNT, DIRECTDNS_EMAS_SECRET. NO_COLOR, SSL_CERT_DIR and SSL_CERT_FILE mean what they mean elsewhere.
      """)

  @OptionGroup(title: "Lookup options")
  var lookupArguments: LookupArguments

  @OptionGroup(title: "Output options")
  var output: FormatOptions

  @OptionGroup(title: "Output options")
  var colours: ColourOptions

  @Option(
    name: [.customShort("t", allowingJoined: true), .customLong("type")],
    help: ArgumentHelp(
      "The records to ask for: A, AAAA, CAA, CNAME, HTTPS, MX, NS, PTR, SOA, SRV, SVCB, TXT, …, or TYPE and a number; several with commas between. (default: addresses)",
      valueName: "type"), completion: .list(RecordTypeArgument.offered), transform: RecordTypeArgument.read)
  var types: [[DNSRecordType]] = []

  @Flag(
    name: [.customShort("x"), .customLong("reverse")],
    help: "The arguments are addresses: ask for the names that they stand for (PTR).")
  var isReverse = false

  @Flag(help: "Show on standard error what happens: each query, its address, status and time.")
  var trace = false

  @Argument(
    help: ArgumentHelp(
      "A name or an address; - reads names from standard input, one a line; @ and a provider's name, address or URL asks that provider, as --provider does, and no store but one that --store names.",
      valueName: "host"))
  var arguments: [String]

  private var hosts: [String] { arguments.filter { !$0.hasPrefix("@") } }

  /// The types to ask for, without duplicates; empty means addresses.
  private var wanted: [DNSRecordType] {
    let all = types.joined() + (isReverse && types.isEmpty ? [.ptr] : [])
    return all.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  func validate() throws {
    let (_, hosts) = try ServerArgument.separated(arguments)
    guard !hosts.isEmpty else { throw ValidationError("Give a name to look up besides the server.") }
    guard wanted.isEmpty || lookupArguments.families == nil else {
      throw ValidationError(
        isReverse
          ? "Leave -4, -6 and --family out with -x: they say nothing about the names of addresses."
          : "Choose one of --type and --family (-4, -6): A is IPv4, AAAA is IPv6.")
    }
    guard output.chosen != .hosts || wanted.allSatisfy({ $0 == .a || $0 == .aaaa }) else {
      throw ValidationError("A hosts file has addresses alone: leave --type out, or write A or AAAA.")
    }
  }

  func run(in context: CommandContext) async throws(CommandError) -> ExitStatus {
    let context = context.coloured(colours)
    let settings = try settings(in: context)
    let (objections, hints) = (remarks(DigHints.objection), remarks(DigHints.typeHint))
    guard wanted.isEmpty else {
      let lookups = RecordLookups(
        hosts: hosts, types: wanted, isReverse: isReverse, objections: objections, format: output.chosen)
      return try await context.withResolver(settings) { resolver, context in
        await lookups.run(in: context) { name, type throws(DirectDNSError) in
          try await resolver.records(of: name, type: type, options: settings.lookup)
        }
      }
    }
    let lookups = NameLookups(hosts: hosts, format: output.chosen)
    return try await context.withResolver(settings) { resolver, context in
      await lookups.run(in: context) { host throws(DirectDNSError) in
        if let objection = objections[host] { throw DirectDNSError(.invalidName, objection) }
        do throws(DirectDNSError) { return try await resolver.resolve(host, options: settings.lookup) } catch {
          guard let hint = hints[host] else { throw error }
          throw DirectDNSError(
            error.code, error.message + hint, attempts: error.attempts, underlying: error.underlying)
        }
      }
    }
  }

  /// Remarks about arguments that look like dig's.
  private func remarks(_ remark: (String, Bool) -> String?) -> [String: String] {
    let hosts = hosts
    return Dictionary(hosts.compactMap { host in remark(host, hosts.count > 1).map { (host, $0) } }) { first, _ in first
    }
  }

  private func settings(in context: CommandContext) throws(CommandError) -> DirectSettings {
    var settings = try lookupArguments.asking(arguments).settings(in: context)
    // Whoever names a server wants to know what that one says, and not what others said before.
    let asksServer = arguments.contains { $0.hasPrefix("@") }
    if asksServer, lookupArguments.storeText == nil { settings.store = nil }
    if trace { settings.resolver.observer = Trace(context).note }
    // No name needs to be kept alive in a process that ends with its answer.
    if !hosts.contains(Pipeline.inputMark) { settings.resolver.keepAlive = [] }
    return settings
  }
}
