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

/// `dnsctl proxy`: a forward proxy that resolves, judges and connects as `fetch` does.
struct ProxyCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "proxy",
    abstract: "Serve as a proxy, for programs of every language and for browsers.",
    discussion: """
      Speaks HTTP (absolute-form requests, CONNECT, WebSockets), SOCKS5, SOCKS4 and SOCKS4a on one port. Names are looked up over HTTP, every address is judged before it is connected to and once more when the connection stands, and addresses that are dead are passed over. What goes through a tunnel is not looked into: certificates are the client's own business.

      The first line on standard error says where it listens. A browser finds what it needs at /proxy.pac; /live and /ready say whether it works.

      Only this machine can use it, unless there are users: other addresses are refused without --users or --token. A Unix socket goes by the mode of its file, and by --peer-uid.

      Under systemd it takes over the sockets of a socket unit and says when it serves, reloads and ends (Type=notify).

      SIGHUP has the configuration file read again, and --users and --token with it, which also happens when it changes. SIGINT and SIGTERM end it: what is under way may end within --drain.

      EXAMPLES
        dnsctl proxy
        dnsctl proxy --listen 127.0.0.1:0 --allow 10.0.0.0/8
        dnsctl proxy --listen 0.0.0.0:3128 --users /etc/directdns/users
        https_proxy=http://127.0.0.1:3128 python3 send.py

      EXIT STATUS
          0  it was told to end, and did
         64  the command line is wrong
         74  it cannot listen there, or a file cannot be read
         78  the configuration is wrong
      """)

  @OptionGroup(title: "Proxy options")
  var proxy: ProxyOptions

  @OptionGroup(title: "Address options")
  var policy: PolicyOptions

  @OptionGroup(title: "Upstream options")
  var upstream: UpstreamOptions

  @OptionGroup(title: "Metrics options")
  var metrics: MetricsOptions

  func run(in context: CommandContext) async -> ExitStatus {
    do throws(SettingsError) {
      let settings = try upstream.settings(in: context)
      let endpoint = try metrics.start(in: context)
      defer { endpoint?.stop() }
      let store = try settings.store.flatMap { setting throws(SettingsError) in try context.openStore(setting) }
      let log = proxy.accessLog(in: context)
      let systemd = Systemd(context.environment, process: getpid())
      return try await context.withResolver(settings, store) { resolver throws(SettingsError) in
        let users = try proxy.users(in: context)
        let server = try server(configuration(settings, log, users: users, systemd.sockets), resolver)
        let interruption = Task { await context.interruption() }
        defer { interruption.cancel() }
        let places: [ListenAddress]
        do throws(DirectDNSError) { places = try await server.start() } catch {
          throw SettingsError(.streams, error.message)
        }
        guard proxy.peers.isEmpty || places.contains(where: { if case .unix = $0 { true } else { false } }) else {
          await server.stop()
          throw SettingsError(
            .usage, "--peer-uid is for Unix sockets, and the proxy listens at none: add --listen unix:PATH.")
        }
        let said = "proxy at \(places.map(\.description).joined(separator: ", "))"
        context.complain(said)
        let held = Locked((settings: settings, users: users))
        let read = { @Sendable in
          systemd.tell(.reloading(microseconds: Systemd.microseconds))
          // Who may use it is read again with all else; a file that cannot be used changes nothing.
          do throws(SettingsError) {
            let users = try proxy.users(in: context)
            held.withLock { $0.users = users }
          } catch {
            context.complain("\(error.message) What held before holds still.")
          }
          let (settings, users) = held.withLock(\.self)
          do throws(DirectDNSError) {
            try server.update(configuration(settings, log, users: users, systemd.sockets))
          } catch {
            context.complain(error.message)
          }
          systemd.tell(.ready(status: said))
        }
        let begun = { @Sendable in systemd.tell(.ready(status: said)) }
        var following = try upstream.follow(resolver, in: context, tell: context.complain) { changed in
          held.withLock { $0.settings = changed }
        } begun: {
          begun()
        } read: {
          read()
        }
        // Without a file to follow, who may use it is read again all the same; at a terminal SIGHUP ends the process.
        if following == nil, users != nil, !context.isAtTerminal {
          context.ignoreHangUp()
          following = Task {
            let signals = await UnixSignalsSequence(trapping: .sighup)
            begun()
            for await _ in signals { read() }
          }
        } else if following == nil {
          begun()
        }
        defer { following?.cancel() }
        _ = await interruption.value
        systemd.tell(.stopping)
        await server.stop()
        log?.flush()
        return .answered
      }
    } catch {
      return error.status(in: context, of: "proxy")
    }
  }

  private func server(
    _ configuration: ProxyConfiguration, _ resolver: DirectResolver
  ) throws(SettingsError) -> ProxyServer {
    do throws(DirectDNSError) { return try ProxyServer(configuration, resolver: resolver) } catch {
      throw SettingsError(.usage, error.message)
    }
  }

  private func configuration(
    _ settings: DirectSettings, _ log: AccessLogWriter?, users: ProxyUsers?, _ inherited: [Int32]
  ) -> ProxyConfiguration {
    var configuration = ProxyConfiguration(
      listeners: proxy.listeners(beside: inherited), inherited: inherited,
      policy: policy.policy(over: settings.addressPolicy), direct: settings.direct,
      ports: proxy.ports, users: users, peers: proxy.peers.isEmpty ? nil : Set(proxy.peers), lookup: settings.lookup,
      limits: proxy.limits, loops: proxy.loops)
    if let log { configuration.accessLog = { log.write($0) } }
    return configuration
  }
}
