// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSProxy
import Testing

@testable import DirectDNSTesting

/// Origins that answer before the client has sent all of its request.
@Suite("Responses before the end of the request", .timeLimit(.minutes(1)))
struct EarlyResponseTests {
  private func running(
    sending request: String,
    _ body: (ProxyFixture, _ client: RawConnection, _ server: RawConnection) async throws -> Void
  ) async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send("PUT http://127.0.0.1:\(origin.port)/ \(request)")
    let server = try await origin.connection()
    await server.receive("first,")
    try await body(proxy, client, server)
    await proxy.stop()
    await origin.stop()
  }

  private static let length = "HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\nfirst,"
  private static let rest = "first,other"

  @Test(arguments: [
    (length, "202 A\r\nContent-Length: 2\r\n\r\nok", "other"), (length, "204 A\r\n\r\n", "other"),
    (length, "200 A\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "other"),
    (
      "HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nfirst,\r\n", "202 A\r\nContent-Length: 0\r\n\r\n",
      "5\r\nother\r\n0\r\n\r\n"
    ),
  ])
  func `by a success an origin says that it reads on, and gets the rest`(
    request: String, response: String, rest: String
  ) async throws {
    try await running(sending: request) { proxy, client, server in
      try await server.send("HTTP/1.1 \(response)")
      let head = await client.receive("\r\n\r\n")
      #expect(head.hasPrefix("HTTP/1.1 20") && !head.contains("close"))
      client.forget()
      try await client.send(rest)
      #expect(await server.receive(rest).hasSuffix(rest))
      #expect(await proxy.accesses(1).map(\.error) == [nil])
      // Both connections go on.
      try await client.send("GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
      #expect(await client.receive("live\n").hasSuffix("live\n"))
      #expect(!server.isClosed)
    }
  }

  @Test(arguments: [
    (length, "202 A\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"),
    (length, "103 H\r\nConnection: close\r\n\r\nHTTP/1.1 202 A\r\nContent-Length: 2\r\n\r\nok"),
    (length.replacing("HTTP/1.1", with: "HTTP/1.0"), "202 A\r\nContent-Length: 2\r\n\r\nok"),
  ])
  func `where the connection ends, it does so behind the rest`(request: String, response: String) async throws {
    try await running(sending: request) { proxy, client, server in
      try await server.send("HTTP/1.1 \(response)")
      #expect(await client.receive("ok").contains("Connection: close\r\n"))
      try await client.send("other")
      #expect(await server.receive("other").hasSuffix(Self.rest))
      #expect(await client.receiveToEnd().hasSuffix("ok") && !client.isReset)
      #expect(await proxy.accesses(1).map(\.error) == [nil])
    }
  }

  @Test func `a response up to the connection's end has its end, and the origin the rest`() async throws {
    try await running(sending: Self.length) { proxy, client, server in
      try await server.send("HTTP/1.1 202 A\r\n\r\nok")
      try await server.finish()
      #expect(await client.receiveToEnd().hasSuffix("ok"))
      try await client.send("other")
      #expect(await server.receive("other").hasSuffix(Self.rest))
      #expect(await proxy.accesses(1).map(\.error) == [nil])
    }
  }

  @Test func `by a failure it says that it does not, and gets no end of what it has`() async throws {
    try await running(sending: Self.length) { proxy, client, server in
      try await server.send("HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno")
      #expect(await client.receiveToEnd().contains("Connection: close\r\n"))
      _ = await server.receiveToEnd()
      #expect(server.isReset && server.received.hasSuffix("first,"))
      #expect(await proxy.accesses(1).map(\.error) == [nil])
    }
  }

  @Test func `a rest that never comes, or is wrong, is in the log, and the origin gets no end`() async throws {
    let chunked = "HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nfirst,\r\n"
    for (request, rest, error) in [(Self.length, "", "connection_terminated"), (chunked, "zz", "http_request_error")] {
      try await running(sending: request) { proxy, client, server in
        try await server.send("HTTP/1.1 202 A\r\nContent-Length: 2\r\n\r\nok")
        await client.receive("ok")
        if rest.isEmpty { try await client.finish() } else { try await client.send(rest) }
        #expect(await client.receiveToEnd().hasSuffix("ok") && !client.isReset)
        _ = await server.receiveToEnd()
        #expect(server.isReset)
        #expect(await proxy.accesses(1).map(\.error) == [error])
      }
    }
  }

  @Test func `a proxy that ends keeps the rest from the origin, and nothing of the response from the client`()
    async throws
  {
    try await running(sending: Self.length) { proxy, client, server in
      try await server.send("HTTP/1.1 202 A\r\nContent-Length: 2\r\n\r\nok")
      await client.receive("ok")
      await proxy.proxy.stop()
      #expect(await client.receiveToEnd().hasSuffix("ok") && !client.isReset)
      _ = await server.receiveToEnd()
      #expect(server.isReset)
      #expect(await proxy.accesses(1).map(\.error) == ["connection_terminated"])
    }
  }

  @Test func `nor does it take its refusal from a client that still sends the body`() async throws {
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send("POST http://127.0.0.1:22/ HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf")
    #expect(await client.receive("\r\n\r\n").hasPrefix("HTTP/1.1 403 "))
    await proxy.proxy.stop()
    _ = await client.receiveToEnd()
    #expect(!client.isReset)
    await proxy.stop()
  }
}
