// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
import NIOCore
import NIOPosix

/// A plain DNS server on loopback, over UDP and TCP on one port, which stands for the system's DNS.
///
/// ```swift
/// let server = try await FakeNameServer.start(records: records)
/// // … point c-ares to server.serverAddress …
/// #expect(server.queries.map(\.name) == ["www.example.test"])
/// await server.stop()
/// ```
public final class FakeNameServer: Sendable {
  /// The port, the same for UDP and TCP.
  public let port: Int
  /// The address that the server listens on.
  public let address: IPAddress

  private let state: Watched<NameServerState>
  private let listeners: [any Channel]

  private init(state: Watched<NameServerState>, address: IPAddress, listeners: [any Channel]) {
    self.state = state
    self.address = address
    self.listeners = listeners
    port = listeners.first?.localAddress?.port ?? 0
  }

  /// Starts a server.
  ///
  /// It runs until ``stop()``, or until the object is released.
  ///
  /// - Parameters:
  ///   - records: the records that it serves.
  ///   - address: the address to listen on, by default 127.0.0.1.
  ///   - port: the port to listen on, by default any that is free for UDP and TCP.
  /// - Returns: the server, listening.
  /// - Throws: the socket's error, such as a port that is taken.
  public static func start(
    records: RecordTable = RecordTable(), address: IPAddress = .loopback(), port: Int = 0
  ) async throws -> FakeNameServer {
    let state = Watched(NameServerState(records: records))
    for _ in 0..<20 {
      let datagrams = try await bindDatagrams(state, address, port)
      let free = datagrams.localAddress?.port ?? port
      do {
        let stream = try await bindStream(state, address, free)
        return FakeNameServer(state: state, address: address, listeners: [datagrams, stream])
      } catch let error as IOError where port == 0 && error.errnoCode == EADDRINUSE {
        // A port that is free for UDP may be taken for TCP; another one is tried.
        try await datagrams.close()
      } catch {
        try await datagrams.close()
        throw error
      }
    }
    throw IOError(errnoCode: EADDRINUSE, reason: "no port is free for both UDP and TCP")
  }

  private static func bindDatagrams(
    _ state: Watched<NameServerState>, _ address: IPAddress, _ port: Int
  ) async throws -> any Channel {
    try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(NameServerDatagrams(state: state))
        }
      }
      .bind(host: address.description, port: port)
      .get()
  }

  private static func bindStream(
    _ state: Watched<NameServerState>, _ address: IPAddress, _ port: Int
  ) async throws -> any Channel {
    try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        let isWelcome = state.change { state in
          if !state.isStopped { state.connections[ObjectIdentifier(channel)] = channel }
          return !state.isStopped
        }
        guard isWelcome else { return channel.close() }
        channel.closeFuture.whenComplete { _ in
          state.change { $0.connections[ObjectIdentifier(channel)] = nil }
        }
        return channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(NameServerStream(state: state))
        }
      }
      .bind(host: address.description, port: port)
      .get()
  }

  deinit {
    for channel in listeners + end() { channel.close(promise: nil) }
  }

  /// The server as c-ares and resolv.conf tools write it: `127.0.0.1:5353`, or `[::1]:5353`.
  public var serverAddress: String { "\(address.bracketed):\(port)" }

  /// The records that the server serves; they can be changed while it runs.
  public var records: RecordTable {
    get { state.read { $0.records } }
    set { state.change { $0.records = newValue } }
  }

  /// Every query so far, in the order of arrival.
  public var queries: [RecordedQuery] { state.read { $0.queries } }

  /// Misbehaves from now on; see ``FakeProvider/misbehave(_:times:when:)`` for the order.
  ///
  /// - Parameters:
  ///   - misbehaviours: what to do; all of it for each query.
  ///   - times: for how many queries; nil, the default, means until ``behave()``.
  ///   - condition: for which queries; by default all. It must not call the server, whose lock is held.
  public func misbehave(
    _ misbehaviours: NameServerMisbehaviour..., times: Int? = nil,
    when condition: (@Sendable (RecordedQuery) -> Bool)? = nil
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

  /// Waits, without polling, until at least that many queries came; also ends when the server is stopped or the task is
  /// cancelled.
  ///
  /// - Returns: whether it came to that; false if the server was stopped, or the task cancelled, before.
  @discardableResult
  public func waitForQueries(_ count: Int = 1) async -> Bool {
    await state.wait(unless: \.isStopped) { $0.queries.count >= count }
  }

  /// Waits, without polling, until at least that many answers wait for ``release()``.
  ///
  /// - Returns: whether it came to that; false if the server was stopped, or the task cancelled, before.
  @discardableResult
  public func waitForHeld(_ count: Int = 1) async -> Bool {
    await state.wait(unless: \.isStopped) { $0.held.count >= count }
  }

  /// Closes both sockets and all connections at once.
  ///
  /// Stopping twice has no further effect.
  public func stop() async {
    for channel in listeners + end() { try? await channel.close() }
  }

  private func end() -> [any Channel] {
    state.change { state in
      state.isStopped = true
      state.held = []
      return Array(state.connections.values)
    }
  }
}
