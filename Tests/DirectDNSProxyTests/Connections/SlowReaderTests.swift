// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOCore
import NIOEmbedded
import Testing

@testable import DirectDNSProxy

/// Those who read slowly, or no more: time is moved by hand.
@Suite("Slow readers")
struct SlowReaderTests {
  /// The other side: what is written stays until it reads, and fails when the channel ends before, as with a socket.
  private final class Reader: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    var reads = false
    /// It was told that nothing more follows.
    private(set) var hasEnd = false
    private var written: [EventLoopPromise<Void>] = []

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

  private func channel(_ handler: some ChannelHandler, _ loop: EmbeddedEventLoop, _ reader: Reader) throws
    -> EmbeddedChannel
  {
    let channel = EmbeddedChannel(handlers: [reader, handler], loop: loop)
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    return channel
  }

  /// A channel and its handlers hold each other until it has ended and its loop has gone on.
  private func end(_ channel: EmbeddedChannel, _ loop: EmbeddedEventLoop) {
    _ = try? channel.finish(acceptAlreadyClosed: true)
    loop.run()
  }

  private func withClient(
    sending first: String = "GET http://a.test/ HTTP/1.1\r\n\r\n",
    _ body: (ClientHandler, EmbeddedChannel, Reader) throws -> Void
  ) throws {
    let resolver = try DirectResolver()
    defer { resolver.shutdown() }
    let eventLoop = EmbeddedEventLoop()
    let shared = ProxyShared(resolver, ProxySettings(ProxyConfiguration()))
    let (client, reader) = (ClientHandler(ProxyLoop(eventLoop, shared)), Reader())
    let channel = try channel(client, eventLoop, reader)
    defer { end(channel, eventLoop) }
    // No Host: it is refused, and the connection ends behind the refusal.
    try channel.writeInbound(ByteBuffer(string: first))
    try body(client, channel, reader)
  }

  @Test func `a client that reads slowly gets all of a response, however long after`() throws {
    try withClient { client, channel, reader in
      // It is no longer listened to by then.
      client.timePassed(.now() + .seconds(3))
      client.timePassed(.now() + .seconds(60))
      #expect(channel.isActive)
      reader.reads = true
      channel.flush()
      let said = try #require(try channel.readOutbound(as: ByteBuffer.self))
      #expect(String(buffer: said).hasPrefix("HTTP/1.1 400 ") && String(buffer: said).hasSuffix("it has no Host.\n"))
      client.timePassed(.now() + .seconds(3))
      #expect(!channel.isActive)
    }
  }

  @Test func `one that does not read what it gets is asked for nothing more`() throws {
    try withClient(sending: "") { _, channel, reader in
      reader.reads = true
      channel.isWritable = false
      let request = "GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
      try channel.writeInbound(ByteBuffer(string: request + request))
      #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
      channel.isWritable = true
      channel.pipeline.fireChannelWritabilityChanged()
      for _ in 0..<2 {
        let said = try #require(try channel.readOutbound(as: ByteBuffer.self))
        #expect(String(buffer: said).hasSuffix("live\n"))
      }
    }
  }

  @Test func `a client that is slow to send the rest of what was refused gets the refusal all the same`() throws {
    try withClient(sending: "") { client, channel, reader in
      reader.reads = true
      try channel.writeInbound(
        ByteBuffer(string: "POST http://a.test:22/ HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf"))
      let said = try #require(try channel.readOutbound(as: ByteBuffer.self))
      #expect(String(buffer: said).hasPrefix("HTTP/1.1 403 "))
      // Closing now would be a reset for who still sends: it might take the refusal away.
      client.timePassed(.now() + .seconds(11))
      #expect(channel.isActive && reader.hasEnd)
      try channel.writeInbound(ByteBuffer(string: "half"))
      #expect(channel.isActive)
      client.timePassed(.now() + .seconds(14))
      #expect(!channel.isActive)
    }
  }

  @Test func `one that sends no more through its tunnel gets all that comes, however slowly it reads`() throws {
    try withClient(sending: "") { client, channel, reader in
      let (origin, originReader) = (OriginHandler(), Reader())
      originReader.reads = true
      let loop = channel.embeddedEventLoop
      let originChannel = try self.channel(origin, loop, originReader)
      defer { end(originChannel, loop) }
      let slot = try TunnelSlot(client.loop, ProxyLimits())
      client.beginTunnel(
        Tunnel(client, origin, client.access(.connect, nil), began: .now(), slot),
        early: origin.beginTunnel(for: client))
      channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      try originChannel.writeInbound(ByteBuffer(string: "the answer"))
      originChannel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      try? originChannel.close().wait()
      loop.run()
      #expect(channel.isActive)
      reader.reads = true
      channel.flush()
      #expect(try channel.readOutbound(as: ByteBuffer.self).map(String.init(buffer:)) == "the answer")
      loop.run()
      #expect(!channel.isActive)
    }
  }

  @Test func `one that has stopped reading is cut off after the time of a silent origin`() throws {
    try withClient { client, channel, _ in
      let limit = TimeAmount.seconds(300)
      client.timePassed(.now() + limit - .seconds(1))
      #expect(channel.isActive)
      client.timePassed(.now() + limit + .seconds(3))
      #expect(!channel.isActive)
    }
  }

  @Test(arguments: [false, true])
  func `an origin that has stopped reading is cut off some minutes after the last byte for it`(_ reads: Bool) throws {
    let (eventLoop, origin, reader) = (EmbeddedEventLoop(), OriginHandler(), Reader())
    let channel = try channel(origin, eventLoop, reader)
    defer { end(channel, eventLoop) }
    origin.write(ByteBuffer(string: "the end of a body"))
    origin.flush()
    origin.closeBehindWrites()
    eventLoop.advanceTime(by: Connections.writingLimit - .seconds(1))
    #expect(channel.isActive)
    if reads {
      reader.reads = true
      channel.flush()
      #expect(try channel.readOutbound(as: ByteBuffer.self).map(String.init(buffer:)) == "the end of a body")
    } else {
      eventLoop.advanceTime(by: .seconds(1))
    }
    #expect(!channel.isActive)
  }
}
