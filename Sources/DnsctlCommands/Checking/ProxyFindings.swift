// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

extension Finding {
  /// The finding about a proxy's answer to `/ready`.
  static func proxyReady(_ reply: Result<ProxyReply, ProxyProbe.Failure>, at place: String, after time: Duration)
    -> Self
  {
    switch reply {
    case .failure(let failure):
      .fail(
        "proxy", "\(place): \(failure.reason)",
        failure.isConnected
          ? "What listens there does not answer as a proxy does: take the address in dnsctl proxy's line \"proxy at …\", or see its log."
          : "Start it by dnsctl proxy --listen \(place), or see systemctl status directdns-proxy.")
    case .success(let reply) where reply.status == 200: .ok("proxy", "\(place) is ready, \(time.readable)")
    case .success(let reply) where reply.status == 503:
      .warn("proxy", "\(place) is ending", "It takes no more connections: check again when it has been restarted.")
    case .success(let reply):
      .warn(
        "proxy", "\(place) answers, and says \(reply.status) to /ready",
        "It is not a dnsctl proxy: what it does with names and addresses is its own business.")
    }
  }

  /// The finding about a tunnel that a proxy should open; `hasPassword` says whether a name and a password were sent.
  static func proxyTunnel(
    _ reply: Result<ProxyReply, ProxyProbe.Failure>, to target: String, hasPassword: Bool, after time: Duration
  ) -> Self {
    let subject = "proxy tunnel"
    switch reply {
    case .failure(let failure): return .fail(subject, "\(target): \(failure.reason)", "See what the proxy itself says.")
    case .success(let reply) where reply.status == 200: return .ok(subject, "\(target) is reached, \(time.readable)")
    case .success(let reply) where reply.status == 407:
      return .fail(
        subject,
        hasPassword ? "\(target): it refuses the name and the password" : "\(target): it wants a name and a password",
        hasPassword
          ? "Check what --proxy-user names." : "Give them: --proxy-user @FILE, with USER:PASSWORD in its first line.")
    case .success(let reply) where reply.knowsNoTunnels:
      return .fail(
        subject, "\(target): \(reply.status), as a server says that is no proxy",
        "Take the address in dnsctl proxy's line \"proxy at …\".")
    case .success(let reply):
      // As long as a reason phrase of dnsctl proxy is at most; what answers there may send 64 KiB.
      let reason = [reply.error, reply.details ?? reply.phrase].compactMap { $0?.printable.cut(to: 512) }
        .joined(separator: ": ")
      return .fail(
        subject, "\(target): \(reply.status)\(reason.isEmpty ? "" : ", \(reason)")",
        reply.error?.hasPrefix("dns_") == true
          ? "See dnsctl check with the proxy's configuration: its providers do not answer for that name."
          : "See the proxy's log, and take another name by --name.")
    }
  }

  /// The finding about a tunnel that a proxy has to refuse: to an address with a cloud machine's credentials.
  static func proxyPolicy(_ reply: Result<ProxyReply, ProxyProbe.Failure>, to target: String) -> Self? {
    let subject = "proxy policy"
    switch reply {
    // The finding about the tunnel says so already.
    case .failure: return nil
    case .success(let reply) where reply.status == 407 || reply.knowsNoTunnels: return nil
    case .success(let reply) where reply.status == 403: return .ok(subject, "\(target) is refused")
    case .success(let reply):
      return .fail(
        subject, "\(target) is not refused: \(reply.status)",
        "Whoever may use the proxy reaches what is inside this network: take --address-policy publicOnly, and allow by --allow what is needed."
      )
    }
  }
}

extension ProxyReply {
  /// Whether CONNECT itself is unknown there, so that nothing can have been connected to.
  fileprivate var knowsNoTunnels: Bool { error == nil && [400, 404, 405, 501].contains(status) }
}
