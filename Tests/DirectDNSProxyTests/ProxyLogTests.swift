// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSProxy
import Testing

@testable import DirectDNSTesting

@Suite("What the access log says of what was cut off, and of times", .timeLimit(.minutes(1)))
struct ProxyLogTests {
  private func openTunnel(_ proxy: ProxyFixture, _ origin: RawListener) async throws -> (RawConnection, RawConnection) {
    let client = try await proxy.client()
    try await client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
    await client.receive("\r\n\r\n")
    return (client, try await origin.connection())
  }

  @Test func `a tunnel that was cut off for its silence has timed out, and looks whole to nobody`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture { $0.limits.tunnelTimeout = .milliseconds(1) }
    let (client, server) = try await openTunnel(proxy, origin)
    _ = await client.receiveToEnd()
    _ = await server.receiveToEnd()
    #expect(client.isReset && server.isReset)
    #expect(await proxy.accesses(1).first?.error == "connection_read_timeout")
    await proxy.stop()
    await origin.stop()
  }

  @Test(arguments: [true, false])
  func `of a tunnel that is cut off, that side sees a reset which has not heard the other's end`(
    clientEnds: Bool
  ) async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture { $0.limits.halfClosedTimeout = .milliseconds(1) }
    let (client, server) = try await openTunnel(proxy, origin)
    let (one, other) = clientEnds ? (client, server) : (server, client)
    try await one.send("all of it")
    await other.receive("all of it")
    try await one.finish()
    #expect(await other.receiveToEnd().hasSuffix("all of it"))
    _ = await one.receiveToEnd()
    #expect(one.isReset && !other.isReset)
    #expect(await proxy.accesses(1).first?.error == "connection_read_timeout")
    await proxy.stop()
    await origin.stop()
  }

  @Test func `a tunnel that the origin has reset, or the proxy at its end, was cut off`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let (_, server) = try await openTunnel(proxy, origin)
    try await server.reset()
    #expect(await proxy.accesses(1).first?.error == "connection_terminated")
    let client = try await proxy.client()
    try await client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
    await client.receive("\r\n\r\n")
    await proxy.stop()
    #expect(await proxy.accesses(2).last?.error == "connection_terminated")
    await origin.stop()
  }

  @Test func `a tunnel that both sides have ended has no error`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let (client, server) = try await openTunnel(proxy, origin)
    await server.close()
    await client.close()
    let access = try #require(await proxy.accesses(1).first)
    #expect(access.error == nil && access.status == 200)
    await proxy.stop()
    await origin.stop()
  }

  @Test func `a request of which part has gone on is told of as any other when there is no response`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send(
      "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\nContent-Length: 9\r\n\r\nhalf"
    )
    let server = try await origin.connection()
    await server.receive("half")
    await server.close()
    #expect(await client.receiveToEnd().contains("\"error\":\"connection_terminated\""))
    #expect(try #require(await proxy.accesses(1).first).duration > .zero)
    await proxy.stop()
    await origin.stop()
  }

  @Test func `connecting takes as long as looking up and connecting`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture(records: RecordTable { $0.add("slow.test", "127.0.0.1") })
    proxy.provider.misbehave(.hold)
    let client = try await proxy.client()
    try await client.send("GET http://slow.test:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
    await proxy.provider.waitForHeld()
    let held = ContinuousClock.now
    let other = try await proxy.client()
    try await other.send("GET /live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    _ = await other.receiveToEnd()
    let waited = ContinuousClock.now - held
    proxy.provider.behave()
    proxy.provider.release()
    let server = try await origin.connection()
    await server.receive("\r\n\r\n")
    try await server.send("HTTP/1.1 204 No Content\r\n\r\n")
    let connect = try #require(await proxy.accesses(2).last?.connect)
    #expect(connect >= waited)
    await proxy.stop()
    await origin.stop()
  }

  @Test(
    arguments: [
      ([5, 1, 2, 1, 1, 0x61, 1, 0x62], 407, nil), ([5, 1, 0], 407, nil), ([4, 1, 0, 80, 192, 0, 2, 1, 0], 407, nil),
      ([5, 1, 2, 2, 1, 0x61, 1, 0x62], 400, "http_request_error"),
    ] as [([UInt8], Int, String?)])
  func `a refusal of SOCKS is told of as the same one of HTTP`(
    bytes: [UInt8], status: Int, error: String?
  ) async throws {
    let proxy = try await ProxyFixture { $0.users = try ProxyUsers(lines: "ann:\(TestHashes.bcrypt)") }
    let client = try await proxy.client()
    try await client.send(bytes)
    _ = await client.receiveToEnd()
    let access = try #require(await proxy.accesses(1).first)
    #expect(access.status == status && access.error == error && access.user == nil)
    await proxy.stop()
  }

  @Test func `a body that stops coming is its client's fault`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture { $0.limits.responseTimeout = .milliseconds(1) }
    let client = try await proxy.client()
    try await client.send(
      "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf")
    #expect(await client.receiveToEnd().hasPrefix("HTTP/1.1 408 "))
    #expect(await proxy.accesses(1).map(\.status) == [408])
    await proxy.stop()
    await origin.stop()
  }
}
