// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSProxy
import Dispatch
import Testing

@testable import DirectDNSTesting

/// A reset that the proxy meets while it writes, and not while it reads: no error tells of that one.
@Suite("A reset that is found by writing", .timeLimit(.minutes(1)))
struct ResetTests {
  /// A proxy whose thread can be held: what happens meanwhile it finds afterwards, in the same order.
  private struct Fixture {
    let proxy: ProxyFixture
    let origin: RawListener
    private let isHeld = Watched(false)
    private let proceed = DispatchSemaphore(value: 0)

    init() async throws {
      let (isHeld, proceed) = (isHeld, proceed)
      origin = try await RawListener.start()
      proxy = try await ProxyFixture { configuration in
        let log = configuration.accessLog
        configuration.accessLog = { access in
          guard access.status == 403 else {
            log?(access)
            return
          }
          isHeld.change { $0 = true }
          proceed.wait()
        }
      }
    }

    func whileHeld(_ body: () async throws -> Void) async throws {
      let other = try await proxy.client()
      try await other.send("CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n\r\n")
      await isHeld.wait { $0 }
      try await body()
      proceed.signal()
    }

    func openTunnel() async throws -> (client: RawConnection, server: RawConnection) {
      let client = try await proxy.client()
      try await client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
      await client.receive("\r\n\r\n")
      return (client, try await origin.connection())
    }

    func stop() async {
      await proxy.stop()
      await origin.stop()
    }
  }

  @Test func `a response up to the connection's end is not whole when the next chunk of its request meets the reset`()
    async throws
  {
    let fixture = try await Fixture()
    let client = try await fixture.proxy.client()
    try await client.send(
      "POST http://127.0.0.1:\(fixture.origin.port)/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "1\r\na\r\n")
    let server = try await fixture.origin.connection()
    await server.receive("1\r\na\r\n")
    try await server.send("HTTP/1.1 200 OK\r\n\r\nhalf")
    await client.receive("half")
    try await fixture.whileHeld {
      try await client.send("1\r\nb\r\n")
      try await server.reset()
    }
    _ = await client.receiveToEnd()
    #expect(client.isReset)
    #expect(await fixture.proxy.accesses(1).map(\.error) == ["http_response_incomplete"])
    await fixture.stop()
  }

  @Test func `a tunnel whose origin resets it while the client sends is cut off`() async throws {
    let fixture = try await Fixture()
    let (client, server) = try await fixture.openTunnel()
    try await fixture.whileHeld {
      try await client.send("more")
      try await server.reset()
    }
    _ = await client.receiveToEnd()
    #expect(client.isReset)
    #expect(await fixture.proxy.accesses(1).map(\.error) == ["connection_terminated"])
    await fixture.stop()
  }

  /// Of these sizes, a reader that begins with a buffer of 2 KiB fills some without a byte left over.
  @Test(arguments: [true, false], [1, 2_048, 16_384])
  func `what a side of a tunnel sent before it was reset arrives before that`(byClient: Bool, count: Int) async throws {
    for isFoundByWriting in [false, true] {
      let fixture = try await Fixture()
      let (client, server) = try await fixture.openTunnel()
      client.forget()
      let (one, other) = byClient ? (client, server) : (server, client)
      try await fixture.whileHeld {
        if isFoundByWriting { try await other.send("more") }
        try await one.send(Array(repeating: 0x61, count: count))
        try await one.reset()
      }
      _ = await other.receiveToEnd()
      #expect(other.receivedCount == count && other.isReset)
      await fixture.stop()
    }
  }

  @Test func `a tunnel whose client resets it while the origin sends is reset for the origin`() async throws {
    let fixture = try await Fixture()
    let (client, server) = try await fixture.openTunnel()
    try await fixture.whileHeld {
      try await server.send("more")
      try await client.reset()
    }
    _ = await server.receiveToEnd()
    #expect(server.isReset)
    #expect(await fixture.proxy.accesses(1).map(\.error) == ["connection_terminated"])
    await fixture.stop()
  }
}
