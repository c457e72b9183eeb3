// SPDX-License-Identifier: Apache-2.0
/// Where DNS requests go, and how they are secured: requests of one route share connections and a queue.
///
/// Routes are compared by identity, so that no certificates have to be compared for each request.
final class QueryRoute: Sendable {
  /// The addresses to connect to, so that libcurl does not look up the URL's host.
  ///
  /// The certificate is still checked for that host. Without addresses, the host is one itself.
  let addresses: [IPAddress]
  /// Tells the route's connections from those of others: they are shared within one scope only.
  let scope: Int
  let origin: Origin
  let trust: CurlTrust
  /// The most transfers in flight over HTTP/2; others wait in order.
  let width: Int
  /// The most connections over HTTP/1.1, and thus transfers in flight, since each carries one at a time.
  let connections: Int

  init(
    origin: Origin, addresses: [IPAddress] = [], scope: Int = 0, trust: CurlTrust, width: Int,
    connections: Int = QueryRoute.connections
  ) {
    self.origin = origin
    self.addresses = addresses
    self.scope = scope
    self.trust = trust
    self.width = width
    self.connections = connections
  }

  var usesTLS: Bool { origin.scheme.isSecure }

  /// The default of ``connections``.
  static let connections = 32
}

/// One request, as the loop's thread needs it.
struct QueryRequest: Sendable {
  var route: QueryRoute
  var message: HTTPMessage
  /// Milliseconds for the whole request, including the time in the queue.
  var timeout: Int64
}
