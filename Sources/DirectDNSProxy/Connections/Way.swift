// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The way that was found for a request: the addresses that it may go to, and the proxy that is asked for them.
struct Way {
  /// In the order of use; none where the other proxy is told the name.
  var addresses: [IPAddress]
  /// The family that may still come.
  var others: OtherFamily?
  var upstream: UpstreamProxy?
  /// The proxies that the request has come through, this one not yet.
  var via = ProxyVia()

  /// Whom a connection is to and what it carries: what has to be the same for another request to use it.
  enum Hop: Hashable, Sendable {
    /// To an origin.
    case direct
    /// To an origin, through another proxy.
    case tunnel(UpstreamProxy)
    /// To another proxy, which is sent requests with the whole URL.
    case proxy(UpstreamProxy)
  }

  /// What a connection is.
  ///
  /// - Parameter isPlain: whether it is for requests in the clear: a proxy of HTTP that looks names up need not tunnel them.
  /// - Returns: what has to be the same for another request.
  func hop(isPlain: Bool) -> Hop {
    guard let upstream else { return .direct }
    return isPlain && addresses.isEmpty && upstream.kind == .http ? .proxy(upstream) : .tunnel(upstream)
  }

  /// What makes a connection that goes this way.
  func connection(
    to origin: ForwardOrigin, _ hop: Hop, _ loop: ProxyLoop, _ settings: ProxySettings
  ) -> any Connecting {
    if let upstream, addresses.isEmpty {
      return UpstreamConnection(
        loop, settings, upstream, to: hop == .proxy(upstream) ? nil : origin, timeout: settings.limits.connectTimeout,
        via: via.adding(loop.shared.mark))
    }
    return Dial(loop, settings, origin, self, settings.policy)
  }
}

/// What ends in a connection or a refusal, once, unless it is cancelled.
protocol Connecting: AnyObject {
  func start(_ completion: @escaping (Dial.Outcome) -> Void)
  /// Nobody wants it any more.
  func cancel()
}
