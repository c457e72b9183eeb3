// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration
internal import DirectDNSPrometheus
internal import DnsctlCommands
internal import DirectDNSProxy
internal import UnixSignals

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// `dnsctl proxy`: a forward proxy that resolves, checks addresses and connects as `fetch` does.
struct ProxyCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "proxy",
    abstract: "Serve as a proxy, for programs of every language and for browsers.",
    discussion: """
      Speaks HTTP (absolute-form requests, CONNECT, WebSockets), SOCKS5, SOCKS4 and SOCKS4a on one port. Names are looked up over HTTPS, every address is checked before it is connected to and again once it is connected, and dead addresses are skipped. What goes through a tunnel is not inspected: checking certificates is up to the client.

      The line "proxy at …" on standard error says where it listens; nothing but warnings about files and environment variables comes before it. Behind it stands what changes, and which providers fail again and again, or answer again. A browser finds what it needs at /proxy.pac; /live and /ready say whether it works.

      Only this machine can use it, unless there are users: other addresses are refused without --users or --token. Who may use a Unix socket depends on the mode of its file, and on --peer-uid.

      With --upstream requests go through another proxy. Names are still looked up and checked here, and the other proxy is asked for the address, by CONNECT or SOCKS5, for plain requests too. With --upstream-resolves, or socks5h://, it is told the name, and plain requests go to it with their whole URL: names, literal addresses and ports are checked here then, but not the addresses that it finds. Its own address is not checked. --route chooses another route for single names.

      The soft limit of open files (ulimit -n) is raised to the hard one: a tunnel takes two. When none is left, clients wait until one is.

      Under systemd it takes over the sockets of a socket unit and says when it serves, reloads and ends (Type=notify).

      At SIGHUP it reads the configuration file again, and with it the files of --users, --token and --upstream; so it does when the configuration file changes. New settings apply to what is asked for from then on. A file with an error changes nothing, while the others still apply, and a message says what stays. SIGINT and SIGTERM end it, and SIGHUP if it was started at a terminal: what is under way may finish within --drain, or until the signal comes a second time.

      EXAMPLES
        dnsctl proxy
        dnsctl proxy --listen 127.0.0.1:0 --allow 10.0.0.0/8
        dnsctl proxy --listen 0.0.0.0:3128 --users /etc/directdns/users
        dnsctl proxy --listen 127.0.0.1:0 --upstream http://proxy.example:3128 \\
          --route corp.example=system
        https_proxy=http://127.0.0.1:3128 python3 send.py

      ACCESS LOG
      With --access-log json there is one compact object a line. Keys are in this order, and null where there is nothing; path is there with --log-paths, and upstream where another proxy was used.
        time        when it ended, by RFC 3339
        client      the client's address; null for a Unix socket
        user        the user; token for one with a token
        kind        http, connect, upgrade, socks5 or socks4
        method      the request's method; null for SOCKS
        origin      the host and port that were asked for
        path        the path of a request in the clear, without its query
        status      the response's status, for SOCKS the one of HTTP for it
        error       why it was refused or broke off: a type of RFC 9209,
                    behind dns_error with its rcode
        address     the address that was connected to
        upstream    the other proxy
        received, sent
                    bytes of bodies or of a tunnel from and to the client
        connectMs   milliseconds for looking up and connecting; null if a
                    connection was used again
        durationMs  milliseconds from the first byte to the end

      A reader that is slow holds nobody up: 8 MiB of lines wait for it, and a line {"dropped":N} counts those beyond. When its reader has gone, a message says so, and requests go on without a log.

      With combined it is as Apache and nginx write it: CLIENT - USER [TIME] "METHOD TARGET HTTP/VERSION" STATUS SENT, and two empty fields; lines that were dropped are counted behind a #. CLIENT is unix: for a Unix socket, TARGET begins with - for the proxy's own pages, and SOCKS has socks5 or socks4 for METHOD, and no version.

      EXIT STATUS
          0  it was told to end, and did
         64  the command line is wrong
         74  it cannot listen there, or a file cannot be read
         78  the configuration is wrong
        129  its terminal hung up a second time, or before it served
        130  interrupted a second time, or before it served
        143  terminated a second time, or before it served

      The environment counts as for dnsctl resolve; proxies of the environment do not.
      """)

  @OptionGroup(title: "Proxy options")
  var proxy: ProxyOptions

  @OptionGroup(title: "Route options")
  var route: RouteOptions

  @OptionGroup(title: "Address options")
  var policy: PolicyOptions

  @OptionGroup(title: "Lookup options")
  var lookupArguments: LookupArguments

  @OptionGroup(title: "Metrics options")
  var metrics: MetricsOptions

  func run(in context: CommandContext) async throws(CommandError) -> ExitStatus {
    if proxy.loops > 1, let shortage = StartLimits.shortage(threads: proxy.loops) {
      throw CommandError(.streams, shortage)
    }
    let settings = try lookupArguments.settings(in: context)
    let registry = proxy.servesMetrics ? PrometheusRegistry(explaining: MetricDescription.proxy) : nil
    if let registry { context.collectMetrics(registry) }
    // Not announced yet: scripts that wait for the first line expect the proxy's address in it.
    let endpoint = try await metrics.start(in: context, from: registry, explaining: MetricDescription.proxy)
    return try await endpoint.serving { () async throws(CommandError) in
      try await serve(settings, registry, endpoint, in: context)
    }
  }

  /// Serves until a signal comes.
  private func serve(
    _ settings: DirectSettings, _ registry: PrometheusRegistry?, _ endpoint: MetricsEndpoint?,
    in context: CommandContext
  ) async throws(CommandError) -> ExitStatus {
    let store = try context.store(of: settings)
    let notice = ProviderNotice(context)
    var observed = settings
    observed.resolver.observer = notice.observer(passingTo: settings.resolver.observer)
    let log = proxy.accessLog(in: context)
    let systemd = Systemd(context.environment, process: getpid())
    return try await context.withResolver(observed, store) { resolver throws(CommandError) in
      let inputs = try ProxyInputs(settings, route, proxy, in: context) { settings, entry, users in
        var made = configuration(settings, entry, log, users: users, systemd.sockets)
        made.notice = context.reportError
        if let registry { made.metrics = { registry.text() } }
        return made
      }
      let ending = ProxyEnding(context)
      var following: Task<Void, any Error>?
      defer { following?.cancel() }
      try await ProxyRun.serve(inputs, resolver, in: context) { run throws(CommandError) in
        try checkPeers(at: run.places)
        let said = "proxy at \(run.places.map(\.description).joined(separator: ", "))"
        following = try follow(run, systemd, status: said, in: context) {
          context.reportError(said)
          endpoint.say(in: context)
          notice.begin()
        }
        await ending.begins()
        systemd.notify(.stopping)
      } stop: { server in
        await ending.stop(server, log)
      }
      return .answered
    }
  }

  private func checkPeers(at places: [ListenAddress]) throws(CommandError) {
    guard !proxy.peers.isEmpty, !places.contains(where: { if case .unix = $0 { true } else { false } }) else { return }
    throw CommandError(
      .usage, "--peer-uid is for Unix sockets, and the proxy listens at none: add --listen unix:PATH.")
  }

  /// Has the proxy take over files that change, and all of them at SIGHUP.
  ///
  /// `announce` is called once it does: whoever waits for that may send SIGHUP. Returns a task to cancel at the end; nil if
  /// there is nothing to follow.
  private func follow(
    _ run: ProxyRun, _ systemd: Systemd, status: String, in context: CommandContext,
    announce: @escaping @Sendable () -> Void
  ) throws(CommandError) -> Task<Void, any Error>? {
    let ready = { @Sendable in systemd.notify(.ready(status: status)) }
    let begun = { @Sendable in
      announce()
      ready()
    }
    let read = { @Sendable in
      systemd.notify(.reloading(microseconds: Systemd.microseconds))
      run.update()
      ready()
    }
    if let following = try run.follow(lookupArguments, trapsHangUp: true, begun: begun, read: read) { return following }
    // Without a configuration file SIGHUP still has the other files read again, so that a reload never ends a service;
    // at a terminal SIGHUP ends the process.
    guard !context.isAtTerminal else {
      begun()
      return nil
    }
    return Task {
      let signals = await UnixSignalsSequence(trapping: .sighup)
      begun()
      for await _ in signals { read() }
    }
  }

  func configuration(
    _ settings: DirectSettings, _ entry: ProxyEntry, _ log: AccessLogWriter?, users: ProxyUsers?, _ inherited: [Int32]
  ) -> ProxyConfiguration {
    var configuration = ProxyConfiguration(
      listeners: proxy.listeners(beside: inherited), inherited: inherited,
      policy: policy.policy(over: settings.addressPolicy), direct: settings.direct,
      upstream: entry.upstream, routes: entry.routes, ports: proxy.allowed.ports, users: users,
      peers: proxy.peers.isEmpty ? nil : Set(proxy.peers), lookup: settings.lookup,
      limits: proxy.limits, threads: proxy.loops)
    if let log { configuration.accessLog = { log.write($0) } }
    return configuration
  }
}
