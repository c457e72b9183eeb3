// SPDX-License-Identifier: Apache-2.0
/// A web server on loopback that records requests and answers them by a handler.
///
/// It stands for the server that a request goes to once its name is resolved. It speaks HTTP/1.1, and with a TLS
/// identity HTTP/2 too.
///
/// ```swift
/// let origin = try await FakeOrigin.start { request in
///   request.path == "/old" ? OriginResponse(.found, fields: [.location: "/new"]) : OriginResponse(body: "here")
/// }
/// // … request \(origin.url("/old")) …
/// #expect(origin.requests.map(\.path) == ["/old", "/new"])
/// await origin.stop()
/// ```
///
/// The handler also does what a client has to survive:
///
/// ```swift
/// let gate = Gate()
/// let origin = try await FakeOrigin.start { request in
///   switch request.path {
///   case "/slow": try await gate.pass()                             // until the test says gate.open()
///   case "/dead": throw OriginFault.reset                           // after the request has been read
///   case "/large": return OriginResponse(generating: 5 << 30)       // in pieces, at the client's speed
///   case "/cut":
///     return OriginResponse(length: 1000) { body in
///       try await body.write("half a ")
///       throw OriginFault.close
///     }
///   default: break
///   }
///   return OriginResponse(body: "here")
/// }
/// ```
///
/// Several origins can share a port on different addresses: the first one takes any free port, and the others take that
/// one.
public final class FakeOrigin: Sendable {
  /// What answers a request.
  ///
  /// It may take any time: its task is cancelled when the client disconnects or the server is stopped. An
  /// ``OriginFault`` that it throws is carried out; after any other error the connection is closed without an answer.
  public typealias Handler = @Sendable (RecordedRequest) async throws -> OriginResponse

  /// Decides on a request when its head has come and before its body is read.
  ///
  /// Until it has decided, nothing more is read from the client. What it throws is handled as for a ``Handler``.
  public typealias Gatekeeper = @Sendable (RecordedRequest) async throws -> Admission

  /// How the server was set up.
  public let configuration: FakeOriginConfiguration

  private let server: HTTPServer<OriginState>

  private init(_ server: HTTPServer<OriginState>, _ configuration: FakeOriginConfiguration) {
    self.server = server
    self.configuration = configuration
  }

  /// Starts a server.
  ///
  /// It runs until ``stop()``, or until the object is released.
  ///
  /// - Parameters:
  ///   - configuration: how it is set up; by default plain HTTP/1.1 on a free port of 127.0.0.1.
  ///   - handler: answers each request; by default ``OriginResponse/echo(of:)``.
  ///   - admit: decides on each request by its head; by default all are read.
  /// - Returns: the server, listening.
  /// - Throws: the socket's error, such as a port that is taken, or a bad certificate.
  public static func start(
    configuration: FakeOriginConfiguration = .init(), handler: @escaping Handler = OriginResponse.echo,
    admit: Gatekeeper? = nil
  ) async throws -> FakeOrigin {
    let responder = OriginResponder(state: Watched(OriginState()), handler: handler)
    var service = HTTPService(bodyLimit: configuration.bodyLimit) { responder.answer($0, $1, $2) }
    if let admit { service.admit = { responder.admit($0, $1, $2, by: admit) } }
    let server = try await HTTPServer(state: responder.state, configuration: configuration.server, service: service)
    return FakeOrigin(server, configuration)
  }

  /// The port that the server listens on.
  public var port: Int { server.port }

  /// The URL of a path on this server.
  ///
  /// - Parameters:
  ///   - path: a path with its slash, and a query if there is one.
  ///   - host: the host in the URL; by default the address that the server listens on.
  /// - Returns: the URL.
  public func url(_ path: String = "/", host: String? = nil) -> String { server.url(path, host: host) }

  /// Every request so far, in the order of arrival.
  public var requests: [RecordedRequest] { server.requests }

  /// The number of connections accepted so far.
  public var connectionCount: Int { server.connectionCount }

  /// The number of open connections.
  public var openConnectionCount: Int { server.openConnectionCount }

  /// Every connection so far, open or not, in the order of acceptance.
  public var connections: [RecordedConnection] { server.connections }

  /// Whether new connections are accepted and then never answered, not even by TLS.
  ///
  /// Default: false.
  public var isMute: Bool {
    get { server.state.read { $0.log.isMute } }
    set { server.state.change { $0.log.isMute = newValue } }
  }

  /// Waits, without polling, until at least that many requests came; also ends when the server is stopped or the task
  /// is cancelled.
  ///
  /// - Returns: whether it came to that; false if the server was stopped, or the task cancelled, before.
  @discardableResult
  public func waitForRequests(_ count: Int = 1) async -> Bool {
    await server.wait { $0.log.requests.count >= count }
  }

  /// Waits, without polling, until at least that many connections were accepted.
  ///
  /// - Returns: whether it came to that; false if the server was stopped, or the task cancelled, before.
  @discardableResult
  public func waitForConnections(_ count: Int = 1) async -> Bool { await server.wait { $0.log.accepted >= count } }

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
  public func stop() async { await server.stop() }
}
