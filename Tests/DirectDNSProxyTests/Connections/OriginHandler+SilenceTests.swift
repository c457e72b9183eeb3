// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Kept connections that have vanished without a word.
@Suite("Connections that acknowledge nothing", .timeLimit(.minutes(1)))
struct OriginHandlerSilenceTests: SlowReaders {
  private static let place = ForwardOrigin(.address(.ipv4(0x7f00_0001)), port: 80)

  /// A connection to the origin that waits for the client's next request.
  private func keep(
    _ client: ClientHandler, _ loop: EmbeddedEventLoop, in pool: OriginPool? = nil
  ) throws -> (OriginHandler, EmbeddedChannel) {
    let (origin, reader) = (OriginHandler(), SlowReader())
    reader.reads = true
    let channel = try channel(origin, loop, reader)
    origin.established(to: .ipv4(0x7f00_0001))
    (pool ?? client.loop.pool).put(origin, for: Self.place, ProxyLimits())
    client.lastOrigin = Self.place
    return (origin, channel)
  }

  private func send(_ request: String, _ client: EmbeddedChannel, _ origin: EmbeddedChannel) throws {
    let method = request.prefix { $0 != " " }
    let fields = request.dropFirst(method.count + 1)
    try client.writeInbound(ByteBuffer(string: "\(method) http://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\(fields)"))
    let sent = try #require(try origin.readOutbound(as: ByteBuffer.self))
    #expect(String(buffer: sent).hasPrefix("\(method) / HTTP/1.1\r\n"))
  }

  @Test func `one that was kept has only so long for a request that can be sent once more`() throws {
    try withClient(sending: "") { client, channel, reader in
      reader.reads = true
      let (origin, originChannel) = try keep(client, channel.embeddedEventLoop)
      defer { end(originChannel, channel.embeddedEventLoop) }
      let requests: [(String, TimeAmount?)] = [
        ("GET \r\n", OriginHandler.silenceLimit), ("PUT Content-Length: 1\r\n\r\nx", nil),
        ("HEAD \r\n", OriginHandler.silenceLimit), ("POST Content-Length: 0\r\n\r\n", nil),
      ]
      for (request, limit) in requests {
        try send(request, channel, originChannel)
        while try originChannel.readOutbound(as: ByteBuffer.self) != nil {}
        #expect(origin.allowedSilence == limit, "\(request)")
        try originChannel.writeInbound(ByteBuffer(string: "HTTP/1.1 204 No\r\n\r\n"))
      }
      // A tunnel's other side may take nothing for long.
      try send("GET Connection: Upgrade\r\nUpgrade: echo\r\n\r\n", channel, originChannel)
      #expect(origin.allowedSilence == OriginHandler.silenceLimit)
      let switched = "HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"
      try originChannel.writeInbound(ByteBuffer(string: switched))
      #expect(origin.allowedSilence == nil)
    }
  }

  @Test(arguments: [(ETIMEDOUT, false), (ECONNRESET, true)])
  func `one that has vanished takes those with it that wait for requests to its address`(
    code: CInt, isKept: Bool
  ) throws {
    try withClient(sending: "") { client, channel, reader in
      reader.reads = true
      let loop = channel.embeddedEventLoop
      let (shared, elsewhere) = (client.loop.shared, ProxyLoop(loop, client.loop.shared))
      shared.runs(on: [client.loop, elsewhere].map { NIOLoopBound($0, eventLoop: loop) })
      // Each holds the others.
      defer { shared.runs(on: []) }
      let others = try [client.loop.pool, elsewhere.pool].map { try keep(client, loop, in: $0).1 }
      defer { for other in others { end(other, loop) } }
      let (_, used) = try keep(client, loop)
      defer { end(used, loop) }
      try send("POST Content-Length: 0\r\n\r\n", channel, used)
      used.pipeline.fireErrorCaught(IOError(errnoCode: code, reason: "read"))
      loop.run()
      #expect(!used.isActive && others.map(\.isActive) == [isKept, isKept])
      let said = try #require(try channel.readOutbound(as: ByteBuffer.self))
      #expect(String(buffer: said).hasPrefix("HTTP/1.1 502 "))
    }
  }

  #if os(Linux)
    @Test func `the kernel ends one whose other side takes nothing for so long`() async throws {
      let listener = try await RawListener.start()
      let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
      let channel = try await ClientBootstrap(group: eventLoop)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture { try channel.carry(by: OriginHandler()) }
        }
        .connect(host: "127.0.0.1", port: Int(listener.port)).get()
      try await listener.connection().pause()
      try await eventLoop.submit {
        let handler = try channel.pipeline.syncOperations.handler(type: OriginHandler.self)
        handler.limitSilence(to: .milliseconds(200))
        // More than the two kernels hold.
        handler.write(ByteBuffer(repeating: UInt8(ascii: "x"), count: 16 << 20))
        handler.flush()
      }.get()
      try await channel.closeFuture.get()
      await listener.stop()
    }
  #endif
}
