// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSProxy
import Testing

@testable import DirectDNSTesting

/// NTLM and Negotiate say who a connection is, and not who a request is (RFC 4559 §6).
@Suite("Origins that know a connection", .timeLimit(.minutes(1)))
struct ConnectionAuthenticationTests {
  /// Sends a request, and has the origin answer it on the connection with that number.
  private func ask(
    _ client: RawConnection, _ origin: RawListener, on number: Int, _ fields: String = "",
    answer: String = "HTTP/1.1 200 OK\r\n"
  ) async throws {
    client.forget()
    try await client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\(fields)\r\n")
    let server = try await origin.connection(number)
    await server.receive("\r\n\r\n")
    server.forget()
    try await server.send(answer + "Content-Length: 2\r\n\r\nok")
    await client.receive("ok")
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
    try await ask(client, origin, on: 0, request, answer: "HTTP/1.1 401 Who\r\n" + response)
    try await ask(other, origin, on: 1)
    // What it was authenticated by stands in none of these.
    try await ask(client, origin, on: 0)
    try await ask(other, origin, on: 1)
    try await ask(client, origin, on: 0)
    #expect(origin.count == 2)
    // Who it was has gone.
    await client.close()
    _ = try await origin.connection(0).receiveToEnd()
    await proxy.stop()
    await origin.stop()
  }

  @Test(arguments: [("Authorization: Basic YTpi\r\n", ""), ("", "WWW-Authenticate: Digest realm=\"NTLM\"\r\n")])
  func `what says who each request is leaves the connection to all`(request: String, response: String) async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let (client, other) = (try await proxy.client(), try await proxy.client())
    try await ask(client, origin, on: 0, request, answer: "HTTP/1.1 200 OK\r\n" + response)
    try await ask(other, origin, on: 0)
    await proxy.stop()
    await origin.stop()
  }

  @Test func `a connection that is somebody's and has ended gives way to another`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture { $0.limits.poolTimeout = .zero }
    let client = try await proxy.client()
    try await ask(client, origin, on: 0, "Authorization: NTLM TlRMTVNTUAAB\r\n")
    _ = try await origin.connection(0).receiveToEnd()
    try await ask(client, origin, on: 1)
    await proxy.stop()
    await origin.stop()
  }
}
