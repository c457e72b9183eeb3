// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSProxy
import DirectDNSTesting
import Testing

@Suite("A proxy's tunnels", .timeLimit(.minutes(1)))
struct TunnelTests {
  private static let granted = "HTTP/1.1 200 Connection established\r\n\r\n"

  @Test func `a tunnel carries bytes both ways, those that come early too`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\nearly")
    let server = try await origin.connection()
    #expect(await server.receive("early") == "early")
    try await server.send("hello")
    #expect(await client.receive("hello") == Self.granted + "hello")
    await proxy.stop()
    await origin.stop()
  }

  @Test func `a stale address gives way to the one that a refresh brings`() async throws {
    let (name, clock) = ("www.shop.test", ManualClock())
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture(records: RecordTable { $0.add(name, "127.0.0.2") }, clock: clock)
    _ = try await proxy.resolver.resolve(HostName(name))
    clock.advance(by: .seconds(7_200))
    proxy.provider.records = RecordTable { $0.add(name, "127.0.0.1") }
    let client = try await proxy.client()
    try await client.send("CONNECT \(name):\(origin.port) HTTP/1.1\r\n\r\n")
    #expect(await client.receive("\r\n\r\n") == Self.granted)
    await proxy.stop()
    await origin.stop()
  }

  @Test func `an address that has expired is judged as any other`() async throws {
    let (name, clock) = ("www.shop.test", ManualClock())
    let proxy = try await ProxyFixture(
      records: RecordTable { $0.add(name, "127.0.0.1") }, policy: .publicOnly, clock: clock)
    _ = try await proxy.resolver.resolve(HostName(name))
    clock.advance(by: .seconds(7_200))
    await proxy.provider.stop()
    let client = try await proxy.client()
    try await client.send("CONNECT \(name):443 HTTP/1.1\r\n\r\n")
    #expect(await client.receive("\r\n\r\n").contains("403 Forbidden"))
    #expect(await proxy.accesses(1).first?.error == "destination_ip_prohibited")
    await proxy.stop()
  }

  @Test func `each direction ends by itself`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\n\r\n")
    await client.receive("\r\n\r\n")
    let server = try await origin.connection()
    try await client.send("all of it")
    try await client.finish()
    #expect(await server.receiveToEnd() == "all of it")
    try await server.send("and the answer")
    await client.receive("and the answer")
    try await server.finish()
    #expect(await client.receiveToEnd() == Self.granted + "and the answer")
    let access = try #require(await proxy.accesses(1).first)
    #expect((access.received, access.sent) == (9, 14))
    await proxy.stop()
    await origin.stop()
  }

  @Test(arguments: [true, false]) func `a reset on one side is one on the other`(byClient: Bool) async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\n\r\n")
    await client.receive("\r\n\r\n")
    let server = try await origin.connection()
    let (one, other) = byClient ? (client, server) : (server, client)
    try await one.send("x")
    await other.receive("x")
    try await one.reset()
    _ = await other.receiveToEnd()
    #expect(other.isReset)
    #expect(await proxy.accesses(1).map(\.error) == ["connection_terminated"])
    await proxy.stop()
    await origin.stop()
  }

  @Test func `what came behind a refused tunnel's head is no request`() async throws {
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send(
      "CONNECT 127.0.0.1:25 HTTP/1.1\r\nHost: x\r\n\r\nGET /live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    let received = await client.receiveToEnd()
    #expect(received.hasPrefix("HTTP/1.1 403 ") && received.contains("Connection: close\r\n"))
    #expect(!received.contains("200 OK"))
    await proxy.stop()
  }

  @Test func `a refused tunnel has no body, and the connection goes on`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture(
      policy: AddressPolicy(.any, deniedNetworks: [try #require(IPNetwork("127.0.0.2/32"))]))
    let client = try await proxy.client()
    try await client.send("CONNECT 127.0.0.2:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
    let refusal = await client.receive("\r\n\r\n")
    #expect(refusal.hasPrefix("HTTP/1.1 403 Forbidden: the address 127.0.0.2 "), "\(refusal)")
    #expect(refusal.contains("Proxy-Status: directdns; error=destination_ip_prohibited\r\n"))
    #expect(refusal.hasSuffix("Content-Length: 0\r\n\r\n"))
    client.forget()
    try await client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(await client.receive("\r\n\r\n") == Self.granted)
    await proxy.stop()
    await origin.stop()
  }

  @Test(arguments: [("127.0.0.1:25", "http_request_denied"), ("[::ffff:127.0.0.1]:22", "http_request_denied")])
  func `ports that are not the web's are refused`(target: String, error: String) async throws {
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send("CONNECT \(target) HTTP/1.1\r\n\r\n")
    #expect(await client.receive("\r\n\r\n").contains("403 Forbidden"))
    #expect(await proxy.accesses(1).first?.error == error)
    await proxy.stop()
  }

  @Test(arguments: ["127.0.0.2", "[::1]", "[::]"])
  func `another address of this machine with the same port is not the proxy itself`(host: String) async throws {
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send("CONNECT \(host):\(proxy.port) HTTP/1.1\r\n\r\n")
    #expect(await client.receive("\r\n\r\n").contains("HTTP/1.1 502 "))
    await proxy.stop()
  }

  @Test(arguments: ["127.0.0.1", "0.0.0.0", "[::ffff:127.0.0.1]", "[::ffff:0.0.0.0]", "[::ffff:0:0]"])
  func `a tunnel to the proxy itself is refused`(host: String) async throws {
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send("CONNECT \(host):\(proxy.port) HTTP/1.1\r\n\r\n")
    #expect(await client.receive("\r\n\r\n").contains("error=proxy_loop_detected"))
    await proxy.stop()
  }

  // MARK: Names

  @Test(arguments: ["localhost", "first.test", "last.test"])
  func `a name that leads to the proxy itself, and nowhere else, is refused for that`(host: String) async throws {
    let proxy = try await ProxyFixture(
      records: RecordTable { records in
        records.add("first.test", "127.0.0.1", "127.0.0.3")
        records.add("last.test", "127.0.0.3", "127.0.0.1")
      })
    let client = try await proxy.client()
    try await client.send("CONNECT \(host):\(proxy.port) HTTP/1.1\r\n\r\n")
    let refusal = await client.receive("\r\n\r\n")
    #expect(refusal.hasPrefix("HTTP/1.1 403 ") && refusal.contains("error=proxy_loop_detected"), "\(refusal)")
    await proxy.stop()
  }

  @Test func `of a name that leads to the proxy itself and elsewhere the other address is taken`() async throws {
    let proxy = try await ProxyFixture(
      records: RecordTable { $0.add("www.example.test", "127.0.0.1", "127.0.0.3") })
    let origin = try await RawListener.start("127.0.0.3", port: proxy.port)
    let client = try await proxy.client()
    try await client.send("CONNECT www.example.test:\(proxy.port) HTTP/1.1\r\n\r\n")
    #expect(await client.receive("\r\n\r\n") == Self.granted)
    await client.close()
    try await origin.connection().close()
    #expect(await proxy.accesses(1).first?.address == IPAddress("127.0.0.3"))
    await proxy.stop()
    await origin.stop()
  }

  @Test func `a name's addresses are tried until one answers`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture(
      records: RecordTable { $0.add("www.example.test", "127.0.0.3", "127.0.0.1") })
    let client = try await proxy.client()
    try await client.send("CONNECT www.example.test:\(origin.port) HTTP/1.1\r\n\r\n")
    #expect(await client.receive("\r\n\r\n") == Self.granted)
    await client.close()
    try await origin.connection().close()
    let access = try #require(await proxy.accesses(1).first)
    #expect(access.address == IPAddress("127.0.0.1"))
    #expect(access.origin == "www.example.test:\(origin.port)")
    await proxy.stop()
    await origin.stop()
  }

  @Test func `a name that is known needs no provider`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture(records: RecordTable { $0.add("www.example.test", "127.0.0.1") })
    for number in 0..<3 {
      let client = try await proxy.client()
      try await client.send("CONNECT www.example.test:\(origin.port) HTTP/1.1\r\n\r\n")
      #expect(await client.receive("\r\n\r\n") == Self.granted)
      if number == 0 { await proxy.provider.stop() }
    }
    await proxy.stop()
    await origin.stop()
  }

  @Test func `a name that points to a forbidden address is refused, however it is spelled`() async throws {
    let proxy = try await ProxyFixture(
      records: RecordTable {
        $0.add("rebound.example.test", "127.0.0.1")
        $0.add("meta.example.test", "169.254.169.254")
      }, policy: .publicOnly)
    for host in ["rebound.example.test", "META.example.test", "127.0.0.1", "0x7f.1", "2130706433", "[::ffff:7f00:1]"] {
      let client = try await proxy.client()
      try await client.send("CONNECT \(host):443 HTTP/1.1\r\n\r\n")
      #expect(await client.receive("\r\n\r\n").contains("error=destination_ip_prohibited"), "\(host)")
    }
    await proxy.stop()
  }

  @Test func `a name that does not exist is told as such`() async throws {
    let proxy = try await ProxyFixture(records: RecordTable { $0.missing("gone.example.test") })
    let client = try await proxy.client()
    try await client.send("CONNECT gone.example.test:443 HTTP/1.1\r\n\r\n")
    let refusal = await client.receive("\r\n\r\n")
    #expect(refusal.hasPrefix("HTTP/1.1 502 "))
    #expect(refusal.contains("error=dns_error; rcode=\"NXDOMAIN\""))
    await proxy.stop()
  }

  @Test func `a client that leaves while its name is looked up is let go`() async throws {
    let proxy = try await ProxyFixture(records: RecordTable { $0.add("slow.example.test", "127.0.0.1") })
    proxy.provider.misbehave(.hold)
    let client = try await proxy.client()
    try await client.send("CONNECT slow.example.test:443 HTTP/1.1\r\n\r\n")
    await proxy.provider.waitForHeld()
    await client.close()
    proxy.provider.behave()
    proxy.provider.release()
    await proxy.stop()
    #expect(await proxy.accesses(1).map(\.error) == ["connection_terminated"])
  }

  // MARK: SOCKS

  @Test(arguments: [("ann", TestHashes.password, "ann"), ("secret token", "secret token", "token")])
  func `the log has who came by SOCKS5, and no token`(name: String, password: String, user: String) async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture {
      $0.users = try ProxyUsers(lines: "ann:\(TestHashes.bcrypt)", tokens: [Secret("secret token")])
    }
    let client = try await proxy.client()
    let port = [UInt8(origin.port >> 8), UInt8(origin.port & 0xff)]
    try await client.send([5, 1, 2])
    await client.receive(count: 2)
    try await client.send(
      [1, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(password.utf8.count)] + Array(password.utf8))
    await client.receive(count: 4)
    try await client.send([5, 1, 0, 1, 127, 0, 0, 1] + port)
    await client.receive(count: 14)
    await client.close()
    try await origin.connection().close()
    #expect(await proxy.accesses(1).first?.user == user)
    await proxy.stop()
    await origin.stop()
  }

  @Test func `SOCKS5 carries a name, and its tunnel`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture(records: RecordTable { $0.add("www.example.test", "127.0.0.1") })
    let client = try await proxy.client()
    let name = Array("www.example.test".utf8)
    let port = [UInt8(origin.port >> 8), UInt8(origin.port & 0xff)]
    try await client.send([5, 1, 0] + [5, 1, 0, 3, UInt8(name.count)] + name + port + Array("early".utf8))
    let server = try await origin.connection()
    #expect(await server.receive("early") == "early")
    try await server.send("hello")
    #expect(Array(await client.receive("hello").utf8) == [5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0] + Array("hello".utf8))
    await client.close()
    await server.close()
    #expect(await proxy.accesses(1).first?.kind == .socks5)
    await proxy.stop()
    await origin.stop()
  }

  @Test func `SOCKS4a says by its number that it is refused`() async throws {
    let proxy = try await ProxyFixture(policy: .publicOnly)
    let client = try await proxy.client()
    try await client.send([4, 1, 1, 187, 127, 0, 0, 1, 0])
    #expect(Array(await client.receiveToEnd().utf8) == [0, 91, 0, 0, 0, 0, 0, 0])
    await proxy.stop()
  }
}
