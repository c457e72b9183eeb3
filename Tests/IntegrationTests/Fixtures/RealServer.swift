// SPDX-License-Identifier: Apache-2.0
/// A server from the system's packages that answers for ``LabZone/standard`` over HTTP on loopback.
protocol RealServer: Sendable {
  /// The name that test reports use.
  static var name: String { get }

  /// Writes the server's files and picks its ports; ``start()`` starts it.
  init() async throws

  var process: ServerProcess { get }

  /// The port of `https`.
  var port: UInt16 { get }

  /// The authority that signed the server's certificate.
  var caFile: String { get }

  /// Starts the server and returns when it accepts connections.
  func start() async throws

  /// Ends the server as its operator would.
  func stop() async throws

  /// Ends the server as a power failure would.
  func kill() async throws
}

extension RealServer {
  /// The name that the certificate is for; it leads to 127.0.0.1 in the zone and by ``bootstrap``.
  var host: String { "doh.lab.test" }

  /// The host's address as `--bootstrap` takes it.
  var bootstrap: String { "\(host)=127.0.0.1" }

  func start() async throws { try await process.start() }

  func stop() async throws { try await process.stop() }

  func kill() async throws { try await process.kill() }

  /// Lets the server answer nothing until ``resume()``.
  func pause() async throws { try await process.pause() }

  /// Lets a paused server go on.
  func resume() async { await process.resume() }

  /// Ends the server and starts it again on the same ports.
  func restart() async throws {
    try await stop()
    try await start()
  }

  /// A new server of this kind, running while `body` does.
  static func running<Result>(_ body: (Self) async throws -> Result) async throws -> Result {
    let server = try await Self()
    try await server.start()
    do {
      let result = try await body(server)
      try await server.stop()
      return result
    } catch {
      try await server.stop()
      throw error
    }
  }
}

/// A server that speaks DNS over HTTPS (RFC 8484).
protocol DoHServer: RealServer {}

extension DoHServer {
  /// The URL of the endpoint.
  var dohURL: String { "https://\(host):\(port)/dns-query" }
}

/// The kinds of DoH server there are: what a test that holds for each of them takes as its argument.
enum DoHKind: String, CaseIterable, Sendable {
  case unbound
  case bind
  case dnsdist

  var server: any DoHServer.Type {
    switch self {
    case .unbound: Unbound.self
    case .bind: Bind.self
    case .dnsdist: DNSDist.self
    }
  }
}
