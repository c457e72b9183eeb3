// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOCore
import NIOPosix
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

/// Clients that pause when all of their response is written, but the kernel holds some of it: time is moved by hand.
@Suite("Responses that the kernel holds", .timeLimit(.minutes(1)))
struct UnreadResponseTests {
  /// A proxy whose time does not pass by itself.
  private final class Fixture: Sendable {
    static let size = 1 << 20

    let eventLoop: any EventLoop
    private let resolver: DirectResolver
    private let listener: any Channel
    private let handlers = Watched<[NIOLoopBound<ClientHandler>]>([])

    init() async throws {
      let (eventLoop, handlers) = (MultiThreadedEventLoopGroup.singleton.next(), handlers)
      resolver = try DirectResolver()
      let page = String(repeating: "x", count: Self.size)
      let settings = ProxySettings(ProxyConfiguration(policy: .any, metrics: { page }))
      let shared = ProxyShared(resolver, settings)
      self.eventLoop = eventLoop
      listener = try await ServerBootstrap(group: eventLoop)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            let handler = ClientHandler(ProxyLoop(channel.eventLoop, shared))
            try channel.carry(by: handler)
            handlers.change { $0.append(NIOLoopBound(handler, eventLoop: channel.eventLoop)) }
          }
        }
        .bind(host: "127.0.0.1", port: 0).get()
    }

    /// A client that has asked for the page, and reads nothing of it yet, but the proxy has written all.
    func client(_ version: String) async throws -> RawConnection {
      let client = try await RawConnection.connect(to: UInt16(listener.localAddress?.port ?? 0))
      try await client.pause()
      try await client.send("GET /metrics HTTP/\(version)\r\nHost: 127.0.0.1\r\n\r\n")
      await handlers.wait { !$0.isEmpty }
      while try await !read({ $0.context?.isWrittenOut == true && !$0.hasArrived }) {}
      return client
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (ClientHandler) throws -> Value) async throws -> Value {
      let handlers = handlers
      return try await eventLoop.submit {
        try body(try #require(handlers.value.first?.value))
      }.get()
    }

    func pass(_ seconds: Int64) async throws { try await read { $0.timePassed(.now() + .seconds(seconds)) } }

    func stop() async throws {
      try await listener.close()
      resolver.shutdown()
    }
  }

  @Test(arguments: [("1.1", Int64(3599), Int64(3680)), ("1.0", 3599, 3605)])
  func `a client that pauses gets the end of its response, and is closed after that`(
    version: String, pause: Int64, end: Int64
  ) async throws {
    let fixture = try await Fixture()
    let client = try await fixture.client(version)
    for seconds in [3, 76, 400, pause] { try await fixture.pass(seconds) }
    #expect(try await fixture.read { !$0.isGone })
    try await client.resume()
    await client.receive(count: Fixture.size)
    #expect(client.receivedCount > Fixture.size && !client.isReset)
    // The last acknowledgement may still be on its way.
    while try await !fixture.read({ $0.hasArrived }) {}
    try await fixture.pass(pause)
    try await fixture.pass(end)
    #expect(try await fixture.read { $0.isGone })
    await client.close()
    try await fixture.stop()
  }

  @Test(arguments: ["1.1", "1.0"])
  func `one that takes nothing for an hour is cut off`(version: String) async throws {
    let fixture = try await Fixture()
    let client = try await fixture.client(version)
    for seconds in [3, 3610] { try await fixture.pass(Int64(seconds)) }
    #expect(try await fixture.read { $0.isGone })
    // The reset may have come to it already.
    try? await client.resume()
    _ = await client.receiveToEnd()
    #expect(client.receivedCount < Fixture.size)
    await client.close()
    try await fixture.stop()
  }
}
