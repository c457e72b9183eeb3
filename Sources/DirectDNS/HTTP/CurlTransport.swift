// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// Sends DNS requests by libcurl, over HTTP/2 and TLS, with certificates always checked.
///
/// Over HTTP/2 an endpoint gets one connection, or up to eight if it takes only few requests at a time on each. Over
/// HTTP/1.1, where a connection carries one request at a time, it gets up to 32.
///
/// It uses no proxy, netrc or cookies, follows no redirects, and looks up no names: a host that is not an address must
/// come with its addresses.
public final class CurlTransport: HTTPTransport, NonBlocking {
  private let loop = Loop<CurlQueries>()
  private let pools: Locked<Pools>

  private struct Pools {
    /// The trusted authorities; libcurl does not share connections between requests with different ones.
    var trust: CurlTrust
    /// The most connections to one endpoint over HTTP/1.1.
    var connections: Int
    /// Counts changes of the network, since connections of one network are never used on the next.
    var network = 0
    /// How many pools have been created.
    var made = 0
    // An array, since comparing a handful of endpoints is cheaper than hashing their URLs.
    var known: [Route] = []
  }

  /// How an endpoint is reached.
  private final class Route: Sendable {
    let endpoint: HTTPEndpoint
    let pool: QueryPool
    /// The beginning of each request's URL.
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
  ///   - trust: the trusted certificate authorities; by default the system's.
  ///   - connections: the most connections to one endpoint over HTTP/1.1, from 1 to 1000; 32 by default. Over HTTP/2
  ///     there are at most 8 of them, and one for most servers.
  /// - Throws: an error of code ``DirectDNSError/Code/invalidConfiguration`` if the file of a private authority cannot
  ///   be used.
  public init(trust: TrustStore = TrustStore(), connections: Int = 32) throws(DirectDNSError) {
    pools = Locked(Pools(trust: try trust.resolved(), connections: min(max(1, connections), 1000)))
  }

  /// Changes the trusted authorities and the number of connections, from the next request on.
  func update(_ trust: CurlTrust?, connections: Int) {
    pools.withLock { pools in
      guard trust ?? pools.trust != pools.trust || connections != pools.connections else { return }
      if let trust { pools.trust = trust }
      pools.connections = connections
      pools.known = []
    }
  }

  /// Sends a request, and waits for the reply.
  ///
  /// Over HTTP/2 at most fifty requests to an endpoint are in flight, over HTTP/1.1 one per connection; others wait in
  /// the order of their arrival.
  public func send(
    _ message: HTTPMessage, to endpoint: HTTPEndpoint, timeout: Duration
  ) async throws(HTTPTransportError) -> HTTPReply {
    try await loop.perform(try request(message, endpoint, timeout))
  }

  /// Sends a request; the loop's thread gives it back to its recipient at the end.
  func start(_ job: CurlJob) { loop.start(job) }

  /// Cancels a request; its recipient still gets it back.
  func cancel(_ job: CurlJob) { loop.cancel(job) }

  /// The request in the form that the loop needs.
  func request(
    _ message: HTTPMessage, _ endpoint: HTTPEndpoint, _ timeout: Duration
  ) throws(HTTPTransportError) -> CurlRequest {
    let route = try route(endpoint)
    // libcurl would look up a host by itself that is not the endpoint's.
    guard message.url.hasPrefix(route.prefix) else {
      throw .invalidRequest("its URL has another origin than \(endpoint.url.originText)")
    }
    return CurlRequest(pool: route.pool, message: message, timeout: timeout.wholeMilliseconds)
  }

  /// Makes further requests use new connections; requests under way keep theirs.
  public func networkDidChange() {
    pools.withLock { pools in
      pools.network += 1
      pools.known = []
    }
  }

  /// Ends all requests, and the transport's thread.
  public func shutdown() { loop.stop() }

  private func route(_ endpoint: HTTPEndpoint) throws(HTTPTransportError) -> Route {
    try pools.withLock { pools throws(HTTPTransportError) in
      if let known = pools.known.first(where: { $0.endpoint == endpoint }) { return known }
      let route = Route(endpoint, try newPool(endpoint, &pools))
      // An endpoint whose addresses have changed replaces its former route.
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
      // Without addresses libcurl would ask the system's DNS by itself, against everything that this library promises.
      guard !addresses.isEmpty else { throw .connect("no address is known for \(name)") }
    }
    // After a change of the network, new connections have to be made, but libcurl cannot be told to drop old ones. It
    // shares a connection only among requests that connect to the same host, though: so each later pool connects to an
    // invented host that has the endpoint's addresses. The URL and the name in the certificate stay the same.
    let target = "\(network == 0 ? "\(url.host)" : "pool\(pools.made).invalid"):\(url.effectivePort)"
    return QueryPool(
      origin: "\(url.scheme.rawValue)://\(url.host):\(url.effectivePort)",
      addresses: addresses.isEmpty ? nil : target + ":" + addresses.map(\.bracketed).joined(separator: ","),
      connectTo: network == 0 ? nil : "::" + target, usesTLS: url.scheme.isSecure,
      trust: pools.trust, width: Self.poolWidth, connections: pools.connections)
  }

  /// The most requests in flight over HTTP/2: BIND 9.18 closes a connection with 64, dnsdist takes 100.
  private static let poolWidth = 50
}
