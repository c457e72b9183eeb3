// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration
internal import DirectDNSPrometheus

/// `dnsctl warmup`: looks up many names before they are needed.
struct WarmupCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "warmup",
    abstract: "Look up many names ahead of need, into a store that others start from.",
    discussion: """
      A file of names has one host a line; blank lines and what follows a # are left out. A name counts once, however it is spelled. A line that is no name is reported as FILE:LINE, and the others are looked up all the same. Without --store, what is learned is lost when the process ends: it then shows only whether the names can be resolved.

      Names that the store has fresh cost no query. Others are asked for, and an expired answer counts where nobody answers, whatever --expired says. A provider's request rate always holds, and one that answers 429 is not asked again before its Retry-After is over, an hour at most; the line of progress says so. A name that failed is tried again twice, after 1 s and 2 s.

      The summary goes to standard output (with --json, the report in one line), progress and failures to standard error. An interrupt ends it early: what is done is kept, and the summary says how far it got.

      With --keep-alive the process keeps running, and refreshes the names before they expire until it is interrupted or terminated. Which providers fail again and again, and which of these answer again, it says on standard error. If --min-success is not reached, it ends instead; an empty list reaches only --min-success 0. It reads its configuration file again when that changes and, unless it was started at a terminal, at SIGHUP.

      EXAMPLES
        dnsctl warmup --store sqlite www.example.com api.example.com
        dnsctl warmup --hosts hosts.txt --store sqlite --min-success 95%
        dnsctl warmup --hosts - --rate 50 --report report.json < hosts.txt
        dnsctl warmup --hosts hosts.txt --store redis://cache:6379 --keep-alive \\
            --min-success 0 --metrics 127.0.0.1:9464

      JSON
      \(WarmupSummary.jsonHelp)

      EXIT STATUS
          0  as many names as --min-success wants have an address; with
             --keep-alive, also after being interrupted or terminated
          5  fewer have
         64  the command line is wrong
         74  a file or standard input could not be read, the report or standard
             output not written, or the store did not take what was learned,
             or not all of it had room there
         78  the configuration is wrong
        130  interrupted before the end
        141  the reader of standard output has gone
        143  terminated before the end

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

  @Option(parsing: .unconditional, help: ArgumentHelp("The most names under way at a time.", valueName: "n"))
  var concurrency = 64

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The most names that begin in a second. (default: as fast as providers let it)", valueName: "n"),
    transform: { text in
      guard let rate = Double(text), rate > 0, rate <= 1_000_000 else {
        throw ValidationError("Give a number of names a second, more than 0 and at most 1000000.")
      }
      return rate
    })
  var rate: Double?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Seconds after which it ends, decimals allowed. (default: none)", valueName: "s"),
    transform: { text in try Seconds.timeoutOption(text) })
  var deadline: Duration?

  @Option(
    name: .customLong("min-success"), parsing: .unconditional,
    help: ArgumentHelp(
      "How many names must have an address, be it an expired one: a count or a percentage. (default: 100%)",
      valueName: "n|n%"),
    transform: { text in
      guard let minimum = WarmupMinimum(text) else {
        throw ValidationError("\"\(text.printable)\" is neither a count nor a percentage. Write 40 or 95%.")
      }
      return minimum
    })
  var minimum: WarmupMinimum = .all

  @Flag(name: .customLong("keep-alive"), help: "Go on, and refresh the names until the process is told to end.")
  var keepsAlive = false

  @Option(
    name: .customLong("report"),
    help: ArgumentHelp(
      "Write the report there as JSON; - is standard output, and the summary then goes to standard error.",
      valueName: "file"),
    completion: .file(extensions: ["json"]))
  var reportPath: String?

  @OptionGroup
  var output: ShownFormatOptions

  @Argument(help: ArgumentHelp("A name; - reads names from standard input.", valueName: "host"))
  var hosts: [String] = []

  func validate() throws {
    if concurrency < 1 { throw ValidationError("--concurrency must be 1 or more.") }
  }

  @OptionGroup
  var colours: ColourOptions

  func run(in context: CommandContext) async throws(CommandError) -> ExitStatus {
    let context = context.coloured(colours)
    var settings = try lookupArguments.settings(in: context)
    try checkReport(settings, in: context)
    let lists = try HostLists(files: files, hosts: hosts, in: context)
    let notice = ProviderNotice(context)
    if keepsAlive {
      settings.resolver.capacity = Self.capacity(settings.resolver.capacity, keeping: lists.expected)
      settings.resolver.observer = notice.observer(passingTo: settings.resolver.observer)
    } else {
      settings = settings.forOneRun
      settings.resolver.keepAlive = []
    }
    // Services that start after a warm-up wait until it is ready, but not for ever: with fewer names than required
    // the command ends.
    let isWarm = Locked(false)
    let endpoint = try await metrics.start(in: context) {
      isWarm.withLock { $0 } ? .ready : .notReady("the warm-up is under way")
    }
    endpoint.say(in: context)
    return try await endpoint.serving { () async throws(CommandError) in
      let store = try context.store(of: settings)
      return try await context.withResolver(settings, store, CommandContext.exitStatus(of:)) {
        resolver throws(CommandError) in
        try await warm(resolver, lists, besides: settings.resolver.keepAlive, in: context) {
          isWarm.withLock { $0 = true }
          // Before, the summary tells who failed.
          notice.begin()
        }
      }
    }
  }

  /// The report takes no file's place that this command reads.
  private func checkReport(_ settings: DirectSettings, in context: CommandContext) throws(CommandError) {
    guard let reportPath else { return }
    try InputFile.check(reportPath, of: "--report")
    var others = files.map { ("--hosts", $0) }
    if let path = context.configurationPath(lookupArguments.configurationPath) { others.append(("--config", path)) }
    if let path = try settings.store?.path(context.environment) { others.append(("--store", path)) }
    guard let (option, path) = others.first(where: { isSameFile($0.1, reportPath) }) else { return }
    throw CommandError(.usage, "--report and \(option) name one file, \(path.printable): name another one.")
  }

  /// The capacity in which names that are kept alive evict neither each other nor what there was to be room for.
  ///
  /// Of a list whose length is not known, a million names: more than anyone keeps alive. Those that are not there take
  /// eight bytes each, in the index.
  static func capacity(_ configured: Int, keeping expected: Int?) -> Int {
    min(configured + (expected ?? 1_000_000), ResolverConfiguration.largestCapacity)
  }

  private func plan(_ lists: HostLists) -> WarmupPlan {
    var plan = WarmupPlan(lists.sources)
    plan.concurrency = concurrency
    plan.rate = rate
    plan.timeout = deadline
    plan.minimum = minimum
    plan.keepAlive = keepsAlive ? .all : .none
    return plan
  }

  private func warm(
    _ resolver: DirectResolver, _ lists: HostLists, besides configured: Set<HostName>, in context: CommandContext,
    isDone: () -> Void
  ) async throws(CommandError) -> ExitStatus {
    let job: WarmupJob
    do throws(DirectDNSError) { job = try WarmupJob(plan(lists), resolver: resolver) } catch {
      throw CommandError(error)
    }
    let interruption = Task { await context.interruption() }
    defer { interruption.cancel() }
    let display = WarmupDisplay(job, expecting: lists.expected, context)
    // From the beginning: neither SIGHUP nor a file with an error may end a warm-up that is to go on.
    let following = keepsAlive ? try lookupArguments.follow(resolver, in: context, report: display.say) : nil
    defer { following?.cancel() }
    var report = try await run(job, display, until: interruption)
    report.evicted = await resolver.drainStore()
    let stored = report.evicted > 0 ? ExitStatus.streams : .answered
    let told = write(report, in: context)
    let written = told.joined(stored)
    guard report.end != .stopped else { return written.joined(await interruption.value ?? .interrupted) }
    guard report.isMinimumReached else { return written.joined(.minimumMissed) }
    guard keepsAlive, told == .answered else { return written }
    isDone()
    let kept = report.names - report.negative
    // Those of the configuration need not be among those that were looked up.
    let others = configured.isEmpty ? "" : ", and those that the configuration keeps alive,"
    context.reportError("keeping \(kept.counted("name"))\(others) fresh until told to end")
    _ = await interruption.value
    return stored
  }

  /// Runs the job, and shows its progress and invalid names.
  private func run(
    _ job: WarmupJob, _ display: WarmupDisplay, until interruption: Task<ExitStatus?, Never>
  ) async throws(CommandError) -> WarmupReport {
    let events = job.events()
    let telling = Task {
      for await case .rejected(let rejection) in events { display.say(rejection.description.printable) }
    }
    let showing = Task { await display.run() }
    let stopping = Task { if await interruption.value != nil { job.stop() } }
    defer {
      showing.cancel()
      stopping.cancel()
    }
    let result: Result<WarmupReport, DirectDNSError>
    do throws(DirectDNSError) { result = .success(try await job.warmUp()) } catch { result = .failure(error) }
    await telling.value
    showing.cancel()
    await showing.value
    display.end()
    return try result.mapError { CommandError(.streams, $0.message) }.get()
  }

  // MARK: Output

  private func write(_ report: WarmupReport, in context: CommandContext) -> ExitStatus {
    let summary = WarmupSummary(report: report, style: context.style)
    for line in summary.failures { context.reportError(line.printable) }
    let isReportOnOutput = reportPath == Pipeline.inputMark
    var status = ExitStatus.answered
    if let reportPath, !isReportOnOutput {
      do throws(StreamError) {
        let target = try ExportTarget(path: reportPath)
        try target.write(summary.json(isPretty: true))
        try target.finish()
      } catch {
        context.reportError("\(reportPath.printable): the report cannot be written: \(error.reason).")
        status = .streams
      }
    }
    let text = output.isJSON ? summary.json(isPretty: false) : summary.text
    if isReportOnOutput { try? context.errors.write(output.isJSON ? "" : text) }
    return context.write(isReportOnOutput ? summary.json(isPretty: true) : text).joined(status)
  }
}
