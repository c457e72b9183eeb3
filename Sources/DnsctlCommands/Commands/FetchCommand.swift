// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration

/// `dnsctl fetch`: sends requests, to addresses that were looked up and checked here.
struct FetchCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch",
    abstract: "Fetch URLs even while DNS is down, with curl's options where curl has them.",
    discussion: """
      Names are looked up over HTTPS, every address is checked, and redirects are followed, with each hop checked again. Certificates are always checked, against the name. A body goes to standard output, or where -o and -O say.

      An existing file is replaced only when the new one is complete; until then the new one is beside it as FILE.dnsctl-part. A 304 (Not Modified) leaves it as it is. A file that does not exist yet is written in place, and so are devices, FIFOs, links, files with several names, other users' files, and a file that is mounted by itself, as into a container; a link that belongs to another user is refused. /dev/stdout, /dev/stderr and /dev/fd/N are added to. The file of -c is a new one each time, readable by its owner alone, whatever permissions, owner or other names an existing one has; devices, FIFOs, links and mounted files are written in place.

      -C - continues either of them, after an interrupt too: it asks for the missing bytes of the version that the file began with (If-Range, with the ETag or the date), and starts over if the server has another version by now or the lengths do not match. What it needs for that is kept with the file, in the extended attribute user.directdns.note. Without it (another program began the file, the file system has no attributes, or the server named no version) it continues without comparing and says so; a file that does not match is then left as it is, with status 22.

      On a terminal a line shows the progress of each body that goes to a file, unless -s or -v is given. With -Z, bodies that go to standard output come one after the other, in the order of the URLs. A body with a zero byte near its beginning is not shown on a terminal, as with curl: -o - shows it all the same.

      -m limits the time that the network takes. As with curl, it does not limit the wait for a reader of the output (a FIFO without a reader, a pipe that is not read): timeout(1) does. With -Z the wait for one's turn at standard output counts; a body that -o or -O puts into a file has no turn to wait for.

      --retry retries nothing that may have reached the server unless its method is idempotent, and nothing read from standard input. It waits as Retry-After says, an hour at most, beyond which it gives up, or 1 s, 2 s, 4 s and so on up to 10 min.

      Wherever @FILE is allowed, @- is standard input; for -b and -T it is -. Only one option can read it.

      -w knows these of curl's variables: \(WriteOutVariable.allCases.map(\.rawValue).sorted().joined(separator: ", ")). %{onerror}, %{stderr}, %{stdout}, %{json} and %{header_json} mean what they mean there. %{size_download} and %{speed_download} count the body as it is written: with --compressed the decoded one, where curl counts the bytes of the transfer.

      EXAMPLES
        dnsctl fetch https://www.example.com/
        dnsctl fetch -sS -o page -w '%{http_code} %{remote_ip} %{time_total}\\n' \\
          https://www.example.com/
        dnsctl fetch -F 'file=@report.pdf;type=application/pdf' -F note=new \\
          https://api.example/items
        dnsctl fetch -G --data-urlencode 'q=dead DNS' https://www.example.com/search
        dnsctl fetch -o disk.iso -C - --retry 5 https://mirror.example/disk.iso
        dnsctl fetch -Z -O -O https://a.example/one.tgz https://b.example/two.tgz
        dnsctl fetch --json '{"id": 7}' -H @secrets.txt https://api.example/items
        dnsctl fetch --allow 10.0.0.0/8 --cacert ours.pem https://shop.internal/

      NOT OFFERED
      \(CurlHints.table)
      A file that -d or -F names is held in memory, and is an error above 256 MiB; -T sends one of any size. -i and -D show trailers behind the body, as curl does, and neither interim responses (1xx) nor a proxy's to CONNECT. They show fields as they were read: a folded one in one line, and no line that is no field. -H leaves out neither Content-Length nor Transfer-Encoding of a body, whose end they tell.

      EXIT STATUS
          0  every URL was fetched, whatever its status, unless -f or
             --fail-with-body is given
          1  a name does not exist, has no such address, or is no valid name;
             a URL is invalid
          2  providers or network failed: also connecting, TLS, timeouts, and
             responses that cannot be read
          3  a policy refused a name, an address or a redirect
         22  with -f or --fail-with-body, a status of 400 or above; with -C, a
             file that could not be continued
         47  too many redirects
         64  the command line is wrong
         74  standard input or a file could not be read, or standard output or
             a file not written
         78  the configuration is wrong
        130  interrupted
        141  the reader of standard output has gone
        143  terminated, with a store, which has what was learned
      Of several URLs' statuses the highest counts. If one of them is malformed, none is fetched.

      The environment counts as for dnsctl resolve; proxies of the environment do not. Everything on a command line can be seen by all users of a machine. Passwords, fields, cookies and data are overwritten there once the command runs, which leaves a short time: -u @FILE, -U @FILE, --pass @FILE, -H @FILE, -d @FILE and -b FILE keep them off it altogether.
      """)

  @OptionGroup(title: "Request options")
  var request: RequestFlags

  @OptionGroup(title: "Output options")
  var output: OutputFlags

  @OptionGroup(title: "Connection options")
  var connection: ConnectionFlags

  @OptionGroup(title: "Address options")
  var policy: PolicyOptions

  @OptionGroup(title: "Lookup options")
  var lookupArguments: LookupArguments

  @Argument(help: ArgumentHelp("A URL; without a scheme it is http.", valueName: "url"))
  var urls: [String]

  /// The most transfers at once with `-Z`, as in curl.
  private static let width = 50

  func run(in context: CommandContext) async throws(CommandError) -> ExitStatus {
    guard !connection.isInsecure else {
      context.reportError("Certificates are always checked: add the authority by --cacert.")
      return .usage
    }
    // What is thrown here is told all the same: the command line or a file of it is wrong.
    let context = try await context.muted(output.isMute)
      .readingInput(for: InputReaders.of(request, output, connection))
    let cookies = try CookieFlags(request, in: context)
    let jobs = try FetchJob.all(urls, request, output, cookie: cookies.byHand, in: context)
    let writeOut = try writeOut(in: context)
    var settings = try lookupArguments.settings(in: context)
    // No name needs to be kept alive in a process that ends with its transfers.
    settings.resolver.keepAlive = []
    let configuration = try configuration(settings, cookies.jar, context.readFile)
    return try await context.withResolver(settings) { [self] resolver, context throws(CommandError) in
      let dump = output.headPath.map { HeadDump($0, output: context.output) }
      let status = await fetch(jobs, by: try Self.client(configuration, resolver), writeOut, dump, in: context)
      return status.joined(dump?.end(in: context) ?? .answered).joined(cookies.save(in: context))
    }
  }

  /// The format of -w; an unknown variable is replaced by nothing, as in curl.
  private func writeOut(in context: CommandContext) throws(CommandError) -> WriteOut? {
    guard let format = output.writeOut else { return nil }
    let writeOut = try WriteOut.read(format, in: context)
    for name in writeOut.unknown { context.reportError("unknown --write-out variable: '\(name.printable)'") }
    return writeOut
  }

  private func fetch(
    _ jobs: [FetchJob], by client: DirectClient, _ writeOut: WriteOut?, _ dump: HeadDump?, in context: CommandContext
  ) async -> ExitStatus {
    let labels = jobs.filter { $0.destination != .standardOutput }.map { ($0.index, $0.label) }
    let showsProgress = context.drawsProgress && !output.isSilent && !output.isVerbose && !labels.isEmpty
    let board = showsProgress ? ProgressBoard(context) : nil
    let fetcher = Fetcher(
      client: client, context: context, output: output, retries: connection.retries,
      log: output.isVerbose ? VerboseLog(context.errors, secrets: Set(request.secretHeaders)) : nil, board: board,
      turns: output.isParallel ? OutputOrder() : nil, writeOut: writeOut, dump: dump, jobs: jobs.count)
    let width = labels.map(\.1.columns).max() ?? 0
    let drawing = Task { await board?.run() }
    defer { drawing.cancel() }
    return await withTaskGroup(of: ExitStatus.self) { group in
      var waiting = jobs[...]
      var status = ExitStatus.answered
      for _ in 0..<(output.isParallel ? Self.width : 1) {
        guard let job = waiting.popFirst() else { break }
        group.addTask { await Self.fetch(job, by: fetcher, width) }
      }
      for await ended in group {
        status = status.joined(ended)
        guard ended != .closedPipe, let job = waiting.popFirst() else { continue }
        group.addTask { await Self.fetch(job, by: fetcher, width) }
      }
      return status
    }
  }

  private static func fetch(_ job: FetchJob, by fetcher: Fetcher, _ width: Int) async -> ExitStatus {
    if job.destination != .standardOutput {
      fetcher.board?.add(job.index, label: job.label.padded(to: width))
    }
    return await fetcher.fetch(job)
  }

  private func configuration(
    _ settings: DirectSettings, _ jar: CookieJar?, _ readFile: (String) throws(StreamError) -> [UInt8]?
  ) throws(CommandError) -> DirectClientConfiguration {
    guard connection.key == nil || connection.certificate != nil else {
      throw CommandError(.usage, "--key needs --cert: a key alone is not a certificate.")
    }
    for path in connection.authorities { try InputFile.check(path, of: "--cacert") }
    var configuration = DirectClientConfiguration()
    configuration.policy = policy.policy(over: settings.addressPolicy)
    configuration.direct = settings.direct
    configuration.trust = settings.resolver.trust
    configuration.trust.privateAuthorities += connection.authorities
    configuration.identity = try connection.identity(readFile)
    configuration.httpVersion = connection.httpVersion
    configuration.redirects = request.redirects
    configuration.cookies = jar
    configuration.proxy = try connection.proxyChoice(readFile)
    // It is one of the fields already, from which -H can remove it.
    configuration.userAgent = nil
    configuration.decompresses = request.asksForCompression
    configuration.timeouts = connection.timeouts
    configuration.lookup = settings.lookup
    configuration.pins = try ResolveFlag.pins(connection.resolved)
    return configuration
  }

  private static func client(
    _ configuration: DirectClientConfiguration, _ resolver: DirectResolver
  ) throws(CommandError) -> DirectClient {
    do throws(DirectDNSError) { return try DirectClient(configuration, resolver: resolver) } catch {
      throw CommandError(error)
    }
  }
}

extension FetchJob {
  /// The label of its progress bar: the file's name, cut off to leave room for the rest.
  fileprivate var label: String {
    let name = (destination.path ?? "").split(separator: "/").last.map { String($0).printable } ?? ""
    return name.cut(to: 24)
  }
}
