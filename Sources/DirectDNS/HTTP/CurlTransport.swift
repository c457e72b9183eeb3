// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// DNS requests over libcurl: HTTP/2 over TLS, strict about certificates.
///
/// Over HTTP/2 an endpoint gets one connection, and up to eight where it takes few requests at a time on each. One that
/// speaks HTTP/1.1 alone carries one request at a time on a connection, and gets up to 32.
///
/// No proxy, no netrc, no redirects, no cookies, no lookup of its own: a host that is no address must come with
/// addresses.
public final class CurlTransport: HTTPTransport {
  private let loop = Loop<CurlQueries>()
  private let pools: Locked<Pools>

  private struct Pools {
    /// libcurl shares no connection between requests that trust others.
    var trust: CurlTrust
    /// To one endpoint, over HTTP/1.1.
    var connections: Int
    /// How often the network changed: connections of one network are never used on the next.
    var network = 0
    /// How many pools there have been.
    var made = 0
    // A handful of endpoints: comparing them is cheaper than hashing their URLs.
    var known: [Route] = []
  }

  /// How an endpoint is reached.
  private final class Route: Sendable {
    let endpoint: HTTPEndpoint
    let pool: QueryPool
    /// What each request's URL begins with.
    let prefix: String

    init(_ endpoint: HTTPEndpoint, _ pool: QueryPool) {
      self.endpoint = endpoint
      self.pool = pool
      prefix = endpoint.url.originText + "/"
    }
  }

  /// Creates a transport.
  ///
  /// - Parameters:
  ///   - trust: whose certificates are trusted; by default the system's.
  ///   - connections: the most connections to one endpoint over HTTP/1.1; 32 by default, 1 at least and 1000 at most. Over HTTP/2 there are
  ///     no more than 8 of them, and one for most servers.
  /// - Throws: an error of code ``DirectDNSError/Code/invalidConfiguration`` when a private CA's file cannot be
  ///   used.
  public init(trust: TrustStore = TrustStore(), connections: Int = 32) throws(DirectDNSError) {
    pools = Locked(Pools(trust: try trust.resolved(), connections: min(max(1, connections), 1000)))
  }

  /// Trusts others, and uses more connections or fewer, from the next request on; those under way stay where they are.
  func update(_ trust: CurlTrust?, connections: Int) {
    pools.withLock { pools in
      guard trust ?? pools.trust != pools.trust || connections != pools.connections else { return }
      if let trust { pools.trust = trust }
      pools.connections = connections
      pools.known = []
    }
  }

  /// Sends a request over the endpoint's connection; at most fifty are in flight per endpoint, over HTTP/1.1 as many as it
  /// has connections, the others wait in the order of their arrival (BIND 9.18 closes a connection at sixty-four).
  public func send(
    _ message: HTTPMessage, to endpoint: HTTPEndpoint, timeout: Duration
  ) async throws(HTTPTransportError) -> HTTPReply {
    try await loop.perform(try request(message, endpoint, timeout))
  }

  /// Sends a request, and has the loop's thread hand it back when it is done.
  func start(_ job: CurlJob) { loop.start(job) }

  /// Ends a request that nobody wants any more; it is handed back all the same.
  func cancel(_ job: CurlJob) { loop.cancel(job) }

  /// A message as the loop's thread needs it.
  func request(
    _ message: HTTPMessage, _ endpoint: HTTPEndpoint, _ timeout: Duration
  ) throws(HTTPTransportError) -> CurlRequest {
    let route = try route(endpoint)
    // A host that only the request knows would be looked up by libcurl itself.
    guard message.url.hasPrefix(route.prefix) else {
      throw .invalidRequest("its URL has another origin than \(endpoint.url.originText)")
    }
    return CurlRequest(pool: route.pool, message: message, timeout: timeout.wholeMilliseconds)
  }

  /// Makes further requests use new connections; those under way stay where they are.
  public func networkDidChange() {
    pools.withLock { pools in
      pools.network += 1
      pools.known = []
    }
  }

  /// Ends every request and the transport's thread.
  public func shutdown() { loop.stop() }

  private func route(_ endpoint: HTTPEndpoint) throws(HTTPTransportError) -> Route {
    try pools.withLock { pools throws(HTTPTransportError) in
      if let known = pools.known.first(where: { $0.endpoint == endpoint }) { return known }
      let route = Route(endpoint, try newPool(endpoint, &pools))
      // An endpoint whose addresses were looked up anew takes the place of what it was.
      pools.known.removeAll { $0.endpoint.url == endpoint.url }
      pools.known.append(route)
      return route
    }
  }

  private func newPool(_ endpoint: HTTPEndpoint, _ pools: inout Pools) throws(HTTPTransportError) -> QueryPool {
    let url = endpoint.url
    let network = pools.network
    pools.made += 1
    var addresses = endpoint.addresses
    switch url.host {
    case .address(let address): addresses = network == 0 ? [] : [address]
    case .name(let name):
      // Without addresses libcurl would ask the system's DNS by itself, out of sight of all that this library promises.
      guard !addresses.isEmpty else { throw .connect("no address is known for \(name)") }
    }
    // libcurl cannot forget a connection that stands, but it shares it only among requests to the same host: each
    // pool of a network after the first has one of its own, an invented name that leads to the endpoint's addresses. What
    // is sent and verified stays the URL's.
    let target = "\(network == 0 ? "\(url.host)" : "pool\(pools.made).invalid"):\(url.effectivePort)"
    return QueryPool(
      origin: "\(url.scheme.rawValue)://\(url.host):\(url.effectivePort)",
      addresses: addresses.isEmpty ? nil : target + ":" + addresses.map(\.bracketed).joined(separator: ","),
      connectTo: network == 0 ? nil : "::" + target, usesTLS: url.scheme.isSecure,
      trust: pools.trust, width: Self.poolWidth, connections: pools.connections)
  }

  /// BIND 9.18 closes a connection at sixty-four queries in flight; dnsdist takes a hundred.
  private static let poolWidth = 50
}
