// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Checks a proxy: whether it is there, reaches what it should, and refuses what it should.
struct ProxyCheckup: Sendable {
  let place: String
  let probe: ProxyProbe
  let name: HostName
  let clock: any ResolverClock

  /// A cloud's metadata service, which hands out credentials: the usual target of attacks that make a program send
  /// requests (SSRF).
  static let inside = "169.254.169.254:80"

  func run() async -> [Finding] {
    let (ready, first) = await timed("GET", "/ready")
    let finding = Finding.proxyReady(ready, at: place, after: first)
    guard finding.grade != .fail else { return [finding] }
    let target = "\(name):443"
    let (tunnel, second) = await timed("CONNECT", target)
    let (refused, _) = await timed("CONNECT", Self.inside)
    return [finding, .proxyTunnel(tunnel, to: target, hasPassword: probe.credentials != nil, after: second)]
      + [Finding.proxyPolicy(refused, to: Self.inside)].compactMap(\.self)
  }

  private func timed(_ method: String, _ target: String) async -> (Result<ProxyReply, ProxyProbe.Failure>, Duration) {
    let began = clock.now
    let reply = await probe.ask(method, target)
    return (reply, clock.now - began)
  }
}
