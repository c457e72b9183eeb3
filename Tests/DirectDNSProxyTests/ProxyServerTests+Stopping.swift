// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOPosix
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

/// The proxy's end.
extension ProxyServerTests {
  /// A proxy with a request under way, and a client that has said nothing yet.
  private struct UnderWay {
    let proxy: ProxyFixture
    let origin: RawListener
    let client: RawConnection
    let server: RawConnection
    let idle: RawConnection

    init(drainTimeout: Duration) async throws {
      origin = try await RawListener.start()
      proxy = try await ProxyFixture { $0.limits.drainTimeout = drainTimeout }
      client = try await proxy.client()
      idle = try await proxy.client()
      try await client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
      server = try await origin.connection()
      await server.receive("\r\n\r\n")
    }

    /// Waits until the proxy that is being stopped has closed the idle connection, and closes it here too: for a client
    /// that does not the proxy waits two seconds.
    func idleEnds() async {
      _ = await idle.receiveToEnd()
      await idle.close()
    }

    /// Has the request answered, and gives what the client got.
    func finish() async throws -> String {
      try await server.send(ProxyServerTests.whole("whole"))
      let received = await client.receiveToEnd()
      await client.close()
      return received
    }

    func stop() async {
      await proxy.stop()
      await origin.stop()
    }
  }

  @Test func `stopping waits for what is under way, and refuses what is new`() async throws {
    let underWay = try await UnderWay(drainTimeout: .seconds(20))
    async let stopped: Void = underWay.proxy.proxy.stop()
    await underWay.idleEnds()
    await #expect(throws: NIOConnectionError.self) { try await underWay.proxy.client() }
    let received = try await underWay.finish()
    #expect(received.hasSuffix("whole") && received.contains("Connection: close\r\n"))
    await stopped
    await underWay.stop()
  }

  @Test func `whoever is cancelled waits for nobody, and cuts off what is under way`() async throws {
    let underWay = try await UnderWay(drainTimeout: .seconds(300))
    let stopping = Task { await underWay.proxy.proxy.stop() }
    stopping.cancel()
    await stopping.value
    #expect(await underWay.client.receiveToEnd() == "")
    await underWay.stop()
  }

  /// How a client asks for a name: by each of them the lookup is waited for in another place.
  private static let asks = [
    "CONNECT slow.example.test:PORT HTTP/1.1\r\n\r\n",
    "GET http://slow.example.test:PORT/ HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET http://slow.example.test:PORT/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n",
  ]

  /// A client whose name is being looked up, until the provider releases the answer.
  private func waiting(_ ask: String, for origin: RawListener, at proxy: ProxyFixture) async throws -> RawConnection {
    proxy.provider.misbehave(.hold)
    let client = try await proxy.client()
    try await client.send(ask.replacing("PORT", with: "\(origin.port)"))
    await proxy.provider.waitForHeld()
    return client
  }

  @Test(arguments: asks)
  func `stopping waits for a lookup that is under way, and for what follows it`(ask: String) async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture(records: RecordTable { $0.add("slow.example.test", "127.0.0.1") }) {
      $0.limits.drainTimeout = .seconds(20)
    }
    let idle = try await proxy.client()
    let client = try await waiting(ask, for: origin, at: proxy)
    async let stopped: Void = proxy.proxy.stop()
    _ = await idle.receiveToEnd()
    await idle.close()
    proxy.provider.behave()
    proxy.provider.release()
    let server = try await origin.connection()
    if ask.hasPrefix("CONNECT") {
      try await client.send("begun")
      await server.receive("begun")
    } else {
      await server.receive("\r\n\r\n")
    }
    try await server.send(Self.whole("whole"))
    if ask.hasPrefix("CONNECT") { await server.close() }
    #expect(await client.receiveToEnd().hasSuffix("whole"))
    await client.close()
    await stopped
    #expect(await proxy.accesses(1).map(\.status) == [200])
    await proxy.stop()
    await origin.stop()
  }

  @Test(arguments: asks, [false, true])
  func `a lookup that outlasts the stop holds nobody up, and its answer comes to nobody`(
    ask: String, isHurried: Bool
  ) async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture(records: RecordTable { $0.add("slow.example.test", "127.0.0.1") }) {
      $0.limits.drainTimeout = isHurried ? .seconds(300) : .milliseconds(50)
    }
    let client = try await waiting(ask, for: origin, at: proxy)
    let stopping = Task { await proxy.proxy.stop() }
    if isHurried { stopping.cancel() }
    await stopping.value
    #expect(await client.receiveToEnd() == "")
    #expect(client.isReset)
    #expect(await proxy.accesses(1).map(\.error) == ["connection_terminated"])
    #expect(proxy.proxy.shared.clients.value == 0 && proxy.proxy.shared.tunnels.value == 0)
    proxy.provider.behave()
    proxy.provider.release()
    #expect(Array(try await proxy.resolver.resolve("slow.example.test").addresses) == [.loopback()])
    // It serves again, and the name is known.
    let port = try #require(
      try await proxy.proxy.start().lazy.compactMap { if case .tcp(_, let port) = $0 { port } else { nil } }.first)
    let again = try await RawConnection.connect(to: port)
    try await again.send("CONNECT slow.example.test:\(origin.port) HTTP/1.1\r\n\r\n")
    #expect(await again.receive("\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
    // Nobody connected for the client that was cut off.
    let server = try await origin.connection()
    #expect(origin.count == 1)
    await again.close()
    await server.close()
    await proxy.stop()
    await origin.stop()
  }

  @Test func `of two who start it at once one is told that it listens already`() async throws {
    let resolver = try DirectResolver()
    defer { resolver.shutdown() }
    let proxy = try ProxyServer(
      ProxyConfiguration(listeners: [try ListenAddress("127.0.0.1:0")]), resolver: resolver)
    async let first = try? proxy.start()
    async let second = try? proxy.start()
    let starts = await [first, second]
    #expect(starts.count { $0 != nil } == 1)
    #expect(starts.contains { $0 == proxy.places })
    await proxy.stop()
  }

  @Test func `once it has stopped it listens nowhere, and its next configuration may be one that would not do there`()
    async throws
  {
    let proxy = try await ProxyFixture()
    #expect(!proxy.proxy.places.isEmpty)
    // As if users had allowed other machines there.
    proxy.proxy.shared.listens(at: [try ListenAddress("0.0.0.0:3128")])
    #expect(throws: DirectDNSError.self) { try proxy.proxy.check(proxy.configuration) }
    await proxy.proxy.stop()
    #expect(proxy.proxy.places.isEmpty)
    try proxy.proxy.update(proxy.configuration)
    await proxy.stop()
  }

  @Test func `whoever stops it while it is stopping waits for the end`() async throws {
    let underWay = try await UnderWay(drainTimeout: .seconds(20))
    let proxy = underWay.proxy.proxy
    async let first: Void = proxy.stop()
    await underWay.idleEnds()
    let second = Task {
      await proxy.stop()
      return proxy.shared.clients.value
    }
    #expect(try await underWay.finish().hasSuffix("whole"))
    #expect(await second.value == 0)
    await first
    await underWay.stop()
  }

  @Test func `whoever is cancelled waits for nobody while another stops it either`() async throws {
    let underWay = try await UnderWay(drainTimeout: .seconds(300))
    async let first: Void = underWay.proxy.proxy.stop()
    await underWay.idleEnds()
    let second = Task { await underWay.proxy.proxy.stop() }
    second.cancel()
    await second.value
    await first
    #expect(await underWay.client.receiveToEnd() == "")
    await underWay.stop()
  }
}
