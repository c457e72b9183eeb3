// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSProxy
import DirectDNSTesting
import HTTPTypes
import Testing

@Suite("Who gets what of a proxy", .timeLimit(.minutes(1)))
struct ProxyAccessTests {
  private static let challenge = "Proxy-Authenticate: Basic realm=\"DirectDNS proxy\""

  private func fixture() async throws -> ProxyFixture {
    let users = try ProxyUsers(lines: "ann:\(TestHashes.bcrypt)", tokens: ["0123456789abcdef"])
    return try await ProxyFixture { $0.users = users }
  }

  private func basic(_ name: String, _ password: String) -> String {
    "Proxy-Authorization: Basic \(Base64.encoded(Array("\(name):\(password)".utf8)))\r\n"
  }

  @Test func `without a password there is nothing, and with one the same connection serves`() async throws {
    let origin = try await FakeOrigin.start()
    let proxy = try await fixture()
    let client = try await proxy.client()
    let start = "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
    for line in ["", basic("ann", "wrong"), basic("eve", TestHashes.password), "Proxy-Authorization: Bearer x\r\n"] {
      try await client.send(start + line + "\r\nabc")
      let refusal = await client.receive(".\n")
      #expect(refusal.hasPrefix("HTTP/1.1 407 Proxy Authentication Required: "))
      #expect(refusal.contains(Self.challenge) && refusal.contains("the proxy's URL"))
      #expect(!refusal.contains("Connection: close"))
      client.forget()
    }
    #expect(origin.requests.isEmpty)
    let token = "0123456789abcdef"
    for line in [basic("ann", TestHashes.password), basic("ann", TestHashes.password), basic(token, token)] {
      try await client.send(start + line + "\r\nabc")
      #expect(await client.receive("\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
      client.forget()
    }
    #expect(origin.requests.count == 3)
    #expect(origin.requests.allSatisfy { $0.fields[.proxyAuthorization] == nil })
    #expect(await proxy.accesses(7).suffix(3).map(\.user) == ["ann", "ann", "token"])
    await proxy.stop()
    await origin.stop()
  }

  @Test func `a name or a token without a password is told where the password has its place`() async throws {
    let proxy = try await fixture()
    let client = try await proxy.client()
    let start = "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n"
    for (name, password, part) in [
      ("0123456789abcdef", "", "http://USER:PASSWORD@HOST:PORT"), ("ann", "", "http://USER:PASSWORD@HOST:PORT"),
      ("ann", "wrong", "is wrong"),
    ] {
      try await client.send("\(start)\(basic(name, password))\r\n")
      #expect(await client.receive(".\n").contains(part))
      client.forget()
    }
    await proxy.stop()
  }

  @Test func `a tunnel wants the password, and tells nobody of it`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await fixture()
    let client = try await proxy.client()
    try await client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(await client.receive("\r\n\r\n").contains("407"))
    client.forget()
    try await client.send(
      "CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\(basic("ann", TestHashes.password))\r\nearly")
    #expect(await client.receive("\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
    #expect(try await origin.connection().receive("early") == "early")
    await proxy.stop()
    await origin.stop()
  }

  @Test(
    arguments: [
      ("TRACE http://a.example/p?q", "", 405, "/p"),
      ("OPTIONS http://a.example/p?q", "Max-Forwards: 0\r\n", 200, "/p"),
      ("CONNECT a.example:443", "Content-Length: 1\r\n", 400, nil),
      // More proxies than there may be in a row.
      ("GET http://a.example/p?q", "DirectDNS-Via: \(String(repeating: "x, ", count: 16))x\r\n", 403, "/p"),
    ] as [(String, String, Int, String?)])
  func `what goes no further is told of with its user, and a wrong password without one`(
    start: String, fields: String, status: Int, path: String?
  ) async throws {
    let proxy = try await fixture()
    for password in [TestHashes.password, "wrong"] {
      let client = try await proxy.client()
      try await client.send("\(start) HTTP/1.1\r\nHost: a.example\r\n\(fields)\(basic("ann", password))\r\n")
      await client.receive("\r\n\r\n")
      await client.close()
    }
    let accesses = await proxy.accesses(2)
    #expect(accesses.map(\.status) == [status, 407] && accesses.map(\.user) == ["ann", nil])
    #expect(accesses.map(\.path) == [path, path])
    await proxy.stop()
  }

  @Test func `SOCKS5 wants it too`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await fixture()
    let port = [UInt8(origin.port >> 8), UInt8(origin.port & 0xff)]
    for (password, isRight) in [(TestHashes.password, true), ("wrong", false)] {
      let client = try await proxy.client()
      let credentials = [1, 3] + Array("ann".utf8) + [UInt8(password.utf8.count)] + Array(password.utf8)
      try await client.send([5, 1, 2] + credentials + [5, 1, 0, 1, 127, 0, 0, 1] + port)
      await client.receive(count: isRight ? 14 : 4)
      let received = Array(client.received.utf8)
      #expect(received.prefix(4) == [5, 2, 1, isRight ? 0 : 1])
      if isRight { #expect(received.dropFirst(4).prefix(2) == [5, 0]) }
    }
    await proxy.stop()
    await origin.stop()
  }

  @Test func `an address that others reach is refused without users`() async throws {
    let resolver = try DirectDNS.DirectResolver(ResolverConfiguration())
    #expect {
      try ProxyServer(ProxyConfiguration(listeners: [try ListenAddress("0.0.0.0:0")]), resolver: resolver)
    } throws: { error in
      (error as? DirectDNSError)?.message.hasPrefix("0.0.0.0:0: other machines reach that address") == true
    }
    resolver.shutdown()
  }

  // MARK: The proxy's own pages

  @Test(arguments: [
    ("GET /proxy.pac", "421", "a name of its own"), ("GET /live", "200", "live"), ("GET /ready", "200", "ready"),
    ("GET /", "404", "whole URL"), ("GET /metrics", "404", ""), ("POST /proxy.pac", "405", ""),
    ("GET https://a.example/", "400", "CONNECT HOST:PORT"), ("GET a.example", "400", "whole URL"),
  ])
  func `a request that is for no origin gets what is the proxy's own`(
    start: String, status: String, part: String
  ) async throws {
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send("\(start) HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
    let received = await client.receiveToEnd()
    #expect(received.hasPrefix("HTTP/1.1 \(status) "))
    #expect(received.contains(part))
    #expect(!received.contains("evil.example"))
    await proxy.stop()
  }

  @Test(arguments: [
    ("127.0.0.1", true), ("127.0.0.1:3128", true), ("localhost:3128", true), ("[::1]", true), ("rebound.test", false),
    ("localhost.rebound.test:3128", false), ("", false),
  ])
  func `the file for browsers is for nobody who asks this machine for it by a name that may be a website's`(
    host: String, isServed: Bool
  ) async throws {
    let proxy = try await ProxyFixture { $0.direct = .offUnder([try HostName("corp.example")]) }
    let client = try await proxy.client()
    try await client.send("GET /proxy.pac HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
    let said = await client.receiveToEnd()
    #expect(said.hasPrefix("HTTP/1.1 \(isServed ? 200 : 421) ") && said.contains("corp.example") == isServed, "\(said)")
    #expect(isServed || said.contains("take http://127.0.0.1:\(proxy.port)/proxy.pac"), "\(said)")
    await proxy.stop()
  }

  @Test(arguments: [
    ("/live", 200, 5), ("/proxy.pac?x", 200, nil), ("/ready", 200, 6), ("/metrics", 200, 2), ("/", 404, nil),
  ])
  func `a page of the proxy's own is told of as any other`(target: String, status: Int, sent: Int?) async throws {
    let proxy = try await ProxyFixture { $0.metrics = { "x\n" } }
    let client = try await proxy.client()
    try await client.send("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    let body = await client.receiveToEnd().split(separator: "\r\n\r\n").last ?? ""
    let access = try #require(await proxy.accesses(1).first)
    #expect(access.status == status && access.origin == nil && access.error == nil)
    #expect(access.path.map { target.hasPrefix($0) && !$0.contains("?") } == true)
    #expect(access.sent == sent ?? body.utf8.count)
    #expect(access.isProbe == ["/live", "/ready"].contains(target))
    await proxy.stop()
  }

  // MARK: Limits

  @Test func `one client more than there is room for is told so`() async throws {
    let proxy = try await ProxyFixture { $0.limits.clients = 1 }
    let first = try await proxy.client()
    try await first.send("GET /live HTTP/1.1\r\nHost: x\r\n\r\n")
    await first.receive("live")
    let second = try await proxy.client()
    let refusal = await second.receiveToEnd()
    // It may have asked for a tunnel.
    #expect(refusal.contains("503 Service Unavailable") && refusal.contains("Content-Length: 0\r\n"))
    #expect(await proxy.accesses(2).map(\.error) == [nil, "connection_limit_reached"])
    await first.close()
    await proxy.stop()
  }

  @Test(arguments: [
    "CONNECT a.example HTTP/1.1\r\n\r\n", "CONNECT a.example:0 HTTP/1.1\r\n\r\n",
    "CONNECT u@a.example:443 HTTP/1.1\r\n\r\n",
    "CONNECT a.example:443 HTTP/1.1\r\nHost: a b\r\n\r\n", "CONNECT a.example:443 HTTP/1.1\nHost: a\n\n",
    "CONNECT a.example:443 HTTP/1.1\r\nX: " + String(repeating: "a", count: 2000),
  ])
  func `a refusal has no body for a tunnel that cannot be understood either`(text: String) async throws {
    let proxy = try await ProxyFixture { $0.limits.headSize = 1024 }
    let client = try await proxy.client()
    try await client.send(text)
    let refusal = await client.receiveToEnd()
    #expect(refusal.hasPrefix("HTTP/1.1 4") && refusal.hasSuffix("Content-Length: 0\r\nConnection: close\r\n\r\n"))
    await proxy.stop()
  }

  @Test(arguments: [
    ("GET /x HTTP/1.1\r\nAccept: application/json\r\n\r\n", "\"}\n"), ("HEAD ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", ""),
    ("GET http://a.example:0/ HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n", "<p>DirectDNS proxy\n"),
    ("GET http://a.example:0/ HTTP/1.1\r\nHost: a\r\n\r\n", "no server has.\n"),
  ])
  func `a request that is of no use is refused as its head asks for it`(text: String, end: String) async throws {
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send(text)
    let parts = await client.receiveToEnd().split(separator: "\r\n\r\n", omittingEmptySubsequences: false)
    #expect(parts.first?.hasPrefix("HTTP/1.1 400 ") == true)
    #expect(end.isEmpty ? parts.last == "" : parts.last?.hasSuffix(end) == true, "\(parts)")
    await proxy.stop()
  }

  @Test func `a tunnel whose head does not come in time is refused without a body`() async throws {
    let proxy = try await ProxyFixture { $0.limits.headTimeout = .milliseconds(1) }
    let client = try await proxy.client()
    try await client.send("CONNECT a.example:443 HTTP/1.1\r\n")
    let refusal = await client.receiveToEnd()
    #expect(refusal.hasPrefix("HTTP/1.1 408 ") && refusal.contains("Content-Length: 0\r\n"))
    await proxy.stop()
  }

  @Test func `what came behind a tunnel's head that has no password is no request`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await fixture()
    let client = try await proxy.client()
    let place = "127.0.0.1:\(origin.port)"
    try await client.send(
      "CONNECT \(place) HTTP/1.1\r\nHost: x\r\n\r\nGET http://\(place)/ HTTP/1.1\r\nHost: x\r\n\(basic("ann", TestHashes.password))\r\n"
    )
    let received = await client.receiveToEnd()
    #expect(received.hasPrefix("HTTP/1.1 407 ") && received.contains("Connection: close\r\n"))
    #expect(origin.count == 0)
    await proxy.stop()
    await origin.stop()
  }

  @Test func `a head may be as large as the limit says, and one byte more is told at once`() async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture { $0.limits.headSize = 100_000 }
    let start = "GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nX: "
    let whole = start + String(repeating: "a", count: 100_000 - start.utf8.count - 4) + "\r\n\r\n"
    let client = try await proxy.client()
    try await client.send(whole)
    #expect(await (try origin.connection()).receive("\r\n\r\n").hasSuffix("a\r\n\r\n"))
    let other = try await proxy.client()
    // What comes in one piece of 64 KiB is more than is held otherwise.
    try await other.send(String(whole.dropLast(2)) + "aaaaa")
    #expect(await other.receiveToEnd().hasPrefix("HTTP/1.1 431 "))
    await proxy.stop()
    await origin.stop()
  }

  @Test(arguments: [
    ("GET / HTTP/1.1\r\nX: " + String(repeating: "a", count: 2000), "431"), ("\u{16}\u{3}\u{1}", "400"),
    ("GET / HTTP/1.1\rX: y\r\r", "400"), ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", "505"),
    ("POST http://a.example/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", "501"),
    ("GET http://a.example/ HTTP/1.1\r\n\r\n", "400"),
    ("GET http://a.example/ HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "400"),
    ("TRACE http://a.example/ HTTP/1.1\r\nHost: a\r\n\r\n", "405"),
  ])
  func `what cannot be served is refused at once`(text: String, status: String) async throws {
    let proxy = try await ProxyFixture { $0.limits.headSize = 1024 }
    let client = try await proxy.client()
    try await client.send(text)
    #expect(await client.receive("\n\r\n").hasPrefix("HTTP/1.1 \(status) "))
    await proxy.stop()
  }
}
