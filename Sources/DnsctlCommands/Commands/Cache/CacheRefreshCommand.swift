// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration
internal import Synchronization

/// `dnsctl cache refresh`: looks names up regardless of what is stored, and stores the answers.
struct CacheRefreshCommand: ContextCommand {
  static let fullName = "cache refresh"

  static let configuration = CommandConfiguration(
    commandName: "refresh",
    abstract: "Ask for names now, and store what is said.",
    discussion: """
      The providers are asked about both families, or the one that is chosen, however fresh what is stored may be. Where they fail, what is stored stays, and standard error says so. What the system's DNS says is shown and not stored.

      EXAMPLES
        dnsctl cache refresh www.example.com
        dnsctl cache list --freshness stale --format short | dnsctl cache refresh -

      JSON
      That of dnsctl resolve.

      EXIT STATUS
      That of dnsctl resolve, and 74 if an answer could not be stored.

      The environment counts as for dnsctl resolve.
      """)

  @OptionGroup(title: "Lookup options")
  var lookupArguments: LookupArguments

  @OptionGroup(title: "Output options")
  var output: FormatOptions

  @OptionGroup(title: "Output options")
  var colours: ColourOptions

  @Flag(help: "Show on standard error what happens: each query, its address, status and time.")
  var trace = false

  @Argument(help: ArgumentHelp("A name; - reads names from standard input, one a line.", valueName: "host"))
  var hosts: [String]

  func run(in context: CommandContext) async throws(CommandError) -> ExitStatus {
    let context = context.coloured(colours)
    var settings = try lookupArguments.settings(in: context)
    settings.resolver.keepAlive = []
    // An error does not tell who denied that there is an address: the providers, or the system's DNS in their place.
    let askedSystem = Locked<Set<AddressQuestion>>([])
    let shown: Trace? = trace ? Trace(context) : nil
    settings.resolver.observer = { event in
      if case .query(let query) = event, query.provider == "system" {
        askedSystem.withLock { _ = $0.insert(query.question) }
      }
      shown?.note(event)
    }
    let store = try OpenStore(settings, in: context, makesFile: true)
    let (families, lookup) = (settings.resolver.families, settings.lookup)
    let lookups = NameLookups(hosts: hosts, format: output.chosen)
    return try await context.withResolver(settings, storing: RenewingStore(base: store.store)) { resolver, context in
      let left = Mutex(Left())
      let status = await lookups.run(in: context) { host throws(DirectDNSError) in
        let asked = families.members.count
        let failed = await Self.ask(resolver, host, families) { question in
          askedSystem.withLock { $0.contains(question) }
        }
        defer { left.withLock { $0.note(failed, of: asked) } }
        return try await resolver.resolve(host, options: lookup)
      }
      for message in left.withLock({ $0 }).messages { context.reportError(message) }
      return status
    }
  }

  /// How many names were not refreshed.
  private struct Left {
    private var whole = 0
    private var part = 0

    /// Counts a name by how many of its families no provider answered for.
    mutating func note(_ failed: Int, of asked: Int) {
      guard failed > 0 else { return }
      if failed == asked { whole += 1 } else { part += 1 }
    }

    var messages: [String] {
      var messages: [String] = []
      if whole > 0 { messages.append("\(subject(whole)) not refreshed, since no provider answered") }
      if part > 0 {
        messages.append("\(subject(part)) refreshed for one family alone, since no provider answered for the other")
      }
      return messages.map { $0 + ": what is stored stays." }
    }

    private func subject(_ count: Int) -> String { "\(count.counted("name")) \(count == 1 ? "was" : "were")" }
  }

  /// Asks for each family by itself: a lookup of both does not wait for the slower one.
  ///
  /// - Returns: for how many of them no provider answered.
  private static func ask(
    _ resolver: DirectResolver, _ host: String, _ families: AddressFamilies,
    wasSystemAsked: @escaping @Sendable (AddressQuestion) -> Bool
  ) async -> Int {
    await withTaskGroup(of: Bool.self) { group in
      for family in families.members {
        let options = LookupOptions(families: .init(family))
        group.addTask {
          do throws(DirectDNSError) {
            if try await resolver.resolve(host, options: options).source == .system { return true }
          } catch {
            // The lookup of both reports why there is no answer, which it finds in the resolver's cache.
            if ExitStatus(error) == .upstreamFailed { return true }
          }
          return (try? HostName(host)).map { wasSystemAsked(AddressQuestion($0, family)) } ?? false
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
  }
}
