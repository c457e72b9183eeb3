// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Dispatch
import NIOCore
import NIOEmbedded
import Testing

@testable import DirectDNSProxy

/// What becomes of a client's connection at the limit and at the end; time is moved by hand.
@Suite("Clients at the limit and at the end")
struct ClientStepsTests {
  /// The other side, which reads at once.
  private final class Peer: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    /// It was told that nothing more follows.
    private(set) var hasEnd = false

    /// An embedded channel knows no half-closing.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
      hasEnd = hasEnd || mode == .output
      if mode == .output { promise?.succeed() } else { context.close(mode: mode, promise: promise) }
    }
  }

  /// A side that has gone, as a write to it shows.
  private final class GonePeer: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    func flush(context: ChannelHandlerContext) { context.close(mode: .all, promise: nil) }
  }

  private struct Client {
    let handler: ClientHandler
    let channel: EmbeddedChannel
    let peer = Peer()

    init(_ loop: ProxyLoop, _ eventLoop: EmbeddedEventLoop, from address: String? = nil) throws {
      handler = ClientHandler(loop)
      channel = EmbeddedChannel(handlers: [], loop: eventLoop)
      // The handler asks for it when it is added.
      channel.remoteAddress = try address.map { try SocketAddress(ipAddress: $0, port: 1) }
      try channel.pipeline.syncOperations.addHandlers([peer, handler])
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    func ask(_ path: String, by host: String = "127.0.0.1") throws -> String {
      try channel.writeInbound(ByteBuffer(string: "GET \(path) HTTP/1.1\r\nHost: \(host)\r\n\r\n"))
      return try said()
    }

    func said() throws -> String {
      var text = ""
      while let part = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: part) }
      return text
    }
  }

  private func withClients(
    _ count: Int, limit: Int = 10, users: ProxyUsers? = nil,
    _ body: ([Client], ProxyLoop, EmbeddedEventLoop) throws -> Void
  ) throws {
    let resolver = try DirectResolver()
    defer { resolver.shutdown() }
    let eventLoop = EmbeddedEventLoop()
    var configuration = ProxyConfiguration()
    configuration.limits.clients = limit
    configuration.users = users
    let loop = ProxyLoop(eventLoop, ProxyShared(resolver, ProxySettings(configuration)))
    let clients = try (0..<count).map { _ in try Client(loop, eventLoop) }
    // A channel and its handlers hold each other until it has ended and its loop has gone on.
    defer {
      for client in clients { _ = try? client.channel.finish(acceptAlreadyClosed: true) }
      eventLoop.run()
    }
    try body(clients, loop, eventLoop)
  }

  @Test func `a client that has sent nothing yet may still do so for a second when the proxy ends`() throws {
    try withClients(2) { clients, loop, eventLoop in
      let (fresh, silent) = (clients[0], clients[1])
      loop.beginDraining()
      loop.drain()
      eventLoop.advanceTime(by: .milliseconds(999))
      #expect(fresh.channel.isActive && !fresh.peer.hasEnd)
      let said = try fresh.ask("/live")
      #expect(said.hasPrefix("HTTP/1.1 200 ") && said.contains("Connection: close\r\n"), "\(said)")
      #expect(fresh.peer.hasEnd && !silent.peer.hasEnd)
      eventLoop.advanceTime(by: .milliseconds(1))
      // What still comes is read: a reset would tell the client that its request was lost, or worse, half done.
      #expect(silent.peer.hasEnd && silent.channel.isActive)
      silent.handler.timePassed(.now() + .seconds(3))
      #expect(!silent.channel.isActive)
      loop.stop()
    }
  }

  @Test func `one that was served, and has waited for a second, is closed at once`() throws {
    try withClients(1) { clients, loop, _ in
      let said = try clients[0].ask("/live")
      #expect(said.hasSuffix("live\n"))
      clients[0].handler.lastActivity = .now() - .seconds(1)
      loop.beginDraining()
      loop.drain()
      #expect(!clients[0].channel.isActive)
      loop.stop()
    }
  }

  @Test func `one that was served a moment ago may still send its next request`() throws {
    try withClients(2) { clients, loop, eventLoop in
      let (busy, silent) = (clients[0], clients[1])
      for client in clients { #expect(try client.ask("/live").hasSuffix("live\n")) }
      loop.beginDraining()
      loop.drain()
      let said = try busy.ask("/live")
      #expect(said.hasPrefix("HTTP/1.1 200 ") && said.contains("Connection: close\r\n"), "\(said)")
      #expect(busy.peer.hasEnd && silent.channel.isActive && !silent.peer.hasEnd)
      eventLoop.advanceTime(by: .seconds(1))
      #expect(silent.peer.hasEnd || !silent.channel.isActive)
      loop.stop()
    }
  }

  @Test(arguments: [
    ("\r\n\r\n", false), ("\r", false), ("\r\nGET", true), ("\r\nGET /live HTTP/1.1\r\nHost: x\r\n\r\n", true),
  ])
  func `one that sends nothing but empty lines is idle`(sent: String, staysOpen: Bool) throws {
    try withClients(1) { clients, loop, _ in
      let client = clients[0]
      client.handler.lastActivity = .now() - .seconds(70)
      try client.channel.writeInbound(ByteBuffer(string: sent))
      client.handler.timePassed(.now() + .seconds(6))
      #expect(client.channel.isActive == staysOpen)
      loop.stop()
    }
  }

  @Test func `one whose response ends while the proxy does may send its next request for a second`() throws {
    try withClients(2) { clients, loop, eventLoop in
      loop.beginDraining()
      loop.drain()
      eventLoop.advanceTime(by: .seconds(1))
      let late = try Client(loop, eventLoop)
      late.handler.speaksHTTP = true
      late.handler.awaitRequest()
      late.handler.timePassed(.now())
      #expect(late.channel.isActive && !late.peer.hasEnd)
      late.handler.timePassed(.now() + .seconds(2))
      #expect(!late.channel.isActive)
      _ = try? late.channel.finish(acceptAlreadyClosed: true)
      loop.stop()
    }
  }

  /// The proxy begins to end so many seconds after they have begun to ask, or before.
  @Test(
    arguments: ["GET /li", "CONNECT a.test:443 HTTP/1.1\r\n", "\u{5}", "\u{5}\u{1}\u{0}", "\u{4}\u{1}"],
    [0, 9, -9] as [Int64])
  func `one that has asked for nothing whole has a second for the rest when the proxy ends`(
    sent: String, seconds: Int64
  ) throws {
    try withClients(2) { clients, loop, _ in
      let (early, late) = (clients[0], clients[1])
      let began = NIODeadline.now()
      let end = began + .seconds(seconds)
      try early.channel.writeInbound(ByteBuffer(string: sent))
      loop.beginDraining(at: end)
      loop.drain()
      try late.channel.writeInbound(ByteBuffer(string: sent))
      let isHTTP = sent.first?.isLetter == true
      for client in [early, late] {
        client.handler.timePassed(max(began, end) + .milliseconds(900))
        #expect(client.channel.isActive && !client.peer.hasEnd)
        client.handler.timePassed(max(.now(), end) + .milliseconds(1100))
        #expect(isHTTP ? client.peer.hasEnd : !client.channel.isActive)
        #expect(try client.said().contains("HTTP/1.1 408 ") == isHTTP)
      }
      loop.stop()
    }
  }

  @Test func `nor does one that is slow to send the rest of what was refused`() throws {
    try withClients(1) { clients, loop, _ in
      let client = clients[0]
      try client.channel.writeInbound(
        ByteBuffer(string: "POST http://a.test:22/ HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf"))
      let said = try client.said()
      #expect(said.hasPrefix("HTTP/1.1 403 ") && !said.contains("Connection: close\r\n"), "\(said)")
      loop.beginDraining()
      loop.drain()
      client.handler.timePassed(.now())
      // It still gets the refusal, and not a reset.
      #expect(client.peer.hasEnd && client.channel.isActive)
      client.handler.timePassed(.now() + .seconds(3))
      #expect(!client.channel.isActive)
      loop.stop()
    }
  }

  @Test func `where less time than that is left, silent clients get half of it, and none is reset`() throws {
    try withClients(1) { clients, loop, eventLoop in
      var configuration = loop.shared.settings.configuration
      configuration.limits.drainTimeout = .milliseconds(100)
      loop.shared.update(configuration)
      loop.beginDraining()
      loop.drain()
      #expect(!clients[0].peer.hasEnd)
      eventLoop.advanceTime(by: .milliseconds(50))
      #expect(clients[0].peer.hasEnd)
      loop.stop()
    }
  }

  @Test func `a client whose password is not checked in time is told to try again`() throws {
    let users = try ProxyUsers(lines: "ann:\(TestHashes.bcrypt)")
    let proceed = DispatchSemaphore(value: 0)
    try withClients(1, users: users) { clients, loop, _ in
      let others = (0..<UInt8(64)).map { number in
        loop.shared.passwords.add([number], from: .ipv4(UInt32(number))) {
          proceed.wait()
          return false
        } completion: { _ in
        }
      }
      try clients[0].channel.writeInbound(
        ByteBuffer(
          string: "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nProxy-Authorization: Basic YW5uOndyb25n\r\n\r\n"))
      #expect(try clients[0].said() == "")
      let limit = loop.shared.settings.limits.headTimeout
      clients[0].handler.timePassed(.now() + .nanoseconds(Int64(limit / .nanoseconds(1))) + .seconds(1))
      let said = try clients[0].said()
      #expect(said.hasPrefix("HTTP/1.1 503 "), "\(said)")
      for _ in others { proceed.signal() }
    }
  }

  @Test func `one above the limit is told so and closed at once, and the others are served`() throws {
    try withClients(3, limit: 1) { clients, _, _ in
      for client in clients.dropFirst() {
        let said = try client.said()
        #expect(said.hasPrefix("HTTP/1.1 503 ") && !client.channel.isActive)
      }
      let said = try clients[0].ask("/live")
      #expect(said.hasSuffix("live\n"))
      #expect(clients[0].channel.isActive)
    }
  }

  @Test(
    arguments: [
      Array("CONNECT 127.0.0.1:25 HTTP/1.1\r\nHost: x\r\n\r\n".utf8), [4, 1, 0, 25, 127, 0, 0, 1, 0],
    ] as [[UInt8]])
  func `a tunnel is recorded once that is refused to a client which has gone meanwhile`(ask: [UInt8]) throws {
    let resolver = try DirectResolver()
    defer { resolver.shutdown() }
    let eventLoop = EmbeddedEventLoop()
    let statuses = Locked<[Int?]>([])
    let settings = ProxySettings(
      ProxyConfiguration(policy: .any, accessLog: { access in statuses.withLock { $0.append(access.status) } }))
    let shared = ProxyShared(resolver, settings)
    let handler = ClientHandler(ProxyLoop(eventLoop, shared))
    let channel = EmbeddedChannel(handlers: [GonePeer(), handler], loop: eventLoop)
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    try channel.writeInbound(ByteBuffer(bytes: ask))
    #expect(!channel.isActive && handler.isGone)
    #expect(statuses.withLock(\.self) == [403])
    #expect(shared.tunnels.value == 0 && shared.clients.value == 0)
    _ = try channel.finish(acceptAlreadyClosed: true)
    eventLoop.run()
  }

  @Test func `where there is no address, there is no PAC file`() throws {
    try withClients(1) { clients, _, _ in
      // An embedded channel has no address of its own, as a Unix socket has none.
      let said = try clients[0].ask("/proxy.pac")
      #expect(said.hasPrefix("HTTP/1.1 404 ") && said.contains("no address that a PAC file could name"), "\(said)")
    }
  }

  @Test(arguments: [("192.0.2.9", 200), ("127.0.0.1", 421), ("::ffff:127.0.0.1", 421), ("::1", 421)])
  func `the file for browsers is there by any name where other machines may have one for the proxy`(
    local: String, status: Int
  ) throws {
    try withClients(1) { clients, _, _ in
      clients[0].channel.localAddress = try SocketAddress(ipAddress: local, port: 3128)
      let said = try clients[0].ask("/proxy.pac", by: "proxy.corp.example:3128")
      #expect(said.hasPrefix("HTTP/1.1 \(status) "), "\(said)")
    }
  }

  @Test(
    arguments: [
      ("127.0.0.1", true), ("127.255.0.9", true), ("::1", true), ("::ffff:127.0.0.1", true), (nil, true),
      ("192.0.2.9", false), ("::ffff:192.0.2.9", false), ("2001:db8::9", false),
    ] as [(String?, Bool)])
  func `metrics are for clients of this machine alone, by whatever host they ask`(
    address: String?, isServed: Bool
  ) throws {
    let resolver = try DirectResolver()
    defer { resolver.shutdown() }
    let eventLoop = EmbeddedEventLoop()
    let settings = ProxySettings(ProxyConfiguration(metrics: { "metrics_total 1\n" }))
    let client = try Client(ProxyLoop(eventLoop, ProxyShared(resolver, settings)), eventLoop, from: address)
    let said = try client.ask("/metrics")
    #expect(said.hasPrefix("HTTP/1.1 \(isServed ? 200 : 404) ") && said.hasSuffix("metrics_total 1\n") == isServed)
    _ = try client.channel.finish(acceptAlreadyClosed: true)
    eventLoop.run()
  }
}
