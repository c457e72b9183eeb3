// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
import NIOCore

/// A server on loopback that speaks every provider format, and misbehaves on request.
///
/// One server answers by path, as the real ones do: `/resolve` (JSON of AliDNS or Google), `/dns-query`
/// (RFC 8484, and Cloudflare's JSON), `/d` (DNSPod), `/{account}/d`, `sign_d`, `resolve` and `sign_resolve`
/// (EMAS v1), `/v2/d` (EMAS v2). It speaks HTTP/1.1, and with a TLS identity HTTP/2 too.
///
/// ```swift
/// var records = RecordTable()
/// records.add("www.example.test", "192.0.2.1", ttl: 60)
/// let server = try await FakeProvider.start(records: records)
/// server.misbehave(.status(503), times: 1)
/// // … ask \(server.baseURL)/resolve …
/// #expect(server.requests.map(\.name) == ["www.example.test", "www.example.test"])
/// await server.stop()
/// ```
///
/// It runs on NIO's shared threads, so a server costs a socket and starts in about a millisecond.
public final class FakeProvider: Sendable {
  /// How the server was set up.
  public let configuration: FakeProviderConfiguration

  private let server: HTTPServer<ProviderState>
  private var state: Watched<ProviderState> { server.state }

  private init(_ server: HTTPServer<ProviderState>) {
    self.server = server
    configuration = server.state.read { $0.configuration }
  }

  /// Starts a server.
  ///
  /// It runs until ``stop()``, or until the object is released.
  ///
  /// - Parameters:
  ///   - records: the records that it serves.
  ///   - configuration: how it is set up; by default AliDNS over plain HTTP/1.1 on a free port of 127.0.0.1.
  /// - Returns: the server, listening.
  /// - Throws: the socket's error, such as a port that is taken, or a bad certificate.
  public static func start(
    records: RecordTable = RecordTable(), configuration: FakeProviderConfiguration = .init()
  ) async throws -> FakeProvider {
    let state = Watched(ProviderState(configuration: configuration, records: records))
    let service = HTTPService { [state] incoming, connection, channel in
      let writer = ResponseWriter(answering: incoming, on: channel)
      // The request and its held answer become visible together, so that a test that waits for the request can release
      // the answer.
      let sender = state.change { content in
        let (reply, distortion) = content.receive(incoming, on: connection)
        let sender = ReplySender(
          reply: reply, distortion: distortion, writer: writer, connection: connection, state: state)
        if sender.isHeld { content.held.append { channel.eventLoop.execute { sender.send() } } }
        return sender
      }
      sender.begin()
    }
    let server = try await HTTPServer(state: state, configuration: configuration.server, service: service)
    return FakeProvider(server)
  }

  // Held answers refer to the state that holds them.
  deinit { state.change { $0.held = [] } }

  /// The port that the server listens on.
  public var port: Int { server.port }

  /// Where the server is: `http://127.0.0.1:4711`, or `https` with TLS.
  public var baseURL: String { url() }

  /// The URL of a path on this server.
  ///
  /// - Parameters:
  ///   - path: a path with its slash, and a query if there is one.
  ///   - host: the host in the URL; by default the address that the server listens on.
  /// - Returns: the URL.
  public func url(_ path: String = "", host: String? = nil) -> String {
    server.url(path, host: host)
  }

  /// A wire format in which the server can be asked.
  public enum Format: String, Sendable, Hashable, CaseIterable {
    /// The JSON of AliDNS, Google and Cloudflare, at `/resolve`.
    case json
    /// RFC 8484 by GET, at `/dns-query`.
    case doh
    /// RFC 8484 by POST, at `/dns-query`.
    case dohPost = "doh-post"
    /// DNSPod's text, at `/d`.
    case dnspod

    fileprivate var path: String {
      switch self {
      case .json: "/resolve"
      case .doh, .dohPost: "/dns-query"
      case .dnspod: "/d"
      }
    }
  }

  /// The server as a resolver's provider: `ResolverConfiguration(providers: [try server.providerConfiguration()])`.
  ///
  /// - Parameters:
  ///   - format: how it is asked; default JSON.
  ///   - host: the host in the URL; by default the address that the server listens on.
  /// - Returns: the provider.
  /// - Throws: `invalidConfiguration` for an invalid host.
  public func providerConfiguration(
    _ format: Format = .json, host: String? = nil
  ) throws(DirectDNSError) -> ProviderConfiguration {
    try ProviderConfiguration("\(format.rawValue)+\(url(format.path, host: host))")
  }

  /// The records that the server serves; they can be changed while it runs.
  public var records: RecordTable {
    get { state.read { $0.records } }
    set { state.change { $0.records = newValue } }
  }

  /// Whether new connections are accepted and then never answered, not even by TLS.
  ///
  /// Default: false.
  public var isMute: Bool {
    get { state.read { $0.log.isMute } }
    set { state.change { $0.log.isMute = newValue } }
  }

  /// Every request so far, in the order of arrival.
  public var requests: [RecordedRequest] { server.requests }

  /// The number of connections accepted so far.
  public var connectionCount: Int { server.connectionCount }

  /// The number of open connections.
  public var openConnectionCount: Int { server.openConnectionCount }

  /// The number of answers that wait for ``release()``.
  public var heldCount: Int { state.read { $0.held.count } }

  /// Misbehaves from now on.
  ///
  /// Each request takes the first misbehaviour, in the order of these calls, that still has requests to
  /// serve and whose condition holds; so `misbehave(.close, times: 1)` and then `misbehave(.status(500))`
  /// close one connection and answer 500 to all requests after it.
  ///
  /// - Parameters:
  ///   - misbehaviours: what to do; all of it for each request.
  ///   - times: for how many requests; nil, the default, means until ``behave()``.
  ///   - condition: for which requests; by default all. It must not call the server, whose lock is held.
  public func misbehave(
    _ misbehaviours: Misbehaviour..., times: Int? = nil,
    when condition: (@Sendable (RecordedRequest) -> Bool)? = nil
  ) {
    state.change { $0.rules.add(misbehaviours, times: times, when: condition) }
  }

  /// Stops misbehaving.
  ///
  /// Answers that are held stay held.
  public func behave() { state.change { $0.rules.removeAll() } }

  /// Sends every answer that is held.
  public func release() {
    let held = state.change { state in
      defer { state.held = [] }
      return state.held
    }
    for send in held { send() }
  }

  /// Waits, without polling, until at least that many requests came; also ends when the server is stopped or the task
  /// is cancelled.
  ///
  /// - Returns: whether it came to that; false if the server was stopped, or the task cancelled, before.
  @discardableResult
  public func waitForRequests(_ count: Int = 1) async -> Bool {
    await server.wait { $0.log.requests.count >= count }
  }

  /// Waits, without polling, until at least that many answers wait for ``release()``.
  ///
  /// - Returns: whether it came to that; false if the server was stopped, or the task cancelled, before.
  @discardableResult
  public func waitForHeld(_ count: Int = 1) async -> Bool {
    await server.wait { $0.held.count >= count }
  }

  /// Waits, without polling, until at least that many connections were accepted.
  ///
  /// - Returns: whether it came to that; false if the server was stopped, or the task cancelled, before.
  @discardableResult
  public func waitForConnections(_ count: Int = 1) async -> Bool {
    await server.wait { $0.log.accepted >= count }
  }

  /// Waits, without polling, until exactly that many connections are open.
  ///
  /// - Returns: whether it came to that; false if the server was stopped, or the task cancelled, before.
  @discardableResult
  public func waitForOpenConnections(_ count: Int) async -> Bool {
    await server.wait { $0.log.connections.count == count }
  }

  /// Closes every open connection, orderly but at once, and goes on listening.
  public func closeConnections() async { await server.closeConnections() }

  /// Closes the listener and all connections at once; the port is free when this returns.
  ///
  /// The records can still be read. Stopping twice has no further effect.
  public func stop() async {
    state.change { $0.held = [] }
    await server.stop()
  }
}
