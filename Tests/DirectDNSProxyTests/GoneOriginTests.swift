// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSProxy
@testable import DirectDNSTesting
import Testing

/// A side of a tunnel that ends in order, and then closes: a server that refuses the rest of an upload does so.
@Suite("A side that has ended, and then takes nothing more", .timeLimit(.minutes(1)))
struct GoneOriginTests {
  enum Way: CaseIterable { case connect, socks5, upgrade }

  private func open(_ way: Way, _ proxy: ProxyFixture, _ origin: RawListener) async throws -> (
    client: RawConnection, server: RawConnection
  ) {
    let client = try await proxy.client()
    let place = "127.0.0.1:\(origin.port)"
    switch way {
    case .connect: try await client.send("CONNECT \(place) HTTP/1.1\r\nHost: x\r\n\r\n")
    case .socks5:
      try await client.send([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, UInt8(origin.port >> 8), UInt8(origin.port & 0xff)])
    case .upgrade:
      try await client.send("GET http://\(place)/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
    }
    let server = try await origin.connection()
    if way == .upgrade {
      await server.receive("\r\n\r\n")
      try await server.send("HTTP/1.1 101 Go\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
    }
    try await client.send("begun")
    await server.receive("begun")
    return (client, server)
  }

  /// Sends to the proxy until that is found to be in vain, or the time is over that any machine needs for it.
  ///
  /// Such a connection of the test's closes by a reset alone, and not when the other side ends its data. The proxy waits
  /// for up to a second for the acknowledgement of what it has sent before.
  private func sendInVain(_ connection: RawConnection, _ proxy: ProxyFixture) async throws {
    let end = ContinuousClock.now + .seconds(20)
    while !connection.isClosed, ContinuousClock.now < end {
      // The one that meets the reset fails.
      try? await connection.send("more")
      try await proxy.turn()
    }
  }

  @Test(arguments: Way.allCases) func `what is sent to an origin that is gone meets a reset, and the log has it`(
    way: Way
  ) async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let (client, server) = try await open(way, proxy, origin)
    try await server.send("too large")
    try await server.finish()
    #expect(await client.receiveToEnd().hasSuffix("too large"))
    try await server.reset()
    #expect(await proxy.accesses(1).map(\.error) == ["connection_terminated"])
    try await proxy.turn()
    // It has all that was sent, and nothing of its own is lost yet.
    #expect(!client.isClosed)
    try await sendInVain(client, proxy)
    #expect(client.isClosed)
    await proxy.stop()
    await origin.stop()
  }

  @Test(arguments: Way.allCases) func `what is sent to a client that is gone meets one, too`(way: Way) async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let (client, server) = try await open(way, proxy, origin)
    try await client.send("the last")
    try await client.finish()
    #expect(await server.receiveToEnd().hasSuffix("the last"))
    try await client.reset()
    #expect(await proxy.accesses(1).map(\.error) == ["connection_terminated"])
    try await sendInVain(server, proxy)
    #expect(server.isClosed)
    await proxy.stop()
    await origin.stop()
  }

  @Test(arguments: Way.allCases)
  func `a client that has closed its connection may miss the last of what it is sent`(way: Way) async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let (client, server) = try await open(way, proxy, origin)
    if way != .socks5 { await client.receive("\r\n\r\n") } else { await client.receive(count: 12) }
    await client.close()
    _ = await server.receiveToEnd()
    // As TLS says goodbye.
    try await server.send("bye")
    #expect(await proxy.accesses(1).map(\.error) == [nil])
    await proxy.stop()
    await origin.stop()
  }
}
