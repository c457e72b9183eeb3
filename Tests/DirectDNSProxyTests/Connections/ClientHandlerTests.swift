// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSProxy
import Testing

@testable import DirectDNSTesting

/// One connection speaks one protocol.
@Suite("A client's connection", .timeLimit(.minutes(1)))
struct ClientHandlerTests {
  private static let socks: [[UInt8]] = [[5, 1, 0], [4, 1, 0, 80, 127, 0, 0, 1, 0]]

  @Test(arguments: socks, ["GET /live HTTP/1.1\r\nHost: x\r\n\r\n", "\r\n"])
  func `SOCKS begins at a connection's first byte or not at all`(ask: [UInt8], before: String) async throws {
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send(before)
    if before != "\r\n" {
      await client.receive("live\n")
      client.forget()
    }
    try await client.send(ask)
    let said = await client.receiveToEnd()
    #expect(said.hasPrefix("HTTP/1.1 400 ") && said.contains("Connection: close\r\n"), "\(said)")
    await proxy.stop()
  }

  @Test(arguments: socks)
  func `SOCKS does not stand behind the body of a request`(ask: [UInt8]) async throws {
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send(
      Array("POST http://127.0.0.1:25/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc".utf8) + ask)
    let said = await client.receiveToEnd()
    #expect(said.hasPrefix("HTTP/1.1 403 ") && said.contains("HTTP/1.1 400 "), "\(said)")
    await proxy.stop()
  }

  @Test func `a client by IPv4 at a socket of IPv6 is one of IPv4`() async throws {
    let proxy = try await ProxyFixture { $0.listeners = [try ListenAddress("[::ffff:127.0.0.1]:0")] }
    let client = try await proxy.client()
    try await client.send("GET /proxy.pac HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    #expect(await client.receive("}").contains("\"PROXY 127.0.0.1:\(proxy.port)\""), "\(client.received)")
    #expect(await proxy.accesses(1).first?.client == .ipv4(0x7f00_0001))
    await proxy.stop()
  }
}
