// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOCore
import NIOEmbedded
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

/// Requests whose rest goes on after the response, to an origin that reads slowly: time is moved by hand.
@Suite("Requests that go on after their response")
struct UploadTests: SlowReaders {
  private static let place = ForwardOrigin(.address(.ipv4(0x7f00_0001)), port: 80)

  /// What has become of a request.
  private final class Fixture {
    let client: ClientHandler
    let channel: EmbeddedChannel
    let origin: EmbeddedChannel
    let originReader: SlowReader
    let log: Watched<[ProxyAccess]>

    init(
      _ client: ClientHandler, _ channel: EmbeddedChannel, _ origin: EmbeddedChannel, _ originReader: SlowReader,
      _ log: Watched<[ProxyAccess]>
    ) {
      (self.client, self.channel, self.origin) = (client, channel, origin)
      (self.originReader, self.log) = (originReader, log)
    }

    func said(_ channel: EmbeddedChannel) throws -> String {
      var text = ""
      while let part = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: part) }
      return text
    }

    func originReads() throws -> String {
      originReader.reads = true
      origin.flush()
      channel.embeddedEventLoop.run()
      return try said(origin)
    }
  }

  /// A request with a body, and its response, to an origin that has read nothing yet.
  private func withAnswered(
    _ response: String, body: String = "whole", _ check: (Fixture) throws -> Void
  ) throws {
    let log = Watched<[ProxyAccess]>([])
    try withClient(sending: "", log: { access in log.change { $0.append(access) } }) { client, channel, reader in
      reader.reads = true
      let (origin, originReader) = (OriginHandler(), SlowReader())
      let loop = channel.embeddedEventLoop
      let originChannel = try self.channel(origin, loop, originReader)
      defer { end(originChannel, loop) }
      origin.established(to: .ipv4(0x7f00_0001))
      client.loop.pool.put(origin, for: Self.place, ProxyLimits())
      client.lastOrigin = Self.place
      try channel.writeInbound(
        ByteBuffer(string: "PUT http://127.0.0.1/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n\(body)"))
      try originChannel.writeInbound(ByteBuffer(string: response))
      try check(Fixture(client, channel, originChannel, originReader, log))
    }
  }

  @Test(arguments: [
    ("202 Accepted\r\nContent-Length: 0\r\n", true),
    ("202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n", false),
    ("500 No\r\nContent-Length: 0\r\n", true), ("500 No\r\nContent-Length: 0\r\nConnection: close\r\n", false),
  ])
  func `an origin that answers before it has read all gets the rest`(head: String, isKept: Bool) throws {
    try withAnswered("HTTP/1.1 \(head)\r\n") { fixture in
      let said = try fixture.said(fixture.channel)
      #expect(said.hasPrefix("HTTP/1.1 \(head.prefix(3))"))
      // Where connections that wait are closed after 15 s.
      fixture.client.loop.pool.closeIdle(at: .now() + .seconds(60))
      fixture.client.loop.pool.closeAll()
      #expect(fixture.origin.isActive)
      let read = try fixture.originReads()
      #expect(read.hasSuffix("\r\n\r\nwhole"))
      let route = ChosenRoute(addresses: [.ipv4(0x7f00_0001)])
      #expect((fixture.client.loop.pool.take(Self.place, route, .direct, .any) != nil) == isKept)
      #expect(fixture.origin.isActive == isKept && fixture.channel.isActive)
      #expect(fixture.log.value.map(\.error) == [nil] && fixture.log.value.map(\.received) == [5])
    }
  }

  @Test func `the end of what its client sends is told to it behind the rest`() throws {
    try withAnswered("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n") { fixture in
      fixture.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      #expect(fixture.origin.isActive && !fixture.originReader.hasEnd)
      let read = try fixture.originReads()
      #expect(read.hasSuffix("\r\n\r\nwhole"))
      #expect(!fixture.origin.isActive && !fixture.channel.isActive)
      #expect(fixture.log.value.map(\.error) == [nil])
    }
  }

  @Test func `an origin that has told its end, or more than its response, serves no other request`() throws {
    for isEnd in [false, true] {
      try withAnswered("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n") { fixture in
        if isEnd {
          fixture.origin.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        } else {
          try fixture.origin.writeInbound(ByteBuffer(string: "HTTP/1.1 204 More\r\n\r\n"))
        }
        #expect(fixture.origin.isActive)
        let read = try fixture.originReads()
        #expect(read.hasSuffix("\r\n\r\nwhole"))
        #expect(!fixture.origin.isActive && fixture.channel.isActive)
      }
    }
  }

  @Test(arguments: [
    ("who", 299, nil), ("who", 302, "connection_read_timeout"), ("whole", 302, "connection_write_timeout"),
  ])
  func `one that takes no more, or gets no more, is reset after the time of a silent origin, and the log has it`(
    body: String, seconds: Int64, error: String?
  ) throws {
    try withAnswered("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", body: body) { fixture in
      fixture.client.timePassed(.now() + .seconds(seconds))
      #expect(fixture.origin.isActive == (error == nil))
      #expect(fixture.log.value.map(\.error) == (error == nil ? [] : [error]))
    }
  }

  @Test func `one that is gone before it has read all is in the log`() throws {
    try withAnswered("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n") { fixture in
      try fixture.origin.close().wait()
      fixture.channel.embeddedEventLoop.run()
      #expect(fixture.log.value.map(\.error) == ["connection_terminated"])
      // The response is the client's all the same.
      let said = try fixture.said(fixture.channel)
      #expect(said.hasPrefix("HTTP/1.1 202 "))
    }
  }

  @Test func `a client that is gone takes nothing of its whole request away`() throws {
    try withAnswered("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n") { fixture in
      try fixture.channel.close().wait()
      fixture.channel.embeddedEventLoop.run()
      #expect(fixture.origin.isActive)
      let read = try fixture.originReads()
      #expect(read.hasSuffix("\r\n\r\nwhole"))
      #expect(!fixture.origin.isActive)
    }
  }
}
