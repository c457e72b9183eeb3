// SPDX-License-Identifier: Apache-2.0
/// Where DNS requests are sent: an origin, and the addresses to reach it at.
public struct HTTPEndpoint: Hashable, Sendable {
  /// The endpoint's URL; its scheme, host and port are the origin.
  public var url: WebURL
  /// Addresses that stand for the URL's host.
  ///
  /// The certificate is still checked against the name.
  public var addresses: [IPAddress]

  /// Creates an endpoint.
  public init(url: WebURL, addresses: [IPAddress] = []) {
    self.url = url
    self.addresses = addresses
  }
}

/// One request out, one reply in.
///
/// DirectDNS brings ``CurlTransport``; tests bring their own.
public protocol HTTPTransport: Sendable {
  /// Sends a request to an endpoint.
  ///
  /// - Parameters:
  ///   - message: the request.
  ///   - endpoint: where to send it.
  ///   - timeout: the time for the whole of it.
  /// - Returns: what came back, whatever its status.
  /// - Throws: why there is no reply.
  func send(
    _ message: HTTPMessage, to endpoint: HTTPEndpoint, timeout: Duration
  ) async throws(HTTPTransportError) -> HTTPReply

  /// Forgets connections that belong to a network that is no more.
  func networkDidChange()

  /// Ends what is under way. Nothing can be sent afterwards.
  func shutdown()
}
