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
  private let routes: Locked<Routes>

  private struct Routes {
    /// The trusted authorities; libcurl does not share connections between requests with different ones.
    var trust: CurlTrust
    /// The most connections to one endpoint over HTTP/1.1.
    var connections: Int
    /// How many routes have been created.
    var made = 0
    // An array, since comparing a handful of endpoints is cheaper than hashing their names.
    var known: [KnownEndpoint] = []
  }

  /// An endpoint, and how it is reached.
  private final class KnownEndpoint: Sendable {
    let endpoint: HTTPEndpoint
    let route: QueryRoute
    /// The beginning of each request's URL.
    let prefix: String

    init(_ endpoint: HTTPEndpoint, _ route: QueryRoute) {
      self.endpoint = endpoint
      self.route = route
      prefix = "\(endpoint.origin)/"
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
    routes = Locked(Routes(trust: try trust.resolved(), connections: min(max(1, connections), 1000)))
  }

  /// Runs tasks on the thread that carries the requests.
  var executor: any TaskExecutor { loop.executor }

  /// Resumes tasks that wait for replies.
  var resumption: TaskResumption { loop.resumption }

  /// The authorities that are trusted.
  var trust: CurlTrust { routes.withLock(\.trust) }

  /// Changes the trusted authorities and the number of connections, from the next request on.
  func update(_ trust: CurlTrust?, connections: Int) {
    routes.withLock { routes in
      guard trust ?? routes.trust != routes.trust || connections != routes.connections else { return }
      if let trust { routes.trust = trust }
      routes.connections = connections
      routes.known = []
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
  func start(_ query: CurlQuery) { loop.start(query) }

  /// Cancels a request; its recipient still gets it back.
  func cancel(_ query: CurlQuery) { loop.cancel(query) }

  /// The request in the form that the loop needs.
  func request(
    _ message: HTTPMessage, _ endpoint: HTTPEndpoint, _ timeout: Duration
  ) throws(HTTPTransportError) -> QueryRequest {
    let known = try known(endpoint)
    // libcurl would look up a host by itself that is not the endpoint's.
    guard message.url.hasPrefix(known.prefix) else {
      throw .invalidRequest("its URL has another origin than \(endpoint.origin)")
    }
    return QueryRequest(route: known.route, message: message, timeout: timeout.wholeMilliseconds)
  }

  /// Makes further requests use new connections; requests under way keep theirs.
  public func networkDidChange() {
    // libcurl cannot be told to drop connections: each route has its own.
    routes.withLock { $0.known = [] }
  }

  /// Ends all requests, and the transport's thread.
  public func shutdown() { loop.stop() }

  /// Ends all requests, and waits until the transport's thread has ended.
  func end() async { await loop.end() }

  private func known(_ endpoint: HTTPEndpoint) throws(HTTPTransportError) -> KnownEndpoint {
    try routes.withLock { routes throws(HTTPTransportError) in
      if let known = routes.known.first(where: { $0.endpoint == endpoint }) { return known }
      let new = KnownEndpoint(endpoint, try route(endpoint, &routes))
      // Where addresses change, because they are looked up or configured anew, the former ones do not come back.
      let former = routes.known.indices.filter { routes.known[$0].route.origin == new.route.origin }
      if former.count >= Self.endpointLimit { routes.known.remove(at: former[0]) }
      routes.known.append(new)
      return new
    }
  }

  /// How many endpoints of one origin are kept.
  private static let endpointLimit = 16

  /// A new route to an endpoint.
  ///
  /// An origin has one route for each list of addresses: an entry that is there in case another one fails has to be
  /// reached where it says.
  private func route(_ endpoint: HTTPEndpoint, _ routes: inout Routes) throws(HTTPTransportError) -> QueryRoute {
    let origin = endpoint.origin
    var addresses = endpoint.addresses
    switch origin.host {
    case .address(let address): addresses = [address]
    case .name(let name):
      // Without addresses libcurl would ask the system's DNS by itself, against everything that this library promises.
      guard !addresses.isEmpty else { throw .connect("no address is known for \(name)") }
    }
    routes.made += 1
    return QueryRoute(
      origin: origin, addresses: addresses, scope: routes.made, trust: routes.trust, width: Self.width,
      connections: routes.connections)
  }

  /// The most requests in flight over HTTP/2: BIND 9.18 closes a connection with 64, dnsdist takes 100.
  private static let width = 50
}
