// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

/// Proxies that go through one another, and back.
extension UpstreamConnectionTests {
  @Test func `a proxy does not go through itself`() async throws {
    let proxy = try await ProxyFixture()
    var configuration = proxy.configuration
    configuration.upstream = try UpstreamProxy("http://127.0.0.1:\(proxy.port)")
    try proxy.proxy.update(configuration)
    let client = try await proxy.client()
    try await client.send("CONNECT 192.0.2.1:443 HTTP/1.1\r\n\r\n")
    #expect(await client.receive("\r\n\r\n").contains("403 Forbidden: "))
    #expect(await proxy.accesses(1).first?.error == "proxy_loop_detected")
    configuration.listeners = [try ListenAddress("127.0.0.1:3128")]
    configuration.upstream = try UpstreamProxy("http://127.0.0.1:3128")
    #expect(throws: DirectDNSError.self) { try proxy.proxy.update(configuration) }
    await proxy.stop()
  }

  /// Proxies each of which goes through the next, and the last through the first.
  private func ring(of count: Int, resolvesNames: Bool) async throws -> [ProxyFixture] {
    var proxies: [ProxyFixture] = []
    for _ in 0..<count { proxies.append(try await ProxyFixture(records: Self.records)) }
    for (number, proxy) in proxies.enumerated() {
      var configuration = proxy.configuration
      configuration.upstream = try UpstreamProxy("http://127.0.0.1:\(proxies[(number + 1) % count].port)")
      configuration.upstream?.resolvesNames = resolvesNames
      try proxy.proxy.update(configuration)
    }
    return proxies
  }

  @Test(arguments: [2, 3], [false, true])
  func `a request that loops is refused where it began, and never goes round twice`(
    _ count: Int, _ resolvesNames: Bool
  ) async throws {
    let proxies = try await ring(of: count, resolvesNames: resolvesNames)
    for request in ["CONNECT www.shop.test:443", "GET http://www.shop.test/"] {
      let client = try await proxies[0].client()
      try await client.send("\(request) HTTP/1.1\r\nHost: www.shop.test\r\n\r\n")
      let refusal = await client.receive("\r\n\r\n")
      #expect(refusal.hasPrefix("HTTP/1.1 403 ") && refusal.contains("error=proxy_loop_detected"), "\(refusal)")
      await client.close()
    }
    // The first one sees each of them twice: as it came, and as it came round.
    for (number, proxy) in proxies.enumerated() {
      let accesses = await proxy.accesses(number == 0 ? 4 : 2)
      #expect(accesses.map(\.status) == Array(repeating: 403, count: number == 0 ? 4 : 2), "\(number)")
      await proxy.stop()
    }
  }

  @Test func `a request tells the next proxy of those before, and no origin`() async throws {
    let (upstream, origin) = (try await RawListener.start(), try await RawListener.start())
    let proxy = try await fixture(upstream, records: RecordTable { $0.add("near.test", "127.0.0.1") }) {
      $0.upstream?.resolvesNames = true
      $0.routes.set(.direct, for: .exactly(try HostName("near.test")))
    }
    let fields = "Host: x\r\nConnection: DirectDNS-Via\r\nDirectDNS-Via: one, t\"wo\r\nDirectDNS-Via: three\r\n\r\n"
    let client = try await proxy.client()
    try await client.send("GET http://www.shop.test/ HTTP/1.1\r\n" + fields)
    let server = try await upstream.connection()
    let passed = await server.receive("\r\n\r\n")
    #expect(passed.contains("\r\nDirectDNS-Via: one, three, \(proxy.proxy.shared.mark)\r\n"), "\(passed)")
    let other = try await proxy.client()
    try await other.send("GET http://near.test:\(origin.port)/ HTTP/1.1\r\n" + fields)
    let direct = await (try origin.connection()).receive("\r\n\r\n")
    #expect(direct == "GET / HTTP/1.1\r\nHost: near.test:\(origin.port)\r\n\r\n")
    await proxy.stop()
    await upstream.stop()
    await origin.stop()
  }

  @Test func `more proxies in a row than anybody has are a loop`() async throws {
    let proxy = try await ProxyFixture(records: Self.records)
    let client = try await proxy.client()
    let marks = (0...ProxyVia.limit).map { "m\($0)" }.joined(separator: ",")
    try await client.send("CONNECT www.shop.test:443 HTTP/1.1\r\nDirectDNS-Via: \(marks)\r\n\r\n")
    #expect(await client.receive("\r\n\r\n").contains("error=proxy_loop_detected"))
    await proxy.stop()
  }
}
