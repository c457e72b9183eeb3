// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSProxy
import Testing

@testable import DirectDNSTesting

/// NTLM and Negotiate say who a connection is, and not who a request is (RFC 4559 §6).
@Suite("Origins that know a connection", .timeLimit(.minutes(1)))
struct ConnectionAuthenticationTests {
  /// Sends a request, and has the origin answer it on whatever connection it comes.
  ///
  /// - Returns: the connection's number.
  private func ask(
    _ client: RawConnection, _ origin: RawListener, _ fields: String = "", answer: String = "HTTP/1.1 200 OK\r\n"
  ) async throws -> Int {
    client.forget()
    try await client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\(fields)\r\n")
    let number = try await origin.place(of: "\r\n\r\n")
    let server = try await origin.connection(number)
    server.forget()
    try await server.send(answer + "Content-Length: 2\r\n\r\nok")
    await client.receive("ok")
    return number
  }

  @Test(arguments: [
    ("Authorization: NTLM TlRMTVNTUAAB\r\n", ""), ("authorization: negotiate YII=\r\n", ""),
    ("", "WWW-Authenticate: Negotiate\r\n"), ("", "WWW-Authenticate: Basic realm=\"a, b\", nTLM\r\n"),
    ("", "WWW-Authenticate: Basic realm=\"a\"\r\nwww-authenticate: NTLM TlRMTVNTUAAC\r\n"),
  ])
  func `a connection that is somebody's serves the same client's requests, and nobody else's`(
    request: String, response: String
  ) async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let (client, other) = (try await proxy.client(), try await proxy.client())
    var numbers = [try await ask(client, origin, request, answer: "HTTP/1.1 401 Who\r\n" + response)]
    numbers.append(try await ask(other, origin))
    // What it was authenticated by stands in none of these.
    numbers.append(try await ask(client, origin))
    numbers.append(try await ask(other, origin))
    numbers.append(try await ask(client, origin))
    #expect(numbers == [0, 1, 0, 1, 0] && origin.count == 2)
    // Who it was has gone.
    let owned = try await origin.connection(0)
    #expect(!owned.isEnded)
    await client.close()
    for _ in 0..<100 where !owned.isEnded { try await proxy.turn() }
    #expect(owned.isEnded)
    #expect(try await ask(other, origin) == 1)
    await proxy.stop()
    await origin.stop()
  }

  @Test(arguments: [("Authorization: Basic YTpi\r\n", ""), ("", "WWW-Authenticate: Digest realm=\"NTLM\"\r\n")])
  func `what says who each request is leaves the connection to all`(request: String, response: String) async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let (client, other) = (try await proxy.client(), try await proxy.client())
    let first = try await ask(client, origin, request, answer: "HTTP/1.1 200 OK\r\n" + response)
    let second = try await ask(other, origin)
    #expect(first == 0 && second == 0)
    await proxy.stop()
    await origin.stop()
  }

  /// Who ends it: the origin, or the proxy that keeps none.
  enum End: CaseIterable { case byOrigin, byProxy }

  @Test(arguments: End.allCases)
  func `a connection that is somebody's and has ended gives way to another`(end: End) async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture { if end == .byProxy { $0.limits.poolTimeout = .zero } }
    let client = try await proxy.client()
    let first = try await ask(client, origin, "Authorization: NTLM TlRMTVNTUAAB\r\n")
    // What comes there now, nobody reads.
    if end == .byOrigin { try await origin.connection(0).close() }
    let second = try await ask(client, origin)
    #expect(first == 0 && second == 1)
    await proxy.stop()
    await origin.stop()
  }
}
