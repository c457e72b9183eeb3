// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

/// What is said where another proxy forbids a tunnel.
extension UpstreamConnectionTests {
  private static let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n"

  @Test(
    arguments: [
      ("GET http://www.shop.test/", "", "403 No", true), ("GET http://www.shop.test:8080/", "", "403 No", true),
      ("GET http://www.shop.test/", "", "502 No", false), ("GET http://www.shop.test:443/", "", "403 No", false),
      ("GET http://192.0.2.1/", "", "403 No", false), ("GET http://localhost/", "", "403 No", false),
      ("GET http://www.shop.test/", upgrade, "403 No", false), ("CONNECT www.shop.test:80", "", "403 No", false),
    ] as [(String, String, String, Bool)])
  func `the option by which plain requests need no tunnel is named to those that it would help`(
    _ request: String, _ fields: String, _ line: String, _ isAdvised: Bool
  ) async throws {
    let upstream = try await RawListener.start()
    let proxy = try await fixture(upstream) { $0.lookup.families = .ipv4 }
    let client = try await proxy.client()
    try await client.send("\(request) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n")
    let server = try await upstream.connection()
    #expect(await server.receive("\r\n\r\n").hasPrefix("CONNECT "))
    try await server.send("HTTP/1.1 \(line)\r\n\r\n")
    let refusal = await client.receive("\r\n\r\n")
    #expect(refusal.hasPrefix("HTTP/1.1 \(line.prefix(3)) "), "\(refusal)")
    #expect(refusal.contains("--upstream-resolves sends it plain requests") == isAdvised, "\(refusal)")
    await proxy.stop()
    await upstream.stop()
  }

  @Test func `one whose own name may not be looked up has forbidden nothing`() async throws {
    // A name of this network, where the system's DNS is off.
    let proxy = try await ProxyFixture(records: Self.records) { $0.upstream = try UpstreamProxy("http://squid:3128") }
    let client = try await proxy.client()
    try await client.send("GET http://www.shop.test/ HTTP/1.1\r\nHost: x\r\n\r\n")
    let refusal = await client.receive("\r\n\r\n")
    #expect(refusal.hasPrefix("HTTP/1.1 502 ") && refusal.contains("error=proxy_configuration_error"), "\(refusal)")
    #expect(!refusal.contains("--upstream-resolves"), "\(refusal)")
    await proxy.stop()
  }

  @Test func `what the rules of SOCKS5 forbid, they forbid by name too`() async throws {
    let upstream = try await RawListener.start()
    let proxy = try await fixture(upstream, "socks5")
    let client = try await proxy.client()
    try await client.send("GET http://www.shop.test/ HTTP/1.1\r\nHost: x\r\n\r\n")
    let server = try await upstream.connection()
    await server.receive(count: 3)
    try await server.send([5, 0])
    await server.receive(count: 13)
    try await server.send([5, 2])
    let refusal = await client.receive("\r\n\r\n")
    #expect(refusal.contains("error=http_request_denied") && !refusal.contains("--upstream-resolves"), "\(refusal)")
    await proxy.stop()
    await upstream.stop()
  }
}
