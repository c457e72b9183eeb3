// SPDX-License-Identifier: Apache-2.0
/// Where DNS requests go, and how they are secured: requests of one route share connections and a queue.
///
/// Routes are compared by identity, so that no certificates have to be compared for each request.
final class QueryRoute: Sendable {
  /// The addresses to connect to, so that libcurl does not look up the URL's host.
  ///
  /// The certificate is still checked for that host. Without addresses, the host is one itself.
  let addresses: [IPAddress]
  /// The port at those addresses.
  let port: UInt16
  /// Tells the route's connections from those of others: they are shared within one scope only.
  let scope: Int
  /// Scheme, host and port.
  let origin: String
  let usesTLS: Bool
  let trust: CurlTrust
  /// The most transfers in flight over HTTP/2; others wait in order.
  let width: Int
  /// The most connections over HTTP/1.1, and thus transfers in flight, since each carries one at a time.
  let connections: Int

  init(
    origin: String, addresses: [IPAddress] = [], port: UInt16 = 0, scope: Int = 0, usesTLS: Bool, trust: CurlTrust,
    width: Int, connections: Int = QueryRoute.connections
  ) {
    self.origin = origin
    self.addresses = addresses
    self.port = port
    self.scope = scope
    self.usesTLS = usesTLS
    self.trust = trust
    self.width = width
    self.connections = connections
  }

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
