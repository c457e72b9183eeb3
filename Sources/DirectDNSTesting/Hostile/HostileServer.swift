// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL

/// A server on loopback that answers each request by a ``HostileScript``: an origin or a provider with its own HTTP
/// implementation.
package final class HostileServer: Sendable {
  /// The most bytes of something endless: a client that reads so many without an error never reports one.
  package static let endlessLimit = 1 << 26

  /// A thread of its own: endless answers would delay other servers of a test.
  private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  private let channel: any Channel
  private let script: NIOLockedValueBox<HostileScript>
  private let connections: NIOLockedValueBox<[ObjectIdentifier: any Channel]>
  private let answers: NIOLockedValueBox<Int>

  private init(
    _ channel: any Channel, _ script: NIOLockedValueBox<HostileScript>,
    _ connections: NIOLockedValueBox<[ObjectIdentifier: any Channel]>, _ answers: NIOLockedValueBox<Int>
  ) {
    self.channel = channel
    self.script = script
    self.connections = connections
    self.answers = answers
  }

  /// Starts a server on a free port of 127.0.0.1.
  ///
  /// - Parameter identity: its certificate and key, nil for no TLS. By TLS it offers the version of its script alone.
  /// - Returns: the server, listening.
  /// - Throws: the socket's error, or a bad certificate.
  package static func start(identity: TLSIdentity? = nil) async throws -> HostileServer {
    let script = NIOLockedValueBox(HostileScript(seed: 0))
    let connections = NIOLockedValueBox<[ObjectIdentifier: any Channel]>([:])
    let answers = NIOLockedValueBox(0)
    let (http1, http2) = (try tls(identity, .http1), try tls(identity, .http2))
    let channel = try await ServerBootstrap(group: Self.group)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        let id = ObjectIdentifier(channel)
        connections.withLockedValue { $0[id] = channel }
        channel.closeFuture.whenComplete { _ in connections.withLockedValue { $0[id] = nil } }
        return channel.eventLoop.makeCompletedFuture {
          let script = script.withLockedValue { $0 }
          if let tls = script.language == .http1 ? http1 : http2 {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls.context(for: nil)))
          }
          try channel.pipeline.syncOperations.addHandler(HostileHandler(script, answers))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return HostileServer(channel, script, connections, answers)
  }

  private static func tls(_ identity: TLSIdentity?, _ version: HTTPProtocolVersion) throws -> ServerTLS? {
    try ServerTLS(
      ServerConfiguration(identity: identity, httpVersions: [version], address: .ipv4(0x7F00_0001), port: 0))
  }

  package var port: Int { channel.localAddress?.port ?? 0 }

  /// How many requests it has answered, or begun to.
  package var answerCount: Int { answers.withLockedValue { $0 } }

  /// Uses another script for new connections, and closes the open ones.
  package func play(_ next: HostileScript) async {
    script.withLockedValue { $0 = next }
    for connection in connections.withLockedValue({ Array($0.values) }) { try? await connection.close() }
  }

  /// Ends it.
  package func stop() async {
    try? await channel.close()
    for connection in connections.withLockedValue({ Array($0.values) }) { try? await connection.close() }
  }
}

/// One connection: finds the requests in what comes, and answers them in order.
private final class HostileHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let script: HostileScript
  private var received: [UInt8] = []
  private var hasPreface = false
  private var answered = 0
  private var waiting: [UInt32] = []
  private var steps: ArraySlice<HostileScript.Step> = []
  private var isBusy = false

  private let answers: NIOLockedValueBox<Int>

  init(_ script: HostileScript, _ answers: NIOLockedValueBox<Int>) {
    self.script = script
    self.answers = answers
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received += unwrapInboundIn(data).readableBytesView
    while let stream = nextRequest() { waiting.append(stream) }
    runNextStep(context)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  /// The stream of the next request that has come; 0 in HTTP/1.1.
  private func nextRequest() -> UInt32? {
    switch script.language {
    case .http1:
      guard let end = received.indices.first(where: { received[$0...].starts(with: [13, 10, 13, 10]) }) else {
        return nil
      }
      received.removeFirst(end + 4)
      return 0
    case .http2:
      if !hasPreface {
        guard received.count >= 24 else { return nil }
        received.removeFirst(24)
        hasPreface = true
      }
      while received.count >= 9 {
        let length = Int(received[0]) << 16 | Int(received[1]) << 8 | Int(received[2])
        guard received.count >= 9 + length else { return nil }
        let stream = received[5..<9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let isHead = received[3] == 1
        received.removeFirst(9 + length)
        if isHead { return stream }
      }
      return nil
    }
  }

  private func runNextStep(_ context: ChannelHandlerContext) {
    guard !isBusy else { return }
    if steps.isEmpty {
      guard !waiting.isEmpty else { return }
      steps = script.steps(request: answered, stream: waiting.removeFirst())[...]
      answered += 1
      answers.withLockedValue { $0 += 1 }
    }
    guard let step = steps.popFirst() else { return runNextStep(context) }
    isBusy = true
    switch step {
    case .send(let bytes): send(context, ByteBuffer(bytes: bytes), left: 0)
    case .endless(let bytes): send(context, ByteBuffer(bytes: bytes), left: HostileServer.endlessLimit)
    case .hold: break
    case .close: context.close(promise: nil)
    case .reset:
      let reset = (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
      let context = NIOLoopBound(context, eventLoop: context.eventLoop)
      guard let reset else { return context.value.close(promise: nil) }
      reset.whenComplete { _ in context.value.close(promise: nil) }
    }
  }

  private func send(_ context: ChannelHandlerContext, _ buffer: ByteBuffer, left: Int) {
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(buffer)).whenComplete { result in
      let context = bound.value.1
      guard case .success = result else { return context.close(promise: nil) }
      // In a turn of its own: writes that complete at once would otherwise nest deeply.
      context.eventLoop.execute {
        let (handler, context) = bound.value
        if left > buffer.readableBytes {
          return handler.send(context, buffer, left: left - buffer.readableBytes)
        }
        handler.isBusy = false
        handler.runNextStep(context)
      }
    }
  }
}
