// SPDX-License-Identifier: Apache-2.0
import Testing

/// How bodies are delimited, and what a client of HTTP/1.0 gets.
extension ProxyServerTests {
  @Test func `bodies in chunks go both ways with their trailers`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send(
      "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n")
    let server = try await origin.connection()
    #expect(await server.receive("abc\r\n").hasSuffix("3\r\nabc\r\n"))
    try await client.send("0\r\nSum: 1\r\n\r\n")
    #expect(await server.receive("Sum: 1\r\n\r\n").hasSuffix("0\r\nSum: 1\r\n\r\n"))
    try await server.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n")
    await client.receive("2\r\nok\r\n")
    try await server.send("0\r\nEnd: 1\r\n\r\n")
    #expect(await client.receive("End: 1\r\n\r\n").hasSuffix("2\r\nok\r\n0\r\nEnd: 1\r\n\r\n"))
    await proxy.stop()
    await origin.stop()
  }

  @Test func `a client of HTTP 1_0 gets a body without chunks, and its end by the connection's`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.0\r\n\r\n")
    let server = try await origin.connection()
    #expect(await server.receive("\r\n\r\n").hasPrefix("GET / HTTP/1.1\r\n"))
    try await server.send(
      "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")
    #expect(RawConnection.undated(await client.receiveToEnd()) == "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok")
    await proxy.stop()
    await origin.stop()
  }

  @Test(arguments: [
    ("GET", "Transfer-Encoding: gzip\r\n\r\nx", "HTTP/1.1 502 ", "error=http_response_transfer_coding"),
    (
      "GET", "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 502 ", "error=http_response_transfer_coding"
    ),
    ("HEAD", "Transfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 200 ", "OK"),
  ])
  func `a client of HTTP 1_0 is told of no transfer coding`(
    method: String, answer: String, start: String, part: String
  ) async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send("\(method) http://127.0.0.1:\(origin.port)/ HTTP/1.0\r\n\r\n")
    let server = try await origin.connection()
    await server.receive("\r\n\r\n")
    try await server.send("HTTP/1.1 200 OK\r\n\(answer)")
    await server.close()
    let received = await client.receiveToEnd()
    #expect(received.hasPrefix(start) && received.contains(part) && !received.contains("Transfer-Encoding"))
    await proxy.stop()
    await origin.stop()
  }

  @Test func `interim responses pass, and the body waits for 100`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send(
      "PUT http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
    let server = try await origin.connection()
    #expect(await server.receive("\r\n\r\n").contains("\r\nExpect: 100-continue\r\n"))
    try await server.send("HTTP/1.1 100 Continue\r\n\r\n")
    #expect(await client.receive("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
    try await client.send("body")
    await server.receive("body")
    try await server.send("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + Self.whole("done"))
    #expect(await client.receive("done").contains("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\n"))
    await proxy.stop()
    await origin.stop()
  }
}
