// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSProxy
import Testing

@testable import DirectDNSTesting

/// Clients that say that they send no more (shutdown(2)), as `nc -N` does, and still listen.
@Suite("A client that sends no more", .timeLimit(.minutes(1)))
struct HalfCloseTests {
  private func running(
    _ change: (inout ProxyConfiguration) -> Void = { _ in },
    _ body: (ProxyFixture, RawListener, RawConnection) async throws -> Void
  ) async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture(change)
    try await body(proxy, origin, try await proxy.client())
    await proxy.stop()
    await origin.stop()
  }

  private func get(_ path: String, _ origin: RawListener) -> String {
    "GET http://127.0.0.1:\(origin.port)\(path) HTTP/1.1\r\nHost: x\r\n\r\n"
  }

  @Test func `it gets the response to what it has asked for, and the origin hears that nothing follows`() async throws {
    try await running { proxy, origin, client in
      try await client.send(get("/", origin))
      try await client.finish()
      let server = try await origin.connection()
      #expect(await server.receiveToEnd().hasPrefix("GET / HTTP/1.1\r\n"))
      try await server.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")
      #expect(RawConnection.undated(await client.receiveToEnd()) == "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")
      #expect(!client.isReset)
      #expect(await proxy.accesses(1).map(\.error) == [nil])
    }
  }

  @Test func `an origin is not waited for as long as for one that may still send`() async throws {
    try await running {
      $0.limits.halfClosedTimeout = .milliseconds(1)
    } _: { _, origin, client in
      try await client.send(get("/", origin))
      try await client.finish()
      #expect(await client.receiveToEnd().hasPrefix("HTTP/1.1 504 "))
    }
  }

  @Test func `it gets every response where it has asked for several`() async throws {
    try await running { _, origin, client in
      try await client.send(get("/1", origin) + get("/2", origin))
      try await client.finish()
      for number in 0..<2 {
        let server = try await origin.connection(number)
        #expect(await server.receive("\r\n\r\n").hasPrefix("GET /\(number + 1) "))
        // The next one has another connection in any case: whether the client's end is known by then is open.
        try await server.send("HTTP/1.1 204 No Content\r\nConnection: close\r\nX: \(number)\r\n\r\n")
      }
      let received = await client.receiveToEnd()
      #expect(received.contains("X: 0\r\n") && received.contains("X: 1\r\n"))
    }
  }

  @Test func `its request is not sent once more when the origin ends a used connection for that`() async throws {
    try await running { proxy, origin, client in
      try await client.send(get("/first", origin))
      let server = try await origin.connection()
      await server.receive("\r\n\r\n")
      server.forget()
      try await server.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst")
      await client.receive("first")
      try await client.send(get("/slow", origin))
      #expect(await server.receive("\r\n\r\n").hasPrefix("GET /slow "))
      try await client.finish()
      _ = await server.receiveToEnd()
      await server.close()
      #expect(await client.receiveToEnd().contains("HTTP/1.1 502 "))
      #expect(origin.count == 1)
    }
  }

  @Test func `a body that was whole goes on, though its end came before the origin was connected to`() async throws {
    try await running { _, origin, client in
      try await client.send(
        "PUT http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
      )
      try await client.finish()
      let server = try await origin.connection()
      #expect(await server.receiveToEnd().hasSuffix("2\r\nok\r\n0\r\n\r\n"))
      try await server.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
      #expect(await client.receiveToEnd().hasPrefix("HTTP/1.1 201 "))
    }
  }

  @Test func `what could do harm is not begun for one who may have given up`() async throws {
    let proxy = try await ProxyFixture(records: RecordTable { $0.add("slow.test", "127.0.0.1") })
    let origin = try await RawListener.start()
    proxy.provider.misbehave(.hold)
    let client = try await proxy.client()
    try await client.send(
      "POST http://slow.test:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok")
    await proxy.provider.waitForHeld()
    try await client.finish()
    #expect(await client.receiveToEnd().isEmpty)
    #expect(await proxy.accesses(1).first?.error == "connection_terminated")
    proxy.provider.behave()
    proxy.provider.release()
    await proxy.stop()
    #expect(origin.count == 0)
    await origin.stop()
  }

  @Test func `it gets all of a response in whose middle it ended`() async throws {
    try await running { _, origin, client in
      try await client.send(get("/", origin))
      let server = try await origin.connection()
      await server.receive("\r\n\r\n")
      try await server.send("HTTP/1.1 200 OK\r\n\r\npart")
      await client.receive("part")
      try await client.finish()
      _ = await server.receiveToEnd()
      try await server.send(" and the rest")
      await server.close()
      #expect(await client.receiveToEnd().hasSuffix("part and the rest"))
      #expect(!client.isReset)
    }
  }

  @Test func `half a request is given up, and its origin sees that`() async throws {
    try await running { proxy, origin, client in
      try await client.send(
        "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\nhalf")
      let server = try await origin.connection()
      await server.receive("half")
      try await client.finish()
      _ = await server.receiveToEnd()
      #expect(server.isReset)
      #expect(await client.receiveToEnd().isEmpty)
      #expect(await proxy.accesses(1).first?.error == "connection_terminated")
    }
  }

  @Test func `what it sent ahead goes through its tunnel`() async throws {
    try await running { _, origin, client in
      try await client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\nearly")
      try await client.finish()
      let server = try await origin.connection()
      #expect(await server.receiveToEnd() == "early")
      try await server.send("answer")
      await server.close()
      #expect(await client.receiveToEnd().hasSuffix("\r\n\r\nanswer"))
    }
  }
}
