// SPDX-License-Identifier: Apache-2.0
#if AsyncHTTPClient
  internal import AsyncHTTPClient
  internal import DirectDNS
  internal import NIOCore

  /// A client for one origin at one address, which ends with its last response once another has taken its place.
  final class PinnedClient {
    let address: IPAddress
    let client: HTTPClient
    var used = NIODeadline.now()
    private let connectTime: TimeAmount
    private let connections: OpenConnections
    private let state: PinnedState

    init(address: IPAddress, connectTime: TimeAmount, client: HTTPClient, connections: OpenConnections) {
      self.address = address
      self.connectTime = connectTime
      self.client = client
      self.connections = connections
      state = PinnedState(client)
    }

    /// Whether it has a connection.
    var isConnected: Bool { !connections.isEmpty }

    /// Whether it has a connection, or a request that waits for one.
    var isAlive: Bool { isConnected || state.isInUse }

    /// Whether it will do for a request whose connecting may take that long.
    ///
    /// One that gives up later has to have a connection, by which nothing is waited for. One that gives up sooner would
    /// stay for all requests to come, and blame the address.
    func isUsable(connectingWithin time: TimeAmount) -> Bool {
      connectTime == time || (connectTime > time && isConnected)
    }

    // AsyncHTTPClient ends the process when a client goes that was not shut down.
    deinit { retire() }

    /// A request begins; it ends with the object that comes back.
    func begin() -> ClientUse { ClientUse(state) }

    func retire() { state.change { $0.isRetired = true } }
  }

  /// How many need a client still; responses end on any thread.
  final class PinnedState: Sendable {
    struct Count {
      var uses = 0
      var isRetired = false
      var isClosed = false
    }

    private let client: HTTPClient
    private let count = Locked(Count())

    init(_ client: HTTPClient) { self.client = client }

    var isInUse: Bool { count.withLock { $0.uses > 0 } }

    func change(_ body: (inout Count) -> Void) {
      let closes = count.withLock { count in
        body(&count)
        guard count.isRetired, count.uses == 0, !count.isClosed else { return false }
        count.isClosed = true
        return true
      }
      if closes { client.shutdown { _ in } }
    }
  }

  /// How many connections a client has; they come and go on any thread.
  final class OpenConnections: Sendable {
    private let number = Locked(0)

    var isEmpty: Bool { number.withLock { $0 == 0 } }

    /// Counts those of clients with that configuration.
    func count(in configuration: inout HTTPClient.Configuration) {
      configuration.http1_1ConnectionDebugInitializer = counting(after: configuration.http1_1ConnectionDebugInitializer)
      configuration.http2ConnectionDebugInitializer = counting(after: configuration.http2ConnectionDebugInitializer)
    }

    /// After the caller's own, which may refuse the connection.
    private func counting(after callers: ServerName.Initializer?) -> ServerName.Initializer {
      { [number] channel in
        let ready = callers?(channel) ?? channel.eventLoop.makeSucceededVoidFuture()
        return ready.map {
          number.withLock { $0 += 1 }
          channel.closeFuture.whenComplete { _ in number.withLock { $0 -= 1 } }
        }
      }
    }
  }

  /// A request under way, or a response whose body is being read.
  final class ClientUse: Sendable {
    private let state: PinnedState

    init(_ state: PinnedState) {
      self.state = state
      state.change { $0.uses += 1 }
    }

    deinit { state.change { $0.uses -= 1 } }
  }

  extension HTTPClientResponse {
    /// The response, whose body keeps its client until it is read or let go.
    func holding(_ use: ClientUse) -> HTTPClientResponse {
      var response = self
      response.body = .stream(HeldBody(body: body, use: use))
      return response
    }
  }

  private struct HeldBody: AsyncSequence, Sendable {
    let body: HTTPClientResponse.Body
    let use: ClientUse

    struct AsyncIterator: AsyncIteratorProtocol {
      var base: HTTPClientResponse.Body.AsyncIterator
      let use: ClientUse

      mutating func next() async throws -> ByteBuffer? { try await base.next() }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: body.makeAsyncIterator(), use: use) }
  }
#endif
