// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration
internal import Synchronization

/// `dnsctl cache refresh`: looks names up regardless of what is stored, and stores the answers.
struct CacheRefreshCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "refresh",
    abstract: "Ask for names now, and store what is said.",
    discussion: """
      The providers are asked about both families, however fresh what is stored may be. Where they fail, what is stored stays, and standard error says so. What the system's DNS says is shown and not stored.

      EXAMPLES
        dnsctl cache refresh www.example.com
        dnsctl cache list --freshness stale --format short | dnsctl cache refresh -

      JSON
      That of dnsctl resolve.

      EXIT STATUS
      That of dnsctl resolve, and 74 if an answer could not be stored.
      """)

  @OptionGroup(title: "Lookup options")
  var upstream: LookupArguments

  @OptionGroup(title: "Output options")
  var output: FormatOptions

  @OptionGroup(title: "Output options")
  var colours: ColourOptions

  @Flag(help: "Show on standard error what happens: each query, its address, status and time.")
  var trace = false

  @Argument(help: ArgumentHelp("A name; - reads names from standard input, one a line.", valueName: "host"))
  var hosts: [String]

  func run(in context: CommandContext) async -> ExitStatus {
    let context = context.coloured(colours)
    do throws(SettingsError) {
      var settings = try upstream.settings(in: context)
      settings.resolver.keepAlive = []
      if trace { settings.resolver.observer = Trace(context).note }
      let store = try OpenStore(settings, in: context, makesFile: true)
      let (families, lookup) = (settings.resolver.families, settings.lookup)
      let lookups = NameLookups(hosts: hosts, format: output.chosen)
      return try await context.withResolver(settings, storing: RenewingStore(base: store.store)) { resolver, context in
        let left = Mutex(0)
        let status = await lookups.run(in: context) { host throws(DirectDNSError) in
          await Self.ask(resolver, host, families)
          do throws(DirectDNSError) {
            let resolution = try await resolver.resolve(host, options: lookup)
            if resolution.source == .system { left.withLock { $0 += 1 } }
            return resolution
          } catch {
            if ExitStatus(error) == .upstreamFailed { left.withLock { $0 += 1 } }
            throw error
          }
        }
        let count = left.withLock { $0 }
        if count > 0 {
          context.reportError(
            "\(count.counted("name")) \(count == 1 ? "was" : "were") not refreshed, since no provider answered: what is stored stays."
          )
        }
        return status
      }
    } catch {
      return error.status(in: context, of: "cache refresh")
    }
  }

  /// Asks for each family by itself: a lookup of both does not wait for the slower one.
  private static func ask(_ resolver: DirectResolver, _ host: String, _ families: AddressFamilies) async {
    await withTaskGroup { group in
      for family in families.members {
        // The lookup of both reports why there is no answer, which it finds in the resolver's cache.
        group.addTask { _ = try? await resolver.resolve(host, options: LookupOptions(families: .init(family))) }
      }
    }
  }
}
