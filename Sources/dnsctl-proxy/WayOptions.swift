// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration
internal import DnsctlCommands

/// Which way names go; these options override the configuration file.
struct WayOptions: ParsableArguments {
  @Option(
    name: .customLong("upstream"),
    help: ArgumentHelp(
      "Another proxy to go through: http://[USER:PASSWORD@]HOST:PORT, socks5://… or socks5h://…; @FILE or '$NAME' of an environment variable that holds the URL. It is asked for the addresses that are found and judged here, unless it is socks5h://. Replaces the configuration file's.",
      valueName: "url|@file|$name"))
  var upstreamText: String?

  @Flag(
    name: .customLong("upstream-resolves"),
    help: "Tell the other proxy names, which it looks up itself: no addresses are judged here then.")
  var upstreamResolves = false

  @Option(
    name: .customLong("route"),
    help: ArgumentHelp(
      "The way of a name and all below it, of =NAME alone, or of all others (*): direct, system (the system's DNS), upstream or refuse; may be given several times, and the most specific one counts. (default: upstream where there is one, else direct)",
      valueName: "name=way"),
    transform: { text in
      guard let equals = text.lastIndex(of: "="),
        let way = ProxyRoute(rawValue: String(text[text.index(after: equals)...]))
      else {
        throw ValidationError("\"\(text.printable)\" says no way. Write NAME=direct, system, upstream or refuse.")
      }
      return try ProxyOptions.shown { () throws(DirectDNSError) in
        WayRule(pattern: try ProxyRoutes.Pattern(String(text[..<equals])), way: way)
      }
    })
  var rules: [WayRule] = []

  /// The configuration file's entry, changed by these options.
  func entry(over configured: ProxyEntry, in context: CommandContext) throws(SettingsError) -> ProxyEntry {
    var entry = configured
    if let upstreamText {
      let text = try ProxyOptions.secret(upstreamText, "--upstream", in: context) ?? upstreamText
      do throws(DirectDNSError) { entry.upstream = try UpstreamProxy(text, resolvesNames: upstreamResolves) } catch {
        throw SettingsError(.usage, "--upstream: \(error.message.asSentence)")
      }
    } else if upstreamResolves {
      guard entry.upstream != nil else { throw SettingsError(.usage, "--upstream-resolves needs --upstream.") }
      entry.upstream?.resolvesNames = true
    }
    for rule in rules { entry.routes.set(rule.pattern, rule.way) }
    return entry
  }
}

/// A `--route`.
struct WayRule: Sendable, Hashable {
  let pattern: ProxyRoutes.Pattern
  let way: ProxyRoute
}
