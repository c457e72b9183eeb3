// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSProxy
import Testing

@testable import DirectDNSTesting

/// As many tunnels as there may be, however they are asked for.
@Suite("Room for tunnels", .timeLimit(.minutes(1)))
struct TunnelSlotTests {
  private static let refused = ["HTTP/1.1 503 ", "Proxy-Status: directdns; error=connection_limit_reached\r\n"]

  private func connect(_ origin: RawListener) -> String {
    "CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n"
  }

  private func upgrade(_ origin: RawListener) -> String {
    "GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
  }

  private func running(
    _ limit: Int = 1, records: RecordTable = RecordTable(), _ body: (ProxyFixture, RawListener) async throws -> Void
  ) async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture(records: records) { $0.limits.tunnels = limit }
    try await body(proxy, origin)
    await proxy.stop()
    await origin.stop()
  }

  @Test func `one tunnel more than there is room for is refused, and its client may go on`() async throws {
    try await running { proxy, origin in
      let first = try await proxy.client()
      try await first.send(connect(origin))
      await first.receive("\r\n\r\n")
      // The kernel has the connection before the origin hears of it.
      let server = try await origin.connection()
      let second = try await proxy.client()
      for text in [connect(origin), upgrade(origin)] {
        try await second.send(text)
        let refusal = await second.receive("\r\n\r\n")
        #expect(
          Self.refused.allSatisfy { refusal.contains($0) } && !refusal.contains("Connection: close"), "\(refusal)")
        second.forget()
      }
      try await second.send("GET /live HTTP/1.1\r\nHost: x\r\n\r\n")
      await second.receive("live")
      second.forget()
      #expect(origin.count == 1)
      let accesses = await proxy.accesses(3)
      #expect(accesses.prefix(2).allSatisfy { $0.error == "connection_limit_reached" }, "\(accesses)")
      await first.close()
      await server.close()
      _ = await proxy.accesses(4)
      try await second.send(connect(origin))
      #expect(await second.receive("\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
    }
  }

  @Test(
    arguments: [
      ([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1], [5, 0, 5, 1]), ([4, 1], [0, 91]),
    ] as [([UInt8], [UInt8])])
  func `SOCKS says by its number that there is no room`(ask: [UInt8], answer: [UInt8]) async throws {
    try await running { proxy, origin in
      let first = try await proxy.client()
      try await first.send(connect(origin))
      await first.receive("\r\n\r\n")
      let port = [UInt8(origin.port >> 8), UInt8(origin.port & 0xff)]
      let second = try await proxy.client()
      try await second.send(ask + port + (ask[0] == 4 ? [127, 0, 0, 1, 0] : []))
      #expect(Array(await second.receiveToEnd().utf8.prefix(answer.count)) == answer)
      #expect(await proxy.accesses(1).first?.error == "connection_limit_reached")
    }
  }

  @Test func `a tunnel whose way is being found has its place, and gives it up with its client`() async throws {
    try await running(records: RecordTable { $0.add("slow.test", "127.0.0.1") }) { proxy, origin in
      proxy.provider.misbehave(.hold)
      let first = try await proxy.client()
      try await first.send("CONNECT slow.test:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
      await proxy.provider.waitForHeld()
      let second = try await proxy.client()
      try await second.send(connect(origin))
      #expect(await second.receive("\r\n\r\n").hasPrefix("HTTP/1.1 503 "))
      second.forget()
      await first.close()
      #expect(await proxy.accesses(2).last?.error == "connection_terminated")
      try await second.send(connect(origin))
      #expect(await second.receive("\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
      proxy.provider.behave()
      proxy.provider.release()
    }
  }

  @Test func `what comes to nothing leaves its place, and so does a request that did not switch`() async throws {
    try await running { proxy, origin in
      let client = try await proxy.client()
      try await client.send("CONNECT 127.0.0.1:25 HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(await client.receive("\r\n\r\n").hasPrefix("HTTP/1.1 403 "))
      client.forget()
      try await client.send(upgrade(origin))
      let server = try await origin.connection()
      await server.receive("\r\n\r\n")
      try await server.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      await client.receive("ok")
      client.forget()
      try await client.send(upgrade(origin))
      await server.receive("\r\n\r\nGET / ")
      try await server.send("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nhi")
      await client.receive("hi")
      let other = try await proxy.client()
      try await other.send(connect(origin))
      #expect(await other.receive("\r\n\r\n").hasPrefix("HTTP/1.1 503 "))
    }
  }
}
