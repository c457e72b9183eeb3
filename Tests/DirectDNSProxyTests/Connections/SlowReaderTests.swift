// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOCore
import NIOEmbedded
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

/// Those who read slowly, or no more: time is moved by hand.
@Suite("Slow readers")
struct SlowReaderTests: SlowReaders {
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

  @Test(arguments: [true, false])
  func `whoever sends a tunnel's other side single bytes waits when there are many of them`(
    isToClient: Bool
  ) throws {
    try withTunnel { _, client, origin in
      let (sender, taker) = isToClient ? (origin, client) : (client, origin)
      for _ in 1..<PendingWrites.limit { try sender.channel.writeInbound(ByteBuffer(string: "x")) }
      sender.channel.read()
      let count = sender.reader.readCount
      try sender.channel.writeInbound(ByteBuffer(string: "x"))
      sender.channel.read()
      #expect(sender.reader.readCount == count)
      taker.reader.reads = true
      taker.channel.flush()
      #expect(sender.reader.readCount == count + 1)
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
    try withTunnel { _, client, origin in
      origin.reader.reads = true
      let loop = client.channel.embeddedEventLoop
      client.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      try origin.channel.writeInbound(ByteBuffer(string: "the answer"))
      origin.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      try? origin.channel.close().wait()
      loop.run()
      #expect(client.channel.isActive)
      client.reader.reads = true
      client.channel.flush()
      #expect(try client.channel.readOutbound(as: ByteBuffer.self).map(String.init(buffer:)) == "the answer")
      loop.run()
      #expect(!client.channel.isActive)
    }
  }

  @Test(arguments: [true, false], [nil, "connection_terminated", "connection_write_timeout"])
  func `a tunnel has ended once both sides have all of it, and is cut off if they take none of it or the proxy ends`(
    isOriginSlow: Bool, error: String?
  ) throws {
    let log = Watched<[ProxyAccess]>([])
    try withTunnel(log: { access in log.change { $0.append(access) } }) { handler, client, origin in
      let (loop, tunnels) = (client.channel.embeddedEventLoop, handler.loop.shared.tunnels)
      let (slow, other) = isOriginSlow ? (origin, client) : (client, origin)
      other.reader.reads = true
      slow.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      try other.channel.writeInbound(ByteBuffer(string: "all of it"))
      other.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      loop.run()
      #expect(!other.channel.isActive && slow.channel.isActive)
      // Stopping waits as long as there is a tunnel.
      #expect(tunnels.value == 1 && log.value.isEmpty)
      switch error {
      case nil:
        slow.reader.reads = true
        slow.channel.flush()
      case "connection_write_timeout"?: loop.advanceTime(by: Connections.writingLimit)
      default: handler.loop.stop()
      }
      loop.run()
      #expect(!slow.channel.isActive && tunnels.value == 0)
      #expect(log.value.map(\.error) == [error])
    }
  }

  @Test(
    arguments: [
      (0, 0, false, "connection_terminated"), (0, 2, false, nil), (0, 2, true, "connection_terminated"),
      (1, 0, false, nil), (1, 0, true, "connection_terminated"), (0, 1, false, nil),
      (0, 1, true, "connection_terminated"),
    ] as [(Int, Int, Bool, String?)])
  func `a client that has stopped sending has broken its tunnel off, unless it takes nothing of what comes since`(
    before: Int, messages: Int, reads: Bool, error: String?
  ) throws {
    let log = Watched<[ProxyAccess]>([])
    try withTunnel(log: { access in log.change { $0.append(access) } }) { _, client, origin in
      (client.reader.reads, origin.reader.reads) = (reads, true)
      for _ in 0..<before { try origin.channel.writeInbound(ByteBuffer(string: "more")) }
      client.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      for _ in 0..<messages { try origin.channel.writeInbound(ByteBuffer(string: "more")) }
      #expect(log.value.isEmpty)
      // So does SwiftNIO when a connection was reset.
      client.channel.pipeline.fireChannelReadComplete()
      try client.channel.close().wait()
      client.channel.embeddedEventLoop.run()
      #expect(!origin.channel.isActive)
      #expect(log.value.map(\.error) == [error])
    }
  }

  @Test func `what a client has sent before it broke its tunnel off still goes to a slow origin`() throws {
    let log = Watched<[ProxyAccess]>([])
    try withTunnel(log: { access in log.change { $0.append(access) } }) { _, client, origin in
      let loop = client.channel.embeddedEventLoop
      client.reader.reads = true
      try client.channel.writeInbound(ByteBuffer(string: "the last"))
      client.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      try client.channel.close().wait()
      loop.run()
      #expect(origin.channel.isActive && log.value.isEmpty)
      origin.reader.reads = true
      origin.channel.flush()
      loop.run()
      #expect(try origin.channel.readOutbound(as: ByteBuffer.self).map(String.init(buffer:)) == "the last")
      #expect(!origin.channel.isActive && log.value.map(\.error) == ["connection_terminated"])
    }
  }

  @Test func `a tunnel is not silent while a side takes what was sent to it`() throws {
    try withTunnel { handler, client, origin in
      try client.channel.writeInbound(ByteBuffer(string: "the question"))
      try origin.channel.writeInbound(ByteBuffer(string: "the answer"))
      origin.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      let start = NIODeadline.now()
      for (side, other, taken) in [(client, origin, Int64(290)), (origin, client, 580)] {
        handler.timePassed(start + .seconds(taken - 100))
        (side.reader.reads, other.reader.reads) = (true, false)
        side.channel.flush()
        handler.timePassed(start + .seconds(taken))
        handler.timePassed(start + .seconds(taken + 300))
        #expect(client.channel.isActive)
      }
      handler.timePassed(start + .seconds(881))
      #expect(!client.channel.isActive)
    }
  }

  @Test func `a response is waited for to be taken as long as a tunnel, and only then for the next request`() throws {
    try withClient(sending: "") { client, channel, reader in
      let start = NIODeadline.now()
      try channel.writeInbound(ByteBuffer(string: "GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"))
      client.timePassed(start + .seconds(3599))
      #expect(channel.isActive)
      reader.reads = true
      channel.flush()
      client.timePassed(start + .seconds(3600))
      client.timePassed(start + .seconds(3675))
      #expect(channel.isActive)
      client.timePassed(start + .seconds(3676))
      #expect(!channel.isActive)
    }
  }

  @Test(arguments: [nil, "connection_write_timeout", "connection_terminated"])
  func `a response has ended once it was written, and is cut off if it never is`(error: String?) throws {
    let log = Watched<[ProxyAccess]>([])
    try withClient(sending: "", log: { access in log.change { $0.append(access) } }) { client, channel, reader in
      let (origin, place) = (OriginHandler(), ForwardOrigin(.address(.ipv4(0x7f00_0001)), port: 80))
      let loop = channel.embeddedEventLoop
      let originReader = SlowReader()
      originReader.reads = true
      let originChannel = try self.channel(origin, loop, originReader)
      defer { end(originChannel, loop) }
      origin.established(to: .ipv4(0x7f00_0001))
      client.loop.pool.put(origin, for: place, ProxyLimits())
      try channel.writeInbound(ByteBuffer(string: "GET http://127.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n"))
      try originChannel.writeInbound(ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"))
      #expect(client.headBegan == nil && log.value.isEmpty)
      switch error {
      case nil:
        reader.reads = true
        channel.flush()
      case "connection_write_timeout"?: client.timePassed(.now() + .seconds(3601))
      default: try channel.close().wait()
      }
      loop.run()
      #expect(log.value.map(\.error) == [error] && log.value.map(\.sent) == [4])
    }
  }

  @Test func `one that has stopped reading is cut off after the time of a silent tunnel`() throws {
    try withClient { client, channel, _ in
      let limit = TimeAmount.seconds(3600)
      client.timePassed(.now() + limit - .seconds(1))
      #expect(channel.isActive)
      client.timePassed(.now() + limit + .seconds(3))
      #expect(!channel.isActive)
    }
  }

  @Test(arguments: [false, true])
  func `an origin that has stopped reading is cut off some minutes after the last byte for it`(_ reads: Bool) throws {
    let (eventLoop, origin, reader) = (EmbeddedEventLoop(), OriginHandler(), SlowReader())
    let channel = try channel(origin, eventLoop, reader)
    defer { end(channel, eventLoop) }
    origin.write(ByteBuffer(string: "the end of a body"))
    origin.flush()
    origin.close()
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
