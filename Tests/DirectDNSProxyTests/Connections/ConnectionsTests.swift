// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOCore
import NIOEmbedded
import Testing

@testable import DirectDNSProxy

@Suite("What connections hold of what was read")
struct ConnectionsTests: SlowReaders {
  /// The beginning of a head, its end, and a beginning behind it: so each read ends inside of one.
  private func parts(_ line: String) -> (first: ByteBuffer, next: ByteBuffer) {
    let (begin, end) = ("\(line)\r\nHost: 127.0.0.1\r\nX: ", String(repeating: "x", count: 20_000) + "\r\n\r\n")
    return (ByteBuffer(string: begin), ByteBuffer(string: end + begin))
  }

  @Test func `requests take no more room the more there are, though each read ends inside of one`() throws {
    try withClient(sending: "") { client, channel, reader in
      reader.reads = true
      let (first, next) = parts("GET /live HTTP/1.1")
      try channel.writeInbound(first)
      for _ in 0..<100 {
        try channel.writeInbound(next)
        #expect(String(buffer: try #require(try channel.readOutbound(as: ByteBuffer.self))).hasSuffix("live\n"))
      }
      #expect(client.buffered.capacity <= 262_144)
    }
  }

  @Test func `nor do interim responses`() throws {
    try withClient(sending: "") { client, channel, _ in
      let origin = OriginHandler()
      let originChannel = try self.channel(origin, channel.embeddedEventLoop, SlowReader())
      defer { end(originChannel, channel.embeddedEventLoop) }
      origin.begin(for: client, isToHEAD: false, ProxyLimits())
      let (first, next) = parts("HTTP/1.1 103 Early Hints")
      try originChannel.writeInbound(first)
      for _ in 0..<99 { try originChannel.writeInbound(next) }
      #expect(origin.interimCount == 99 && origin.buffered.capacity <= 262_144)
    }
  }
}

@Suite("Connections that have ended")
struct EndedConnectionsTests {
  /// Closes its connection once more when that has ended.
  private final class Closer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelInactive(context: ChannelHandlerContext) { context.closeBehindWrites(.all) }
  }

  private final class WriteCount: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    private(set) var value = 0

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      value += 1
      context.write(data, promise: promise)
    }
  }

  @Test func `closing a connection that has ended writes nothing, whatever it did not write`() throws {
    let count = WriteCount()
    let channel = EmbeddedChannel(handlers: [count, Closer()])
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    channel.write(ByteBuffer(string: "never sent"), promise: nil)
    try channel.close().wait()
    channel.embeddedEventLoop.run()
    #expect(count.value == 1)
  }
}
