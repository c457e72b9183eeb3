// SPDX-License-Identifier: Apache-2.0
import Testing

/// Which connection to an origin serves the next request.
extension ExchangeTests {
  @Test func `what might do harm twice goes on a connection of its own, unless the client has used one to its origin`()
    async throws
  {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let ready = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nready"
    let start = "http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n"
    let first = try await proxy.client()
    try await first.send("GET \(start)\r\n")
    let kept = try await origin.connection()
    await kept.receive("\r\n\r\n")
    try await kept.send(ready)
    await first.receive("ready")
    // Nothing but the origin's silence says whether it is about to close the one that it has.
    let second = try await proxy.client()
    try await second.send("POST \(start)Content-Length: 3\r\n\r\none")
    let number = try await origin.place(of: "one")
    #expect(number == 1)
    let own = try await origin.connection(number)
    try await own.send(ready)
    await second.receive("ready")
    second.forget()
    try await second.send("POST \(start)Content-Length: 3\r\n\r\ntwo")
    #expect(try await origin.place(of: "two") == 1)
    try await own.send(ready)
    await second.receive("ready")
    #expect(origin.count == 2)
    await proxy.stop()
    await origin.stop()
  }

  @Test(arguments: [
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok", true),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "0\r\n\r\n", true),
    ("HTTP/1.1 304 Same\r\nContent-Length: 2\r\n\r\n", "\r\n\r\n", true),
    ("HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n", "\r\n\r\n", true),
    // It may still send what it announces.
    ("HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\n", "\r\n\r\n", false),
    ("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", "ok", false),
    ("HTTP/1.1 103 Hint\r\nConnection: close\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok", false),
    ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", "ok", false),
    // More than the response.
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 204 No\r\n\r\n", "ok", false),
    ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 204 No\r\n\r\n", "\r\n\r\n", false),
  ])
  func `an origin's connection is kept if its response says nothing against that, and no other`(
    answer: String, end: String, isKept: Bool
  ) async throws {
    let begun = try await begin()
    let (client, origin) = (begun.client, begun.origin)
    begun.server.forget()
    try await begun.server.send(answer)
    await client.receive(end)
    client.forget()
    try await client.send("GET http://127.0.0.1:\(origin.port)/next HTTP/1.1\r\nHost: x\r\n\r\n")
    let number = try await origin.place(of: "\r\n\r\n")
    #expect(number == (isKept ? 0 : 1))
    try await origin.connection(number).send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext")
    #expect(await client.receiveUndated("next") == "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext")
    await begun.stop()
  }

  @Test func `what an origin says unasked is no response to the next request`() async throws {
    let begun = try await begin()
    let (client, origin) = (begun.client, begun.origin)
    begun.server.forget()
    try await begun.server.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    await client.receive("ok")
    client.forget()
    try await begun.server.send("HTTP/1.1 408 Late\r\nContent-Length: 0\r\n\r\n")
    try await begun.proxy.turn()
    try await client.send("GET http://127.0.0.1:\(origin.port)/next HTTP/1.1\r\nHost: x\r\n\r\n")
    let number = try await origin.place(of: "\r\n\r\n")
    #expect(number == 1)
    try await origin.connection(number).send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext")
    #expect(await client.receiveUndated("next") == "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext")
    await begun.stop()
  }

  // SwiftNIO's first read takes 2 048 bytes: what comes behind them is still in the kernel when the next request, which
  // waits already, gets its connection.
  @Test func `nor is it while nobody has read it`() async throws {
    let begun = try await begin()
    let (client, origin) = (begun.client, begun.origin)
    begun.server.forget()
    try await client.send("GET http://127.0.0.1:\(origin.port)/next HTTP/1.1\r\nHost: x\r\n\r\n")
    try await begun.proxy.turn()
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2007\r\n\r\n" + String(repeating: "a", count: 2_007)
    #expect(answer.utf8.count == 2_048)
    try await begun.server.send(answer + "HTTP/1.1 408 Late\r\nContent-Length: 0\r\n\r\n")
    let number = try await origin.place(of: "GET /next")
    #expect(number == 1)
    try await origin.connection(number).send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext")
    #expect(await !client.receive("next").contains("408"))
    await begun.stop()
  }

  @Test(arguments: [false, true])
  func `a request is not sent once more that a new connection has lost, nor one to which an answer has begun`(
    isReused: Bool
  ) async throws {
    let begun = try await begin()
    let (client, server, origin) = (begun.client, begun.server, begun.origin)
    if isReused {
      server.forget()
      try await server.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      await client.receive("ok")
      client.forget()
      try await client.send("GET http://127.0.0.1:\(origin.port)/next HTTP/1.1\r\nHost: x\r\n\r\n")
      await server.receive("\r\n\r\n")
      try await server.send("HTTP/1.1 200")
    }
    // With its connections ends the place where it listens: another one could not be made.
    await origin.stop()
    let refusal = await client.receive(".\n")
    #expect(refusal.hasPrefix("HTTP/1.1 502 ") && refusal.contains("closed the connection without a response"))
    await begun.stop()
  }
}
