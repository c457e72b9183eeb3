// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

@Suite("A proxy behind a proxy", .timeLimit(.minutes(1)))
struct UpstreamConnectionTests {
  private static let granted = "HTTP/1.1 200 Connection established\r\n\r\n"
  static let records = RecordTable { $0.add("www.shop.test", "192.0.2.1") }

  /// A proxy that goes through one whose words are written out in a test.
  func fixture(
    _ upstream: RawListener, _ scheme: String = "http", user: String = "",
    records: RecordTable = UpstreamConnectionTests.records,
    policy: AddressPolicy = .any, _ change: (inout ProxyConfiguration) throws -> Void = { _ in }
  ) async throws -> ProxyFixture {
    let proxy = try UpstreamProxy("\(scheme)://\(user)127.0.0.1:\(upstream.port)")
    return try await ProxyFixture(records: records, policy: policy) {
      $0.upstream = proxy
      try change(&$0)
    }
  }

  @Test func `a tunnel goes through it to the address that was found here`() async throws {
    let upstream = try await RawListener.start()
    let proxy = try await fixture(upstream, user: "u:p@")
    let client = try await proxy.client()
    try await client.send("CONNECT www.shop.test:443 HTTP/1.1\r\n\r\nearly")
    let server = try await upstream.connection()
    #expect(
      await server.receive("\r\n\r\n")
        == "CONNECT 192.0.2.1:443 HTTP/1.1\r\nHost: 192.0.2.1:443\r\nProxy-Authorization: Basic dTpw\r\n"
        + "DirectDNS-Via: \(proxy.proxy.shared.mark)\r\n\r\n")
    server.forget()
    try await server.send("HTTP/1.1 200 OK\r\n\r\nbanner")
    #expect(await client.receive("banner") == Self.granted + "banner")
    #expect(await server.receive("early") == "early")
    await client.close()
    await server.close()
    let access = try #require(await proxy.accesses(1).first)
    #expect(access.address == IPAddress("192.0.2.1") && access.status == 200)
    #expect(access.upstream?.description == "http://127.0.0.1:\(upstream.port)")
    await proxy.stop()
    await upstream.stop()
  }

  @Test func `a request in the clear goes through a tunnel, which the next one uses too`() async throws {
    let upstream = try await RawListener.start()
    let proxy = try await fixture(upstream)
    let client = try await proxy.client()
    for number in 0..<2 {
      try await client.send("GET http://www.shop.test/a HTTP/1.1\r\nHost: x\r\n\r\n")
      let server = try await upstream.connection()
      if number == 0 {
        #expect(await server.receive("\r\n\r\n").hasPrefix("CONNECT 192.0.2.1:80 HTTP/1.1\r\n"))
        server.forget()
        try await server.send("HTTP/1.1 200 OK\r\n\r\n")
      }
      #expect(await server.receive("\r\n\r\n") == "GET /a HTTP/1.1\r\nHost: www.shop.test\r\n\r\n")
      server.forget()
      try await server.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(number)")
      #expect(await client.receive("\r\n\r\n\(number)").hasSuffix("\(number)"))
      client.forget()
    }
    #expect(upstream.count == 1)
    await proxy.stop()
    await upstream.stop()
  }

  @Test func `one that looks names up is told them: whole URLs, and tunnels by name`() async throws {
    let upstream = try await RawListener.start()
    let proxy = try await fixture(upstream, user: "u:p@") { $0.upstream?.resolvesNames = true }
    let client = try await proxy.client()
    try await client.send("GET http://www.shop.test/a?b HTTP/1.1\r\nHost: x\r\nX: y\r\n\r\n")
    let first = try await upstream.connection()
    #expect(
      await first.receive("\r\n\r\n")
        == "GET http://www.shop.test/a?b HTTP/1.1\r\nHost: www.shop.test\r\nProxy-Authorization: Basic dTpw\r\n"
        + "Connection: DirectDNS-Via\r\nDirectDNS-Via: \(proxy.proxy.shared.mark)\r\nX: y\r\n\r\n")
    try await first.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    #expect(await client.receive("ok").hasSuffix("ok"))
    client.forget()
    // What becomes another protocol has no use for the connection above: it gets a tunnel of its own.
    try await client.send(
      "GET ws://www.shop.test/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
    let second = try await upstream.connection(1)
    #expect(await second.receive("\r\n\r\n").hasPrefix("CONNECT www.shop.test:80 HTTP/1.1\r\n"))
    second.forget()
    try await second.send("HTTP/1.1 200 OK\r\n\r\n")
    let request = await second.receive("\r\n\r\n")
    #expect(request.hasPrefix("GET / HTTP/1.1\r\n") && !request.contains("Proxy-Authorization"))
    #expect(proxy.provider.requests.isEmpty)
    await proxy.stop()
    await upstream.stop()
  }

  @Test func `its 407 is for nobody who has no password for it`() async throws {
    let upstream = try await RawListener.start()
    let proxy = try await fixture(upstream) { $0.upstream?.resolvesNames = true }
    let client = try await proxy.client()
    try await client.send("GET http://www.shop.test/ HTTP/1.1\r\nHost: x\r\n\r\n")
    let server = try await upstream.connection()
    await server.receive("\r\n\r\n")
    try await server.send("HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 0\r\n\r\n")
    let refusal = await client.receive(".\n")
    #expect(refusal.hasPrefix("HTTP/1.1 502 ") && !refusal.contains("Proxy-Authenticate"))
    #expect(refusal.contains("Proxy-Status: directdns; error=destination_unavailable\r\n"))
    await proxy.stop()
    await upstream.stop()
  }

  @Test func `SOCKS5 carries a tunnel to an address`() async throws {
    let upstream = try await RawListener.start()
    let proxy = try await fixture(upstream, "socks5")
    let client = try await proxy.client()
    try await client.send("CONNECT www.shop.test:443 HTTP/1.1\r\n\r\n")
    let server = try await upstream.connection()
    await server.receive(count: 3)
    server.forget()
    try await server.send([5, 0])
    await server.receive(count: 10)
    #expect(Array(server.received.utf8).prefix(4) == [5, 1, 0, 1])
    try await server.send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0] + Array("hello".utf8))
    #expect(await client.receive("hello") == Self.granted + "hello")
    await proxy.stop()
    await upstream.stop()
  }

  @Test(arguments: ["http", "socks5"], [false, true])
  func `a response that comes with its reply is the client's, and the next request has another connection`(
    scheme: String, endsByClose: Bool
  ) async throws {
    let upstream = try await RawListener.start()
    let proxy = try await fixture(upstream, scheme)
    let client = try await proxy.client()
    for number in 0..<(endsByClose ? 1 : 2) {
      try await client.send("GET http://www.shop.test/a HTTP/1.1\r\nHost: x\r\n\r\n")
      let server = try await upstream.connection(number)
      var reply = Array("HTTP/1.1 200 OK\r\n\r\n".utf8)
      if scheme == "socks5" {
        await server.receive(count: 3)
        try await server.send([5, 0])
        await server.receive(count: 13)
        reply = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]
      } else {
        await server.receive("\r\n\r\n")
      }
      let response = "HTTP/1.1 200 OK\r\n\(endsByClose ? "" : "Content-Length: 5\r\n")\r\nearly"
      try await server.send(reply + Array(response.utf8))
      if endsByClose { try await server.finish() }
      #expect(await server.receive("GET /a HTTP/1.1\r\n").contains("GET /a HTTP/1.1\r\n"))
      let said = await client.receive("early")
      #expect(said.hasPrefix("HTTP/1.1 200 OK\r\n") && said.hasSuffix("early"), "\(said)")
      if !endsByClose { client.forget() }
    }
    if endsByClose { #expect(await client.receiveToEnd().hasSuffix("early") && !client.isReset) }
    await proxy.stop()
    await upstream.stop()
  }

  @Test(arguments: [("502", "connection_refused"), ("403", "http_request_denied"), ("504", "connection_timeout")])
  func `an address that it cannot reach is followed by the next one, and all of them by a refusal`(
    _ status: String, _ error: String
  ) async throws {
    let upstream = try await RawListener.start()
    let proxy = try await fixture(
      upstream, records: RecordTable { $0.add("www.shop.test", "192.0.2.1", "192.0.2.2") })
    let client = try await proxy.client()
    try await client.send("CONNECT www.shop.test:443 HTTP/1.1\r\n\r\n")
    var asked: Set<String> = []
    for number in 0..<2 {
      let server = try await upstream.connection(number)
      asked.insert(String(await server.receive("\r\n\r\n").prefix { $0 != "\r\n" }))
      try await server.send("HTTP/1.1 \(status) Bad\r\nProxy-Status: it; error=\(error)\r\n\r\n")
    }
    #expect(asked == ["CONNECT 192.0.2.1:443 HTTP/1.1", "CONNECT 192.0.2.2:443 HTTP/1.1"])
    let refusal = await client.receive("\r\n\r\n")
    #expect(refusal.hasPrefix("HTTP/1.1 \(status) ") && refusal.contains("error=\(error)"))
    await proxy.stop()
    await upstream.stop()
  }

  @Test func `one that nobody answers at is told of, once`() async throws {
    let gone = try await RawListener.start()
    let proxy = try await fixture(gone, records: RecordTable { $0.add("www.shop.test", "192.0.2.1", "192.0.2.2") })
    // What is closed has no port any more.
    let port = gone.port
    await gone.stop()
    let client = try await proxy.client()
    try await client.send("GET http://www.shop.test/ HTTP/1.1\r\nHost: x\r\n\r\n")
    let refusal = await client.receive(".\n")
    #expect(refusal.hasPrefix("HTTP/1.1 502 ") && refusal.contains("error=connection_refused"), "\(refusal)")
    let body = try #require(refusal.firstRange(of: "\r\n\r\n")).upperBound
    #expect(
      refusal[body...].ranges(of: "The upstream proxy http://127.0.0.1:\(port) cannot be used").count == 1,
      "\(refusal)")
    await proxy.stop()
  }

  @Test(arguments: ["inside.test", "10.0.0.1", "denied.test", "localhost"])
  func `what the policy forbids is not asked for`(_ host: String) async throws {
    let upstream = try await RawListener.start()
    let policy = AddressPolicy(.publicOnly, deniedSuffixes: [try HostName("denied.test")])
    let records = RecordTable { $0.add("inside.test", "10.0.0.1") }
    for resolves in [false, true] where !(resolves && host == "inside.test") {
      let proxy = try await fixture(upstream, records: records, policy: policy) {
        $0.upstream?.resolvesNames = resolves
      }
      let client = try await proxy.client()
      try await client.send("CONNECT \(host):443 HTTP/1.1\r\n\r\n")
      let error = host == "denied.test" ? "http_request_denied" : "destination_ip_prohibited"
      #expect(await client.receive("\r\n\r\n").contains("error=\(error)"))
      await proxy.stop()
    }
    #expect(upstream.count == 0)
    await upstream.stop()
  }

  @Test func `rules send names another way, or nowhere`() async throws {
    let (upstream, origin) = (try await RawListener.start(), try await RawListener.start())
    let proxy = try await fixture(
      upstream, records: RecordTable { $0.add("near.test", "127.0.0.1") }
    ) {
      $0.routes.set(.direct, for: .under(try HostName("near.test")))
      $0.routes.set(.refuse, for: .exactly(try HostName("ads.test")))
    }
    let client = try await proxy.client()
    try await client.send("CONNECT ads.test:443 HTTP/1.1\r\n\r\n")
    let refusal = await client.receive("\r\n\r\n")
    #expect(refusal.hasPrefix("HTTP/1.1 403 ") && refusal.contains("error=http_request_denied"))
    client.forget()
    try await client.send("CONNECT near.test:\(origin.port) HTTP/1.1\r\n\r\n")
    #expect(await client.receive("\r\n\r\n") == Self.granted)
    #expect(upstream.count == 0)
    await proxy.stop()
    await upstream.stop()
    await origin.stop()
  }

  @Test func `a rule that wants another proxy wants one that is there`() async throws {
    var configuration = ProxyConfiguration()
    configuration.routes.set(.upstream, for: .under(try HostName("a.test")))
    let resolver = try DirectResolver()
    let error = #expect(throws: DirectDNSError.self) { try ProxyServer(configuration, resolver: resolver) }
    #expect(error?.message.contains("a.test=upstream") == true)
    resolver.shutdown()
  }
}
