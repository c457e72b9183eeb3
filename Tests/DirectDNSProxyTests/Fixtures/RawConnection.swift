// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOPosix
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// One end of a connection on this machine, byte by byte: what clients and servers say is written out in a test.
final class RawConnection: Sendable {
  struct State: Sendable {
    var received: [UInt8] = []
    /// The other side sends no more.
    var isEnded = false
    /// It was reset.
    var isReset = false
    var isClosed = false
  }

  private let channel: any Channel
  private let state: Watched<State>

  fileprivate init(_ channel: any Channel, _ state: Watched<State>) {
    self.channel = channel
    self.state = state
  }

  /// Connects to a port of 127.0.0.1.
  static func connect(to port: UInt16) async throws -> RawConnection {
    try await connect { $0.connect(host: "127.0.0.1", port: Int(port)) }
  }

  /// Connects to a Unix socket.
  static func connect(to path: String) async throws -> RawConnection {
    try await connect { $0.connect(unixDomainSocketPath: path) }
  }

  private static func connect(
    _ begin: (ClientBootstrap) -> EventLoopFuture<any Channel>
  ) async throws -> RawConnection {
    let state = Watched(State())
    let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .channelOption(.allowRemoteHalfClosure, value: true)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(RawHandler(state))
        }
      }
    return RawConnection(try await begin(bootstrap).get(), state)
  }

  var received: String { state.read { String(decoding: $0.received, as: UTF8.self) } }
  var receivedCount: Int { state.read { $0.received.count } }
  /// Whether the other side sends no more.
  var isEnded: Bool { state.read { $0.isEnded || $0.isClosed } }
  var isReset: Bool { state.read { $0.isReset } }
  var isClosed: Bool { state.read { $0.isClosed } }

  fileprivate func has(_ bytes: [UInt8]) -> Bool { state.read { $0.received.contains(bytes) } }

  func send(_ text: String) async throws { try await channel.writeAndFlush(ByteBuffer(string: text)) }

  func send(_ bytes: [UInt8]) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)) }

  /// Sends without waiting until it is out.
  func post(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

  /// The bytes that wait for the other side to read.
  var unsentCount: Int {
    get async { (try? await channel.getOption(.bufferedWritableBytes).get()) ?? 0 }
  }

  /// Those, and the ones that the kernel has and the other side's has not.
  var unacknowledgedCount: Int {
    get async throws {
      try await channel.eventLoop.submit { [channel] in
        try channel.pipeline.syncOperations.context(handlerType: RawHandler.self).unsentBytes
      }.get()
    }
  }

  /// Waits until something has come, and gives all that has.
  @discardableResult
  func receive(_ text: String) async -> String {
    let wanted = Array(text.utf8)
    await state.wait { $0.received.contains(wanted) || $0.isEnded || $0.isClosed }
    return received
  }

  /// Waits for so many bytes.
  func receive(count: Int) async {
    await state.wait { $0.received.count >= count || $0.isEnded || $0.isClosed }
  }

  /// Waits until the other side sends no more, and gives all that it has sent.
  func receiveToEnd() async -> String {
    await state.wait { $0.isEnded || $0.isClosed }
    return received
  }

  /// All that has come, without the lines of `Date`, which the proxy adds.
  @discardableResult
  func receiveUndated(_ text: String) async -> String { Self.undated(await receive(text)) }

  static func undated(_ text: String) -> String {
    text.split(separator: "\r\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("Date: ") }
      .joined(separator: "\r\n")
  }

  /// Forgets what has come.
  func forget() { state.change { $0.received = [] } }

  /// Reads no more until it is told to go on.
  func pause() async throws { try await channel.setOption(.autoRead, value: false).get() }

  func resume() async throws { try await channel.setOption(.autoRead, value: true).get() }

  /// Says that nothing more follows, and still listens.
  func finish() async throws { try await channel.close(mode: .output) }

  func close() async { try? await channel.close() }

  /// Closes by a reset.
  func reset() async throws {
    let provider = try #require(channel as? any SocketOptionProvider)
    try await provider.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
    await close()
  }
}

/// A server on loopback whose connections a test takes one by one.
final class RawListener: Sendable {
  private let channel: any Channel
  private let accepted: Watched<[RawConnection]>

  private init(_ channel: any Channel, _ accepted: Watched<[RawConnection]>) {
    self.channel = channel
    self.accepted = accepted
  }

  static func start(_ address: String = "127.0.0.1", port: UInt16 = 0) async throws -> RawListener {
    let accepted = Watched<[RawConnection]>([])
    let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let state = Watched(RawConnection.State())
          // Whoever waits for what comes on any of them looks again.
          try channel.pipeline.syncOperations.addHandler(RawHandler(state) { accepted.change { _ in } })
          accepted.change { $0.append(RawConnection(channel, state)) }
        }
      }
      .bind(host: address, port: Int(port)).get()
    return RawListener(channel, accepted)
  }

  var port: UInt16 { UInt16(channel.localAddress?.port ?? 0) }
  var count: Int { accepted.read(\.count) }

  /// Waits for a connection, by its number from 0.
  func connection(_ number: Int = 0) async throws -> RawConnection {
    await accepted.wait { $0.count > number }
    return try #require(accepted.read { $0.count > number ? $0[number] : nil })
  }

  /// Waits until a text has come on any connection, and gives the number of the first that has it.
  func place(of text: String) async throws -> Int {
    let wanted = Array(text.utf8)
    await accepted.wait { connections in connections.contains { $0.has(wanted) } }
    return try #require(accepted.read { connections in connections.firstIndex { $0.has(wanted) } })
  }

  func stop() async {
    try? await channel.close()
    for connection in accepted.value { await connection.close() }
  }
}

private final class RawHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private let state: Watched<RawConnection.State>
  private let onRead: () -> Void

  init(_ state: Watched<RawConnection.State>, onRead: @escaping () -> Void = {}) {
    self.state = state
    self.onRead = onRead
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    state.change { $0.received += buffer.readableBytesView }
    onRead()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent { state.change { $0.isEnded = true } }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    state.change { $0.isReset = true }
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) { state.change { $0.isClosed = true } }
}
