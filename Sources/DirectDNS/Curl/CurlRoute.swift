// SPDX-License-Identifier: Apache-2.0
/// Where a transfer goes, and how it is secured: transfers with the same route share connections.
struct CurlRoute: Hashable, Sendable {
  /// Scheme, host and port.
  let origin: String
  let usesTLS: Bool
  let version: HTTPVersionChoice
  /// The proxy, if the transfer goes through one.
  let proxy: CurlProxy?
  /// Whether the server is shown the client's certificate if it asks for one.
  ///
  /// Part of the route because a connection on which the certificate was shown acts for the client: requests that must
  /// not show it need another one.
  let showsIdentity: Bool

  /// Whether each connection serves one request: libcurl 7.88 cannot use one of plain HTTP/2 again (curl#10643), and
  /// since 8.21 a request without a tunnel would get any connection to its proxy, another pool's too.
  var servesOnce: Bool {
    guard !usesTLS else { return false }
    return version == .http2 && !CurlVersion.reusesPlainHTTP2 || proxy != nil && CurlVersion.mixesProxied
  }

  /// Whether its connections speak HTTP/2 if the server does.
  var maySpeakHTTP2: Bool { version == .http2 || version == .automatic && usesTLS }

  /// What is known about its connections before there is one.
  var multiplexing: PoolLoad.Multiplexing {
    switch version {
    case .http1: .never
    case .automatic: usesTLS ? .unknown : .never
    case .http2: servesOnce ? .never : .always
    }
  }
}

/// A proxy, and the addresses of its host.
struct CurlProxy: Hashable, Sendable {
  /// A name, a port, and the name's addresses in the order of use.
  ///
  /// The order is left out of comparisons: it changes while the proxy stays the same.
  struct ResolvedHost: Hashable, Sendable {
    let host: String
    let port: UInt16
    let addresses: [IPAddress]

    /// `HOST:PORT:ADDRESS,…`, so that libcurl does not look the proxy up by itself.
    var resolveEntry: String {
      "\(host):\(port):" + addresses.map { "\(WebURL.Host.address($0))" }.joined(separator: ",")
    }

    static func == (left: Self, right: Self) -> Bool {
      left.host == right.host && left.port == right.port && Set(left.addresses) == Set(right.addresses)
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(host)
      hasher.combine(port)
      hasher.combine(Set(addresses))
    }
  }

  /// Always with the port: without one, libcurl would take 1080 for an http proxy, and the URL standard leaves out 80.
  let url: String
  /// Nil if the URL has an address instead of a name.
  let resolvedHost: ResolvedHost?

  init(_ proxy: WebURL, resolvedHost: ResolvedHost?) {
    url = "\(proxy.scheme.rawValue)://\(proxy.userInfo)\(proxy.host):\(proxy.effectivePort)/"
    self.resolvedHost = resolvedHost
  }
}

/// Which versions of HTTP a client speaks.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum HTTPVersionChoice: String, Sendable, Hashable, CaseIterable {
  /// HTTP/2 if the TLS handshake agrees on it, otherwise HTTP/1.1.
  case automatic
  /// HTTP/1.1 alone.
  case http1
  /// HTTP/2 without TLS too, by prior knowledge (RFC 9113 §3.3).
  ///
  /// Over TLS it is the same as `automatic`: with a server that does not agree on HTTP/2, it is HTTP/1.1.
  case http2
}
