// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Tracing

/// The route that was found for a request: the addresses that it may go to, and the proxy to go through, if any.
struct ChosenRoute {
  /// In the order of use; empty if the other proxy is sent the name.
  var addresses: [IPAddress]
  /// The other family, whose addresses may still come.
  var others: OtherFamily?
  var upstream: UpstreamProxy?
  /// The proxies that the request has come through, without this one.
  var via = ProxyVia()
  /// The parent of the spans of further lookups.
  var context: ServiceContext?
  /// The addresses of the other proxy that closed a connection before it was of use, and the last one's failure.
  var closed: (addresses: [IPAddress], refusal: ProxyRefusal?) = ([], nil)

  /// What a connection leads to and carries, which has to be the same for another request to use it.
  enum Hop: Hashable, Sendable {
    /// To an origin.
    case direct
    /// To an origin, through another proxy.
    case tunnel(UpstreamProxy)
    /// To another proxy, which is sent requests with the whole URL.
    case proxy(UpstreamProxy)
  }

  /// The kind of connection that is needed.
  ///
  /// - Parameter isPlain: whether it is for requests in the clear, for which an HTTP proxy that looks names up needs no
  ///   tunnel.
  /// - Returns: the kind.
  func hop(isPlain: Bool) -> Hop {
    guard let upstream else { return .direct }
    return isPlain && addresses.isEmpty && upstream.kind == .http ? .proxy(upstream) : .tunnel(upstream)
  }

  /// The refusal of a plain request, with what may help where the other proxy has forbidden its tunnel: many open them
  /// to port 443 alone, as Squid and Apache do unless they are told other ports.
  ///
  /// An address, and a name that is never looked up, would need a tunnel all the same.
  func advised(_ refusal: ProxyRefusal, for origin: ForwardOrigin, _ resolver: DirectResolver) -> ProxyRefusal {
    guard refusal.error == "http_request_denied", let upstream, upstream.kind == .http, !upstream.resolvesNames,
      origin.port != 443, let name = try? HostName(origin.host), !resolver.answersItself(name)
    else { return refusal }
    return ProxyRefusal(
      refusal.status, refusal.error,
      refusal.message
        + " If the upstream proxy opens tunnels to port 443 alone, --upstream-resolves sends it plain requests without "
        + "one, by name.")
  }

  /// What opens a connection that takes this route.
  func connection(
    to origin: ForwardOrigin, _ hop: Hop, _ loop: ProxyLoop, _ settings: ProxySettings
  ) -> any Connector {
    if let upstream, addresses.isEmpty {
      return UpstreamConnection(
        loop, settings, upstream, to: hop == .proxy(upstream) ? nil : origin, via: via.adding(loop.shared.mark),
        below: context, without: closed)
    }
    return Dialer(loop, settings, origin, self, settings.policy)
  }
}

/// Opens a connection: the completion gets it or a refusal, once, unless it is cancelled.
protocol Connector: AnyObject {
  func start(_ completion: @escaping (Dialer.Outcome) -> Void)
  /// Gives up; the completion is not called.
  func cancel()
}
