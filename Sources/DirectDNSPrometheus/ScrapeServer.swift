// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Serves an endpoint's connections, one request each, on the thread that runs it.
final class ScrapeServer: Sendable {
  private struct Connection {
    let socket: EndpointSocket
    let accepted: ResolverInstant
    let deadline: ResolverInstant
    var received: [UInt8] = []
    var stage = Stage.reading

    var isWriting: Bool { if case .writing = stage { true } else { false } }
  }

  private enum Stage {
    case reading
    /// What is left of the reply.
    case writing(ArraySlice<UInt8>)
    /// The reply is out: what the client still sends is read to its end, since closing over it would reset the
    /// connection and lose the reply (RFC 9112 §9.6).
    case draining
  }

  private let registry: PrometheusRegistry
  private let configuration: MetricsEndpointConfiguration
  private let readiness: @Sendable () -> Readiness
  private let listener: EndpointSocket
  private let wakeUp: EndpointSocket
  private let clock = SystemClock()

  init(
    _ registry: PrometheusRegistry, _ configuration: MetricsEndpointConfiguration,
    _ readiness: @escaping @Sendable () -> Readiness, listener: EndpointSocket, wakeUp: EndpointSocket
  ) {
    self.registry = registry
    self.configuration = configuration
    self.readiness = readiness
    self.listener = listener
    self.wakeUp = wakeUp
  }

  /// Serves until the other end of the pipe is closed.
  func run() {
    // In the order in which they came: the first is the slowest.
    var connections: [Connection] = []
    var admission = ScrapeAdmission(limit: configuration.connectionLimit)
    defer {
      for connection in connections { connection.socket.close() }
      listener.close()
      wakeUp.close()
    }
    while true {
      var interests = [EndpointSocket.Interest(socket: wakeUp, isWriting: false)]
      // One that is not accepted waits in the system's queue.
      let nextAccept = admission.nextAccept(connections.count, slowest: connections.first?.accepted)
      let isOpen = nextAccept <= clock.now
      if isOpen { interests.append(EndpointSocket.Interest(socket: listener, isWriting: false)) }
      interests += connections.map { EndpointSocket.Interest(socket: $0.socket, isWriting: $0.isWriting) }
      let ready = EndpointSocket.wait(
        for: interests, atMost: pollTimeout(connections, nextAccept: isOpen ? nil : nextAccept))
      guard !ready.contains(wakeUp) else { return }
      let now = clock.now
      connections = connections.compactMap { connection in
        var connection = connection
        if connection.deadline > now, !ready.contains(connection.socket) || go(&connection) { return connection }
        connection.socket.close()
        return nil
      }
      guard ready.contains(listener) else { continue }
      switch listener.accept() {
      case .connection(let socket):
        if admission.isFull(connections.count) { connections.removeFirst().socket.close() }
        connections.append(Connection(socket: socket, accepted: now, deadline: now + configuration.timeout))
      case .nothing: break
      case .refused:
        if admission.descriptorsExhausted(slowest: connections.first?.accepted, at: now) {
          connections.removeFirst().socket.close()
        }
      case .failed: admission.failed(at: now)
      }
    }
  }

  /// Milliseconds until the first connection has had its time, or the next one may come in; negative for no end.
  private func pollTimeout(_ connections: [Connection], nextAccept: ResolverInstant?) -> Int32 {
    guard let first = (connections.map(\.deadline) + [nextAccept].compactMap(\.self)).min() else { return -1 }
    return Int32(clamping: max(0, (first - clock.now).wholeMilliseconds))
  }

  /// Moves a connection on; false when it is over.
  private func go(_ connection: inout Connection) -> Bool {
    switch connection.stage {
    case .reading:
      if case .ended = connection.socket.read(into: &connection.received) { return false }
      guard
        let reply = ScrapeReply.to(
          connection.received, allowsAnyHost: configuration.allowsRemoteClients, readiness: readiness)
      else { return true }
      connection.stage = .writing(reply.bytes(registry.text())[...])
      return go(&connection)
    case .writing(let rest):
      switch connection.socket.write(rest) {
      case .later: return true
      case .ended: return false
      case .moved(let count):
        guard count < rest.count else {
          connection.socket.finish()
          connection.stage = .draining
          return true
        }
        connection.stage = .writing(rest.dropFirst(count))
        return true
      }
    case .draining:
      connection.received.removeAll(keepingCapacity: true)
      if case .ended = connection.socket.read(into: &connection.received) { return false }
      return true
    }
  }
}
