// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration
internal import DnsctlCommands

/// Which route names take; these options override the configuration file.
struct RouteOptions: ParsableArguments {
  @Option(
    name: .customLong("upstream"),
    help: ArgumentHelp(
      "Another proxy to go through: http://[USER:PASSWORD@]HOST:PORT, socks5://… or socks5h://…; @FILE or '$NAME' of an environment variable that holds the URL. It is asked for the addresses that are found and checked here, unless it is socks5h://. Replaces the configuration file's.",
      valueName: "url|@file|$name"))
  var upstreamText: String?

  @Flag(
    name: .customLong("upstream-resolves"),
    help: "Send names to the other proxy, which looks them up itself: no addresses are checked here then.")
  var upstreamResolves = false

  @Option(
    name: .customLong("route"),
    help: ArgumentHelp(
      "The route of a name and all below it, of =NAME alone, or of all others (*): direct, system (the system's DNS), upstream or refuse; may be given several times, and the most specific one counts. (default: upstream where there is one, else direct)",
      valueName: "name=route"),
    transform: { text in
      guard let equals = text.lastIndex(of: "="),
        let route = ProxyRoute(rawValue: String(text[text.index(after: equals)...]))
      else {
        throw ValidationError("\"\(text.printable)\" names no route. Write NAME=direct, system, upstream or refuse.")
      }
      return try ProxyOptions.shown { () throws(DirectDNSError) in
        RouteRule(pattern: try ProxyRoutes.Pattern(String(text[..<equals])), route: route)
      }
    })
  var rules: [RouteRule] = []

  /// The proxy that `--upstream` names; nil without that option.
  func upstream(in context: CommandContext) throws(CommandError) -> UpstreamProxy? {
    guard let upstreamText else { return nil }
    let text = try ProxyOptions.secret(upstreamText, "--upstream", in: context) ?? upstreamText
    do throws(DirectDNSError) { return try UpstreamProxy(text, resolvesNames: upstreamResolves) } catch {
      throw CommandError(.usage, "--upstream: \(error.clause).")
    }
  }

  /// The configuration file's entry, changed by these options; `upstream` is the proxy that they name.
  func entry(over configured: ProxyEntry, _ upstream: UpstreamProxy?) throws(CommandError) -> ProxyEntry {
    var entry = configured
    if let upstream {
      entry.upstream = upstream
    } else if upstreamResolves {
      guard entry.upstream != nil else { throw CommandError(.usage, "--upstream-resolves needs --upstream.") }
      entry.upstream?.resolvesNames = true
    }
    for rule in rules { entry.routes.set(rule.route, for: rule.pattern) }
    // Of the rules that lead nowhere, those of the file are no mistake of the command line.
    let lost = entry.upstream == nil ? entry.routes.rules.filter { $0.route == .upstream } : []
    if let rule = lost.first(where: { rule in !rules.contains { $0.pattern == rule.pattern } }) {
      throw CommandError(
        .configuration,
        "proxy.routes: \(rule): there is no upstream proxy to go through: give one (--upstream, proxy.upstream).")
    }
    return entry
  }
}

/// A `--route`.
struct RouteRule: Sendable, Hashable {
  let pattern: ProxyRoutes.Pattern
  let route: ProxyRoute
}
