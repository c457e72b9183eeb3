// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOCore
import NIOEmbedded

@testable import DirectDNSProxy

/// The other side: what is written stays until it reads, and fails when the channel ends before, as with a socket.
final class SlowReader: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer
  var reads = false
  /// It was told that nothing more follows.
  private(set) var hasEnd = false
  /// How often something was read of it.
  private(set) var readCount = 0
  private var written: [EventLoopPromise<Void>] = []

  func read(context: ChannelHandlerContext) {
    readCount += 1
    context.read()
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if let promise { written.append(promise) }
    context.write(data, promise: nil)
  }

  func flush(context: ChannelHandlerContext) {
    guard reads else { return }
    context.flush()
    for promise in takeWritten() { promise.succeed() }
  }

  /// An embedded channel knows no half-closing.
  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    hasEnd = hasEnd || mode == .output
    if mode == .output { promise?.succeed() } else { context.close(mode: mode, promise: promise) }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    for promise in takeWritten() { promise.fail(ChannelError.ioOnClosedChannel) }
  }

  private func takeWritten() -> [EventLoopPromise<Void>] {
    defer { written = [] }
    return written
  }
}

/// Suites of those who read slowly: connections without a network.
protocol SlowReaders {}

extension SlowReaders {
  func channel(_ handler: some ChannelHandler, _ loop: EmbeddedEventLoop, _ reader: SlowReader) throws
    -> EmbeddedChannel
  {
    let channel = EmbeddedChannel(handlers: [reader, handler], loop: loop)
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    return channel
  }

  /// A channel and its handlers hold each other until it has ended and its loop has gone on.
  func end(_ channel: EmbeddedChannel, _ loop: EmbeddedEventLoop) {
    _ = try? channel.finish(acceptAlreadyClosed: true)
    loop.run()
  }

  func withClient(
    sending first: String = "GET http://a.test/ HTTP/1.1\r\n\r\n",
    log: (@Sendable (ProxyAccess) -> Void)? = nil,
    _ body: (ClientHandler, EmbeddedChannel, SlowReader) throws -> Void
  ) throws {
    let resolver = try DirectResolver()
    defer { resolver.shutdown() }
    let eventLoop = EmbeddedEventLoop()
    let shared = ProxyShared(resolver, ProxySettings(ProxyConfiguration(policy: .any, accessLog: log)))
    let (client, reader) = (ClientHandler(ProxyLoop(eventLoop, shared)), SlowReader())
    let channel = try channel(client, eventLoop, reader)
    defer { end(channel, eventLoop) }
    // No Host: it is refused, and the connection ends behind the refusal.
    try channel.writeInbound(ByteBuffer(string: first))
    try body(client, channel, reader)
  }

  /// A client's tunnel that has just begun, and both its sides.
  func withTunnel(
    log: (@Sendable (ProxyAccess) -> Void)? = nil,
    _ body: (ClientHandler, _ client: TunnelSide, _ origin: TunnelSide) throws -> Void
  ) throws {
    try withClient(sending: "", log: log) { client, channel, reader in
      let (origin, originReader) = (OriginHandler(), SlowReader())
      let loop = channel.embeddedEventLoop
      let originChannel = try self.channel(origin, loop, originReader)
      defer { end(originChannel, loop) }
      let slot = try TunnelSlot(client.loop, ProxyLimits())
      client.beginTunnel(
        Tunnel(client, origin, client.access(.connect, nil), began: .now(), slot),
        early: origin.beginTunnel(for: client))
      try body(
        client, TunnelSide(channel: channel, reader: reader),
        TunnelSide(channel: originChannel, reader: originReader))
    }
  }
}

/// One side of a tunnel: the proxy's connection to it, and how it reads.
struct TunnelSide {
  let channel: EmbeddedChannel
  let reader: SlowReader
}
