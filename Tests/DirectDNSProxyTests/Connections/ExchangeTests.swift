// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOCore
import NIOEmbedded
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

/// Requests and responses that break off, or do not end.
@Suite(.timeLimit(.minutes(1)))
struct ExchangeTests: SlowReaders {
  /// The connection to an origin that a large write fills: it says so in the middle of that write, as SwiftNIO's do.
  private final class FullConnection: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    /// Whether the origin is gone, which the first flush finds out.
    private let isGone: Bool
    private(set) var written = ByteBuffer()
    /// It was told that nothing more follows.
    private(set) var hasEnd = false

    init(isGone: Bool) { self.isGone = isGone }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      written.writeImmutableBuffer(unwrapOutboundIn(data))
      promise?.succeed()
      guard written.readableBytes > Connections.waterMark.high else { return }
      (context.channel as? EmbeddedChannel)?.isWritable = false
      context.fireChannelWritabilityChanged()
    }

    func flush(context: ChannelHandlerContext) { if isGone { context.close(promise: nil) } }

    /// An embedded channel knows no half-closing.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
      hasEnd = hasEnd || mode == .output
      if mode == .output { promise?.succeed() } else { context.close(mode: mode, promise: promise) }
    }
  }

  @Test(arguments: [false, true])
  func `an upload fills the connection to its origin, with its client's end behind it, and a gone origin is a refusal`(
    isGone: Bool
  ) throws {
    try withClient(sending: "") { client, channel, reader in
      reader.reads = true
      let (origin, connection) = (OriginHandler(), FullConnection(isGone: isGone))
      let originChannel = EmbeddedChannel(handlers: [connection, origin], loop: channel.embeddedEventLoop)
      try originChannel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
      defer { end(originChannel, channel.embeddedEventLoop) }
      origin.established(to: .ipv4(0x7f00_0001))
      let place = ForwardOrigin(.address(.ipv4(0x7f00_0001)), port: 80)
      client.loop.pool.put(origin, for: place, ProxyLimits())
      client.lastOrigin = place
      // All of it, and the client's end, is there before the request can go on: at that end SwiftNIO reads whatever the
      // kernel has.
      let ticket = client.loop.shared.passwords.add([], from: nil, hash: { true }, completion: { _ in })
      client.state = .authenticating(try #require(ticket), since: .now())
      let body = ByteBuffer(repeating: UInt8(ascii: "x"), count: 300_000)
      try channel.writeInbound(body)
      channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      let start = "PUT http://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 300000\r\n\r\n"
      let head = try HeadParser.parse(Array(start.utf8), .request, fieldLimit: 9)
      client.start(
        ClientRequest(
          head, try BodyFraming.of(request: head), method: "PUT", try ForwardTarget.of(head), began: .now()))
      #expect(String(buffer: connection.written).hasSuffix("\r\n\r\n" + String(buffer: body)))
      #expect(originChannel.isActive == !isGone && connection.hasEnd == !isGone)
      let response = ByteBuffer(string: "HTTP/1.1 201 Made\r\nContent-Length: 0\r\n\r\n")
      if !isGone { try originChannel.writeInbound(response) }
      let said = try #require(try channel.readOutbound(as: ByteBuffer.self))
      #expect(String(buffer: said).hasPrefix(isGone ? "HTTP/1.1 502 " : "HTTP/1.1 201 "))
    }
  }

  /// A request on its way: who sent it, and the server that has its head.
  struct Begun {
    let proxy: ProxyFixture
    let origin: RawListener
    let client: RawConnection
    let server: RawConnection

    func stop() async {
      await proxy.stop()
      await origin.stop()
    }
  }

  func begin(
    _ version: String = "1.1", _ change: (inout ProxyConfiguration) throws -> Void = { _ in }
  ) async throws -> Begun {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture(change)
    let client = try await proxy.client()
    try await client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/\(version)\r\nHost: x\r\n\r\n")
    let server = try await origin.connection()
    await server.receive("\r\n\r\n")
    return Begun(proxy: proxy, origin: origin, client: client, server: server)
  }

  @Test(arguments: ["Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"])
  func `a body that has gone on is not read again when there is no response to it`(body: String) async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send("POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\(body)")
    let first = try await origin.connection()
    await first.receive("hello")
    await first.close()
    #expect(await client.receive("without a response.\n").hasPrefix("HTTP/1.1 502"))
    client.forget()
    try await client.send("GET http://127.0.0.1:\(origin.port)/next HTTP/1.1\r\nHost: x\r\n\r\n")
    let second = try await origin.connection(1)
    #expect(await second.receive("\r\n\r\n").hasPrefix("GET /next "))
    try await second.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext")
    #expect(await client.receive("next").hasPrefix("HTTP/1.1 200"))
    await proxy.stop()
    await origin.stop()
  }

  @Test(arguments: [("", "Basic dXM6cHc="), ("authorization: Bearer x\r\n", "Bearer x")])
  func `user info in a URL goes on as Authorization, unless there is one`(fields: String, value: String) async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send("GET http://us:pw@127.0.0.1:\(origin.port)/x HTTP/1.1\r\nHost: x\r\n\(fields)\r\n")
    let server = try await origin.connection()
    let head = await server.receive("\r\n\r\n").lowercased()
    #expect(
      head == "get /x http/1.1\r\nhost: 127.0.0.1:\(origin.port)\r\nauthorization: \(value.lowercased())\r\n\r\n")
    try await server.send("HTTP/1.1 204 Done\r\n\r\n")
    await client.receive("\r\n\r\n")
    let access = try #require(await proxy.accesses(1).first)
    #expect(access.origin == "127.0.0.1:\(origin.port)" && access.path == "/x")
    await proxy.stop()
    await origin.stop()
  }

  @Test(arguments: ["", "Connection: Upgrade\r\nUpgrade: websocket\r\n"])
  func `an origin cannot ask for the proxy's password`(fields: String) async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    let request = "GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\(fields)\r\n"
    try await client.send(request)
    let server = try await origin.connection()
    await server.receive("\r\n\r\n")
    try await server.send(
      "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 2\r\n\r\nhi")
    let refusal = await client.receive(".\n")
    #expect(refusal.hasPrefix("HTTP/1.1 502 ") && !refusal.contains("Proxy-Authenticate"), "\(refusal)")
    #expect(refusal.contains("Proxy-Status: directdns; error=http_protocol_error\r\n"))
    client.forget()
    try await client.send(request)
    _ = try await origin.connection(1)
    await proxy.stop()
    await origin.stop()
  }

  @Test func `interim responses without end are no response`() async throws {
    let begun = try await begin()
    let (client, server) = (begun.client, begun.server)
    server.post(Array(String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 100_000).utf8))
    #expect(await client.receive("without end.\n").contains("HTTP/1.1 502 "))
    await begun.stop()
  }

  @Test(arguments: ["", "5\r\nhe"])
  func `a response in chunks that breaks off is reset for a client that gets it without them`(
    rest: String
  ) async throws {
    let begun = try await begin("1.0")
    let (client, server) = (begun.client, begun.server)
    try await server.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n\(rest)")
    await client.receive("part")
    await server.close()
    _ = await client.receiveToEnd()
    #expect(client.isReset)
    await begun.stop()
  }

  @Test func `a client whose body goes wrong in the middle of a response does not get an end of it`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send(
      "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
    let server = try await origin.connection()
    await server.receive("1\r\na\r\n")
    try await server.send("HTTP/1.1 200 OK\r\n\r\npart")
    await client.receive("part")
    try await client.send("zz\r\n")
    _ = await client.receiveToEnd()
    #expect(client.isReset)
    #expect(await proxy.accesses(1).first?.error == "http_request_error")
    await proxy.stop()
    await origin.stop()
  }

  @Test(arguments: ["204", "304"])
  func `a body that cannot be is no part of the next response`(status: String) async throws {
    let begun = try await begin()
    let (client, server) = (begun.client, begun.server)
    try await server.send("HTTP/1.1 \(status) No\r\nTransfer-Encoding: chunked\r\n\r\n")
    #expect(await client.receiveUndated("\r\n\r\n") == "HTTP/1.1 \(status) No\r\n\r\n")
    client.forget()
    _ = await server.receiveToEnd()
    try await client.send("GET http://127.0.0.1:\(begun.origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
    let next = try await begun.origin.connection(1)
    await next.receive("\r\n\r\n")
    try await next.send("HTTP/1.1 204 Next\r\n\r\n")
    #expect(await client.receive("\r\n\r\n").hasPrefix("HTTP/1.1 204 Next"))
    await begun.stop()
  }

  @Test func `a response to HEAD that is none has no body`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send("HEAD http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
    let server = try await origin.connection()
    await server.receive("\r\n\r\n")
    try await server.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
    let received = await client.receiveToEnd()
    #expect(received.hasPrefix("HTTP/1.1 502 ") && received.hasSuffix("\r\n\r\n"))
    await proxy.stop()
    await origin.stop()
  }

  @Test func `a client of HTTP 1_0 gets its connection's end, though it asks to keep it`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    for target in ["http://127.0.0.1:\(origin.port)/", "http://127.0.0.1:25/", "/live"] {
      let client = try await proxy.client()
      try await client.send("GET \(target) HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
      if target.hasPrefix("http://127.0.0.1:\(origin.port)") {
        let server = try await origin.connection()
        await server.receive("\r\n\r\n")
        try await server.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      }
      #expect(await client.receiveToEnd().contains("Connection: close\r\n"))
    }
    await proxy.stop()
    await origin.stop()
  }

  @Test func `a request with a body asks for no other protocol`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send(
      "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\nContent-Length: 1\r\n\r\nx"
    )
    let head = try await origin.connection().receive("\r\n\r\n")
    #expect(head.contains("Content-Length: 1\r\n") && !head.lowercased().contains("upgrade"))
    await proxy.stop()
    await origin.stop()
  }

  @Test func `a connection whose response ends while the proxy stops is closed behind it`() async throws {
    let begun = try await begin { $0.limits.drainTimeout = .seconds(600) }
    let (client, server, proxy) = (begun.client, begun.server, begun.proxy)
    let idle = try await proxy.client()
    try await server.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
    await client.receive("half")
    async let stopped: Void = proxy.proxy.stop()
    _ = await idle.receiveToEnd()
    // The proxy waits two seconds for a client that does not.
    await idle.close()
    try await server.send("half")
    #expect(await client.receiveToEnd().hasSuffix("halfhalf"))
    #expect(!client.isReset)
    await client.close()
    await stopped
    await begun.stop()
  }
}
