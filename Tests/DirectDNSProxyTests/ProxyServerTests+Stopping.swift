// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

/// The proxy's end.
extension ProxyServerTests {
  @Test func `stopping waits for what is under way, and refuses what is new`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture { $0.limits.drainTimeout = .seconds(20) }
    let client = try await proxy.client()
    let idle = try await proxy.client()
    try await client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
    let server = try await origin.connection()
    await server.receive("\r\n\r\n")
    async let stopped: Void = proxy.proxy.stop()
    _ = await idle.receiveToEnd()
    try await server.send(Self.whole("whole"))
    let received = await client.receiveToEnd()
    #expect(received.hasSuffix("whole"))
    #expect(received.contains("Connection: close\r\n"))
    await stopped
    await proxy.stop()
    await origin.stop()
  }

  @Test func `whoever is cancelled waits for nobody, and cuts off what is under way`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture { $0.limits.drainTimeout = .seconds(300) }
    let client = try await proxy.client()
    try await client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
    let server = try await origin.connection()
    await server.receive("\r\n\r\n")
    let stopping = Task { await proxy.proxy.stop() }
    stopping.cancel()
    await stopping.value
    #expect(await client.receiveToEnd() == "")
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

  @Test func `whoever stops it while it is stopping waits for the end`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture { $0.limits.drainTimeout = .seconds(20) }
    let client = try await proxy.client()
    let idle = try await proxy.client()
    try await client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
    let server = try await origin.connection()
    await server.receive("\r\n\r\n")
    async let first: Void = proxy.proxy.stop()
    _ = await idle.receiveToEnd()
    let second = Task {
      await proxy.proxy.stop()
      return proxy.proxy.shared.clients.value
    }
    try await server.send(Self.whole("whole"))
    #expect(await client.receiveToEnd().hasSuffix("whole"))
    #expect(await second.value == 0)
    await first
    await proxy.stop()
    await origin.stop()
  }

  @Test func `whoever is cancelled waits for nobody while another stops it either`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture { $0.limits.drainTimeout = .seconds(300) }
    let client = try await proxy.client()
    let idle = try await proxy.client()
    try await client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
    let server = try await origin.connection()
    await server.receive("\r\n\r\n")
    async let first: Void = proxy.proxy.stop()
    _ = await idle.receiveToEnd()
    let second = Task { await proxy.proxy.stop() }
    second.cancel()
    await second.value
    await first
    #expect(await client.receiveToEnd() == "")
    await proxy.stop()
    await origin.stop()
  }
}
