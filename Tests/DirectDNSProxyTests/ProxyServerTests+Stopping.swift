// SPDX-License-Identifier: Apache-2.0
import DirectDNSProxy
import Testing

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
}
