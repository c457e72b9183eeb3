// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration
internal import DirectDNSProxy
internal import DnsctlCommands

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// `dnsctl exec`: runs a program with a proxy of its own.
struct ExecCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "exec",
    abstract: "Run a program through a proxy of its own.",
    usage: "dnsctl exec [<options>] -- <program> [<arguments> ...]",
    discussion: """
      Starts a proxy on a free port of 127.0.0.1, runs the program with http_proxy, https_proxy, HTTPS_PROXY, all_proxy, ws_proxy, wss_proxy and NODE_USE_ENV_PROXY, and without no_proxy, and ends with its status. Names are looked up and addresses checked as by dnsctl proxy.

      It helps programs that read these variables: curl, wget, git, pip, apt, cargo, Python's urllib and requests, Go, Ruby, PHP's curl, Node from 22.21 and 24.5 on. Java reads none of them; with --java it gets the proxy by JAVA_TOOL_OPTIONS. PHP's streams read none either: a context gives them the proxy.

      Of an https URL that is refused curl and git show the status alone, such as "CONNECT tunnel failed, response 403". curl -v shows why, and so does dnsctl fetch where a name or an address is refused.

      Signals go to the program, but for those of a fault (SIGSEGV and the like), SIGCHLD, SIGPIPE and SIGXFSZ. At a terminal both stop and go on together. Once the program has ended, answers may still be stored: a second signal ends that at once. While it runs, anyone with an account on this machine can use its proxy. The proxy ends with the program: processes that the program leaves running lose it.

      The configuration file is followed while the program runs, and so is the file of --upstream with it: new settings apply to what is asked for from then on, and a file with an error changes nothing. What changes is said on standard error.

      The variables by which systemd hands sockets to a service (LISTEN_PID) and watches it (WATCHDOG_PID) mean the program. A service of Type=notify wants NotifyAccess=all.

      EXAMPLES
        dnsctl exec -- python3 send.py
        dnsctl exec --store sqlite -- curl https://www.example.com/
        dnsctl exec --java -- java -jar service.jar

      EXIT STATUS
        that of the program; 128 and the signal's number where a signal ended it
         64  the command line is wrong
         74  there can be no proxy, or a file cannot be read
         78  the configuration is wrong
        125  how the program ended is not known
        126  the program cannot be run
        127  there is no such program

      The environment counts as for dnsctl resolve; proxies of the environment do not.
      """)

  @Flag(name: .customLong("java"), help: "Tell Java of the proxy, by JAVA_TOOL_OPTIONS.")
  var tellsJava = false

  @OptionGroup
  var allowed: PortOptions

  @OptionGroup(title: "Route options")
  var route: RouteOptions

  @OptionGroup(title: "Address options")
  var policy: PolicyOptions

  @OptionGroup(title: "Lookup options")
  var lookupArguments: LookupArguments

  /// For the help alone: the parser is given what stands before the program.
  @Argument(parsing: .postTerminator, help: ArgumentHelp("The program and its arguments.", valueName: "program"))
  var program: [String] = []

  func run() async throws {
    let context = CommandContext.process()
    let ending: ChildProcess.Ending
    do throws(CommandError) { ending = try await run(in: context) } catch {
      ending = .exited(error.status(in: context, of: "exec").rawValue)
    }
    if case .died(SIGINT) = ending { CommandSignals.end(.interrupted) }
    _exit(ending.status)
  }

  private func run(in context: CommandContext) async throws(CommandError) -> ChildProcess.Ending {
    let program = ProcessArguments.program
    guard !program.isEmpty else { throw CommandError(.usage, "there is no program to run.") }
    let settings = try lookupArguments.settings(in: context)
    let store = try context.store(of: settings)
    var ending = ChildProcess.Ending.exited(0)
    _ = try await context.withResolver(settings, store) { resolver throws(CommandError) in
      ending = try await serve(program, settings, resolver, in: context)
      // Whoever ends the program wants this process to end as well, which then waits for no query.
      return ending.isWanted ? .terminated : .answered
    }
    return ending
  }

  /// Serves while the program runs.
  private func serve(
    _ program: [[UInt8]], _ settings: DirectSettings, _ resolver: DirectResolver, in context: CommandContext
  ) async throws(CommandError) -> ChildProcess.Ending {
    var limits = ProxyLimits()
    // Processes that the program leaves running do not keep the proxy.
    limits.drainTimeout = .milliseconds(100)
    let drained = limits
    let inputs = try ProxyInputs(settings, route, nil, in: context) { settings, entry, _ in
      ProxyConfiguration(
        listeners: [.tcp(.loopback(), port: 0)], policy: policy.policy(over: settings.addressPolicy),
        direct: settings.direct, upstream: entry.upstream, routes: entry.routes, ports: allowed.ports,
        lookup: settings.lookup, limits: drained)
    }
    var ending = ChildProcess.Ending.exited(0)
    var following: Task<Void, any Error>?
    defer { following?.cancel() }
    try await ProxyRun.serve(inputs, resolver, in: context) { run throws(CommandError) in
      // SIGHUP is for the program.
      following = try run.follow(lookupArguments, trapsHangUp: false, read: run.update)
      ending = try await start(program, at: run.places, in: context)
    }
    return ending
  }

  /// Starts the program, and waits for it.
  private func start(
    _ program: [[UInt8]], at places: [ListenAddress], in context: CommandContext
  ) async throws(CommandError) -> ChildProcess.Ending {
    guard case .tcp(let address, let port)? = places.first else { throw CommandError(.streams, "there is no proxy.") }
    let environment = ChildEnvironment(
      javaOptions: context.environment["JAVA_TOOL_OPTIONS"], host: "\(address)", port: port, tellsJava: tellsJava)
    let signals = SignalRelay()
    // Also where it was not started, or how it ended is not known.
    defer { signals.end() }
    do throws(ChildProcess.Failure) {
      let child = try ChildProcess(
        program, environment: environment.variables(over: ProcessArguments.environment), .ofStart, signals: signals)
      // Only now: the program keeps the limit that it was started with.
      FileLimit.raise()
      return try await child.wait()
    } catch {
      context.reportError(error.message(for: program[0]))
      return .exited(error.status)
    }
  }
}
