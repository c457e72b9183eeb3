import HTTPTypes
import NIOCore

/// A web server on loopback that writes down what it is asked and answers by a script.
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
/// It runs on NIO's shared threads, so a server costs a socket and starts in about a millisecond.
public final class FakeOrigin: Sendable {
  /// What answers a request.
  ///
  /// It may take its time: its task is cancelled when the client goes or the server is stopped. When it throws, the
  /// connection is closed without an answer.
  public typealias Handler = @Sendable (RecordedRequest) async throws -> OriginResponse

  /// How the server was set up.
  public let configuration: FakeOriginConfiguration

  private let server: HTTPServer<OriginState>

  private init(_ server: HTTPServer<OriginState>, _ configuration: FakeOriginConfiguration) {
    self.server = server
    self.configuration = configuration
  }

  /// Starts a server.
  ///
  /// It runs until ``stop()``, or until the object goes.
  ///
  /// - Parameters:
  ///   - configuration: how it is set up; by default plain HTTP/1.1 on a free port of 127.0.0.1.
  ///   - handler: what answers each request; by default ``OriginResponse/echo(of:)``.
  /// - Returns: the server, listening.
  /// - Throws: the socket's error, such as a port that is taken, or a bad certificate.
  public static func start(
    configuration: FakeOriginConfiguration = .init(), handler: @escaping Handler = OriginResponse.echo
  ) async throws -> FakeOrigin {
    let state = Watched(OriginState())
    let server = try await HTTPServer(state: state, configuration: configuration.server) {
      [state] incoming, connection, channel in
      let request = state.change { $0.log.record(incoming, on: connection) }
      let answering = Task {
        do {
          let response = try await handler(request)
          ResponseWriter(answering: incoming, on: channel, closes: response.closes).write(response)
        } catch {
          connection.close()
        }
      }
      channel.closeFuture.whenComplete { _ in answering.cancel() }
    }
    return FakeOrigin(server, configuration)
  }

  /// The port that the server listens on.
  public var port: Int { server.port }

  /// The URL of a path on this server.
  ///
  /// - Parameters:
  ///   - path: a path with its slash, and a query if there is one.
  ///   - host: the name to stand in the URL; by default the address that the server listens on.
  /// - Returns: the URL.
  public func url(_ path: String = "/", host: String? = nil) -> String { server.url(path, host: host) }

  /// Every request so far, in the order of arrival.
  public var requests: [RecordedRequest] { server.requests }

  /// How many connections were accepted so far.
  public var connectionCount: Int { server.connectionCount }

  /// How many connections are open.
  public var openConnectionCount: Int { server.openConnectionCount }

  /// Waits, without polling, until at least that many requests came; ends too when the server is stopped or
  /// the task is cancelled.
  public func waitForRequests(_ count: Int = 1) async { await server.wait { $0.log.requests.count >= count } }

  /// Closes every open connection, orderly but at once, and goes on listening.
  public func closeConnections() async { await server.closeConnections() }

  /// Closes the listener and all connections at once; the port is free when this returns.
  ///
  /// What was recorded can still be read. Stopping twice is the same as once.
  public func stop() async { await server.stop() }
}

/// What a fake origin remembers.
struct OriginState: ServerState {
  var log = ServerLog()
}

extension OriginResponse {
  /// Whether the connection ends with the response.
  fileprivate var closes: Bool { fields[.connection]?.lowercased() == "close" }

  /// The length to announce, unless the fields say where the body ends.
  fileprivate var length: Int? {
    fields.contains(.contentLength) || fields.contains(.transferEncoding) ? nil : body.count
  }
}

extension ResponseWriter {
  /// Writes a whole response.
  fileprivate func write(_ response: OriginResponse) {
    writeHead(response.status, response.fields, length: response.length)
    if !isHead, !response.body.isEmpty { _ = write(response.body[...]) }
    end()
  }
}
