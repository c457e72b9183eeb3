// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSProxy

/// The ports that a proxy may connect to.
struct PortOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The ports that may be connected to: numbers and ranges with commas. (default: 80,443,1024-65535)",
      valueName: "ports"),
    transform: { text in try ProxyOptions.shown { () throws(DirectDNSError) in try ProxyPorts(text) } })
  var ports: ProxyPorts = .web
}
