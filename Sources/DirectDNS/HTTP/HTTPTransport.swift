// SPDX-License-Identifier: Apache-2.0
/// A server of DNS requests: its origin and its addresses.
public struct HTTPEndpoint: Hashable, Sendable {
  /// Scheme, host and port, which ``HTTPMessage/url`` has as well.
  public var origin: Origin
  /// The addresses to connect to, 250 ms apart until one connects, which is the first one from then on.
  ///
  /// The certificate is still checked for the origin's host.
  public var addresses: [IPAddress]

  /// Creates an endpoint.
  ///
  /// - Parameters:
  ///   - url: a URL of the server; nothing is kept of its path and its query, which may hold a key.
  ///   - addresses: the addresses to connect to; none by default, for a URL that has one.
  public init(url: WebURL, addresses: [IPAddress] = []) {
    origin = Origin(url)
    self.addresses = addresses
  }
}

/// Sends a DNS request, and gets the reply.
///
/// DirectDNS has ``CurlTransport``; tests have transports of their own. Whoever writes one sees to what nobody behind
/// it checks: that it connects to the endpoint's addresses, that the certificate is for the origin's host, that no
/// redirect is followed, and that no more is read than ``HTTPReply/bodyLimit`` and ``HTTPReply/fieldLimit`` allow. Its
/// functions are called from any thread, several at a time, and a call ends when its time is over or its task is
/// cancelled.
public protocol HTTPTransport: Sendable {
  /// Sends a request to an endpoint.
  ///
  /// - Parameters:
  ///   - message: the request.
  ///   - endpoint: where to send it.
  ///   - timeout: how long it may take in all.
  /// - Returns: the reply, whatever its status.
  /// - Throws: why there is no reply.
  func send(
    _ message: HTTPMessage, to endpoint: HTTPEndpoint, timeout: Duration
  ) async throws(HTTPTransportError) -> HTTPReply

  /// Stops using connections of the last network.
  func networkDidChange()

  /// Ends all requests; nothing can be sent afterwards.
  func shutdown()
}
