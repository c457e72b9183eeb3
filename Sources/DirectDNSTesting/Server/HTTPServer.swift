// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOCore

/// A listening server: the common part of ``FakeProvider`` and ``FakeOrigin``.
///
/// It runs until ``stop()``, or until the object is released.
final class HTTPServer<State: ServerState>: Sendable {
  let state: Watched<State>
  let port: Int
  private let configuration: ServerConfiguration
  private let listener: any Channel

  /// Starts to listen.
  init(state: Watched<State>, configuration: ServerConfiguration, service: HTTPService) async throws {
    self.state = state
    self.configuration = configuration
    listener = try await HTTPListener(state: state, configuration: configuration, service: service).listen()
    port = listener.localAddress?.port ?? 0
  }

  deinit {
    listener.close(promise: nil)
    for connection in end() { connection.close() }
  }

  func url(_ path: String, host: String?) -> String {
    "\(configuration.identity == nil ? "http" : "https")://\(host ?? configuration.address.bracketed):\(port)\(path)"
  }

  var requests: [RecordedRequest] { state.read { $0.log.requests } }
  var connections: [RecordedConnection] { state.read { $0.log.history } }
  var connectionCount: Int { state.read { $0.log.accepted } }
  var openConnectionCount: Int { state.read { $0.log.connections.count } }

  /// Waits until a condition holds.
  ///
  /// - Returns: whether it did; false when the server was stopped, or the task cancelled, before.
  func wait(until condition: @escaping @Sendable (State) -> Bool) async -> Bool {
    await state.wait(unless: { $0.log.isStopped }, until: condition)
  }

  func closeConnections() async { await close(state.read { Array($0.log.connections.values) }) }

  func stop() async {
    try? await listener.close().get()
    await close(end())
  }

  private func close(_ connections: [ServerConnection]) async {
    for connection in connections { connection.close() }
    for connection in connections { try? await connection.channel.closeFuture.get() }
  }

  private func end() -> [ServerConnection] {
    state.change { state in
      state.log.isStopped = true
      return Array(state.log.connections.values)
    }
  }
}
