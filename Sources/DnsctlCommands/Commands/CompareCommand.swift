// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration

/// `dnsctl compare`: asks all providers the same question, and shows the answers side by side.
struct CompareCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Ask every provider and the system's DNS for the same names, and show where they differ.",
    discussion: """
      Each provider that is configured is asked for the addresses of a name by itself, and so is the system's DNS, all at once and past the cache, the store and pins: --store and --expired are refused.

      They DISAGREE when some have addresses where others say that there are none (NXDOMAIN or NODATA), and when one has an address that is not public, such as a private or loopback one, and not all have it: resolvers that lie, block or serve a view of their own (split DNS) cause this.

      Families are asked for one after the other, since a server's rate may be a few queries a second: --timeout holds for each.

      They DIFFER when a source's addresses are all in other networks (/16 of IPv4, /32 of IPv6) than the others', when one says NXDOMAIN where others say NODATA, and when only some of those that report it say that an answer is authenticated (DNSSEC, AD). This is normal for sites with servers in many places, so it counts only with --strict. Different addresses in the same networks, and TTLs, count for nothing.

      EXAMPLES
        dnsctl compare www.example.com
        dnsctl compare @google @https://dns.example/dns-query www.example.com
        dnsctl compare -4 --json --strict - < names.txt

      JSON
      One compact object a line, for each name and family. Every key is always there, in this order, and null where there is nothing.
        host     the name as it was asked for
        type     the type of record, A or AAAA
        verdict  agree, differ, disagree, or unanswered where fewer than two
                 sources answered
        answers  for each source: source, addresses (null without an answer),
                 nameExists, ttl, authenticated, elapsedMs, error (its text)
                 and remarks: kind, disagrees and text, where kind is answer,
                 noAnswer, notPublic, otherNetwork, otherDenial or
                 authenticated
        error    null, or an object with code and message; then type, verdict
                 and answers are null

      EXIT STATUS
          0  they agree, or only differ
          1  a name does not exist or has no address, and they agree about that,
             or it is not a valid name
          2  a source did not answer, and the others agree
          3  a name is one of this network or this machine, which no provider is
             asked for
          4  they disagree; with --strict also: they differ
         64  the command line is wrong
         74  standard input could not be read, or standard output not written
         78  the configuration is wrong
        130  interrupted
        141  the reader of standard output has gone
      Of several names' statuses the highest counts.

      The environment counts as for dnsctl resolve.
      """)

  @OptionGroup(title: "Lookup options")
  var lookupArguments: LookupArguments

  @Flag(help: "Count differences as disagreements.")
  var strict = false

  @OptionGroup
  var output: ShownFormatOptions

  @OptionGroup
  var colours: ColourOptions

  @Argument(
    help: ArgumentHelp(
      "A name; - reads names from standard input, one a line; @ and a provider's name, address or URL asks that provider, as --provider does.",
      valueName: "host"))
  var arguments: [String]

  func validate() throws {
    guard try !ServerArgument.separated(arguments).others.isEmpty else {
      throw ValidationError("Give a name to look up besides the servers.")
    }
    // A stored or cached answer does not show what a provider answers.
    for (option, isThere) in [
      ("--store", lookupArguments.storeText != nil), ("--expired", lookupArguments.expired != nil),
    ]
    where isThere {
      throw ValidationError("compare asks every source again, past what is remembered: leave \(option) out.")
    }
  }

  func run(in context: CommandContext) async throws(CommandError) -> ExitStatus {
    let context = context.coloured(colours)
    let settings = try lookupArguments.asking(arguments).settings(in: context)
    let comparer = try Comparer(settings, in: context)
    defer { comparer.end() }
    return await run(comparer, settings.resolver.families, in: context)
  }

  private func run(_ comparer: Comparer, _ families: AddressFamilies, in context: CommandContext) async -> ExitStatus {
    let pipeline = OrderedPipeline(input: context.input) { item in
      do throws(DirectDNSError) {
        let host = try comparer.host(item.text)
        // One family after the other: a server's rate may be a few queries a second.
        var parts: [ComparisonOutcome.Part] = []
        for family in IPAddress.Family.allCases where families.contains(family) {
          parts.append(.init(type: DNSRecordType(family), comparison: await comparer.compare(host, family)))
        }
        return ComparisonOutcome(host: item.text, result: .success(parts))
      } catch {
        return ComparisonOutcome(host: item.text, result: .failure(error))
      }
    }
    let layout = ComparisonText(style: context.style)
    let (isJSON, isStrict) = (output.isJSON, strict)
    return await pipeline.run(arguments.filter { !$0.hasPrefix("@") }, in: context) { outcome in
      (outcome.rendered(isJSON: isJSON, layout), outcome.status(isStrict: isStrict))
    }
  }
}
