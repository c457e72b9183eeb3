// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration
internal import DirectDNSPrometheus

/// `dnsctl watch`: a live table of names and providers.
struct WatchCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Watch names and providers: addresses, freshness, hit rate, latency.",
    discussion: """
      Looks the names up again and again, as a program that sends to them would, and shows what it gets: answers from the cache while they are refreshed in the background, and expired answers while no server answers. A name that does not exist, or has no such address, is negative; failed is one that nobody could be asked about. The names are those given, those of files, and those that the configuration keeps alive. The configuration file is read again when it changes and, unless it was started at a terminal, at SIGHUP.

      On a terminal the table is drawn in place, q quits and ? shows the keys; elsewhere each interval prints a table, or with --format json a line.

      EXAMPLES
        dnsctl watch www.example.com api.example.com
        dnsctl watch --hosts hosts.txt
        dnsctl watch --metrics 127.0.0.1:9464 --config pipeline.json5
        dnsctl watch --format json --interval 10 www.example.com >> watch.jsonl
        dnsctl watch --count 1 www.example.com

      JSON
      One compact object a line, for each interval. Every key is always there, in this order, and null where there is nothing.
        time           seconds since 1970
        elapsedMs      milliseconds since it began
        lookups, hits  lookups so far, and those that the cache answered
        names          host, addresses, ttl, expiredFor (seconds since the
                       answer expired), freshness, source, provider, lookups,
                       hits, lastError, and negative (whether the answer is
                       that there is no such name or address), for each name
        upstreams      provider, queries, failures, medianMs, p95Ms and
                       breakerOpen, for each provider and the system's DNS

      EXIT STATUS
          0  --count snapshots were shown, or q was pressed
         64  the command line is wrong, or there is nothing to watch
         74  a file could not be read, standard output not written, or
             --metrics could not listen
         78  the configuration is wrong
        130  interrupted
        141  the reader of standard output has gone
        143  terminated

      The environment counts as for dnsctl resolve.
      """)

  @OptionGroup(title: "Lookup options")
  var lookupArguments: LookupArguments

  @OptionGroup(title: "Metrics options")
  var metrics: MetricsOptions

  @Option(
    name: .customLong("hosts"),
    help: ArgumentHelp("A file of names, one a line; - is standard input. May be given again.", valueName: "file"),
    completion: .file())
  var files: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Seconds between two snapshots, from 0.1, decimals allowed. (default: 1)", valueName: "s"),
    transform: { text in
      guard let interval = Seconds.timeout(text), interval >= .milliseconds(100) else {
        throw ValidationError("Give a number of seconds, from 0.1 to 86400.")
      }
      return interval
    })
  var interval = Duration.seconds(1)

  @Option(parsing: .unconditional, help: ArgumentHelp("End after so many snapshots. (default: never)", valueName: "n"))
  var count: Int?

  @OptionGroup
  var output: ShownFormatOptions

  @Argument(help: ArgumentHelp("A name or an address; - reads names from standard input.", valueName: "host"))
  var hosts: [String] = []

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count must be 1 or more.") }
  }

  @OptionGroup
  var colours: ColourOptions

  func run(in context: CommandContext) async throws(CommandError) -> ExitStatus {
    let context = context.coloured(colours)
    var settings = try lookupArguments.settings(in: context)
    let lists = files + hosts.filter { $0 == Pipeline.inputMark }
    let asked = hosts.filter { $0 != Pipeline.inputMark } + (try await HostLists.names(lists, in: context))
    let names = Self.names(asked, settings.resolver.keepAlive)
    guard !names.isEmpty else {
      throw CommandError(
        .usage,
        "there is nothing to watch: name hosts, a file of them by --hosts, or some to be kept alive in the configuration."
      )
    }
    let endpoint = try await metrics.start(in: context)
    endpoint.say(in: context)
    return try await endpoint.serving { () async throws(CommandError) in
      // The watcher is made after the resolver that reports to it.
      let watcher = Locked<Watcher?>(nil)
      settings.resolver.observer = Watcher.observer { watcher.withLock { $0 } }
      let store = try context.store(of: settings)
      return try await context.withResolver(settings, store) { resolver throws(CommandError) in
        let made = Watcher(names, resolver: resolver, options: settings.lookup, clock: context.clock)
        watcher.withLock { $0 = made }
        let display = WatchDisplay(context, isJSON: output.isJSON)
        let following = try lookupArguments.follow(resolver, in: context, report: display.report) { settings in
          made.watch(Self.names(asked, settings.resolver.keepAlive), options: settings.lookup)
        }
        defer { following?.cancel() }
        return await show(made, on: display, in: context)
      }
    }
  }

  /// The names without duplicates, those of the command line first; names in other scripts are kept as written there.
  static func names(_ hosts: [String], _ keptAlive: Set<HostName>) -> [String] {
    var known: Set<String> = []
    return (hosts + keptAlive.sorted().map(\.spelled)).compactMap { text in
      let name = (try? HostName(text))?.text ?? text
      guard known.insert(name).inserted else { return nil }
      return text.utf8.allSatisfy { $0 < 0x80 } ? name : text
    }
  }

  private func show(
    _ watcher: Watcher, on display: WatchDisplay, in context: CommandContext
  ) async -> ExitStatus {
    if display.isLive {
      // Before the terminal's settings are changed, which have to be restored.
      context.onTerminalStop { stop in
        display.around(stop)
        try? display.show(watcher.snapshot)
      }
    }
    display.begin()
    let status = await withTaskGroup(of: ExitStatus?.self) { group in
      group.addTask { await context.interruption() }
      group.addTask { await self.loop(watcher, display, in: context) }
      if display.takesKeys { group.addTask { await Self.listen(watcher, display, in: context) } }
      defer { group.cancelAll() }
      // A task that returns nil does not end the others.
      while let ended = await group.next() { if let ended { return ended } }
      return .answered
    }
    display.end(watcher.snapshot)
    return status
  }

  /// Handles keys until one of them quits.
  private static func listen(
    _ watcher: Watcher, _ display: WatchDisplay, in context: CommandContext
  ) async -> ExitStatus? {
    for await key in WatchKey.pressed(in: context) {
      guard key == .help else { return .answered }
      display.toggleKeys()
      try? display.show(watcher.snapshot)
    }
    return nil
  }

  private func loop(_ watcher: Watcher, _ display: WatchDisplay, in context: CommandContext) async -> ExitStatus {
    var shown = 0
    while true {
      await withTaskGroup { group in
        watcher.look(in: &group)
        guard display.isLive else { return }
        // The table is drawn without waiting for the lookups.
        group.addTask {
          try? display.show(watcher.snapshot)
          await context.pause(interval / 4)
          try? display.show(watcher.snapshot)
        }
      }
      do throws(StreamError) {
        try display.show(watcher.snapshot)
      } catch {
        return CommandError(error).status(in: context)
      }
      shown += 1
      if shown == count || Task.isCancelled { return .answered }
      await context.pause(interval)
      if Task.isCancelled { return .answered }
    }
  }
}
