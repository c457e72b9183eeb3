// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(1)))
struct FakeOriginTests {
  @Test func `a request is recorded as it came, and echoed by default`() async throws {
    try await withOrigin { origin async throws in
      let reply = try await Curl.run("-H", "X-Test: 1", "-d", "item=7", origin.url("/cart%20?a=%2f&b"))
      let request = try #require(origin.requests.first)
      #expect(request.number == 1 && request.connection == 1)
      #expect(request.version == .http1 && request.serverName == nil)
      #expect(request.client == "127.0.0.1" && request.clientPort > 0)
      #expect(request.method == .post && request.target == "/cart%20?a=%2f&b" && request.path == "/cart%20")
      #expect(request.field("x-test") == "1" && request.host == "127.0.0.1:\(origin.port)")
      #expect(request.body == Array("item=7".utf8))
      #expect(reply.status == 200)
      #expect(reply.text.hasPrefix("POST /cart%20?a=%2f&b HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n"))
      #expect(reply.text.contains("\r\nX-Test: 1\r\n") && reply.text.hasSuffix("\r\n\r\nitem=7"))
    }
  }

  @Test func `the handler's status, fields and body are sent, several Set-Cookie fields apart`() async throws {
    let fields: HTTPFields = [.setCookie: "a=1", .location: "/next", .setCookie: "b=2; Path=/"]
    try await withOrigin(answering: { _ in OriginResponse(.found, fields: fields, body: "moved") }) {
      origin async throws in
      let reply = try await Curl.run(origin.url())
      #expect(reply.status == 302 && reply.text == "moved")
      #expect(
        reply.head.split(separator: "\r\n").dropFirst() == [
          "Set-Cookie: a=1", "Location: /next", "Set-Cookie: b=2; Path=/", "content-length: 5",
        ])
    }
  }

  @Test func `the handler sees the request, and bodies of any bytes and length go both ways`() async throws {
    let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
    try await withOrigin(answering: { OriginResponse(body: $0.body) }) { origin async throws in
      let reply = try await Curl.run("--data-binary", "@-", "-H", "Expect:", origin.url(), input: bytes)
      #expect(reply.body == bytes)
      #expect(origin.requests.first?.body == bytes)
    }
  }

  @Test(arguments: [HTTPResponse.Status.noContent, .notModified])
  func `a response without a body has no length`(status: HTTPResponse.Status) async throws {
    try await withOrigin(answering: { _ in OriginResponse(status) }) { origin async throws in
      let reply = try await Curl.run(origin.url())
      #expect(reply.status == status.code && reply.body.isEmpty && reply.field("content-length") == nil)
    }
  }

  @Test func `HEAD is answered with the length alone`() async throws {
    try await withOrigin(answering: { _ in OriginResponse(body: "four") }) { origin async throws in
      let reply = try await Curl.run("--head", origin.url())
      #expect(reply.status == 200 && reply.body.isEmpty && reply.field("content-length") == "4")
    }
  }

  @Test func `a body may be framed by the handler's own fields`() async throws {
    let fields: HTTPFields = [.transferEncoding: "chunked"]
    try await withOrigin(answering: { _ in OriginResponse(fields: fields, body: "four") }) { origin async throws in
      let reply = try await Curl.run(origin.url())
      #expect(reply.text == "four" && reply.field("content-length") == nil)
    }
    try await withOrigin(answering: { _ in
      OriginResponse(fields: [.contentLength: "9", .connection: "close"], body: "four")
    }) {
      origin async throws in
      #expect(try await Curl.run(origin.url()).exit == 18)
    }
  }

  @Test func `a head is recorded byte for byte, also when it comes in pieces`() async throws {
    try await withOrigin { origin async throws in
      let head = "PUT /%7ex HTTP/1.1\r\nhOST: a\r\nX-b:  1 \r\nCookie: z\r\nX-A:2\r\nContent-Length: 4\r\n\r\n"
      let last = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
      let (start, end) = (head.prefix(70), head.dropFirst(70))
      try await RawClient.connected(to: origin.port) { client in
        for piece in [String(start), String(end), "\r\n\r\n"] { try await client.send(piece) }
        await origin.waitForRequests()
        try await client.send(last)
        _ = try await client.rest()
      }
      #expect(origin.requests.map { String(decoding: $0.rawHead, as: UTF8.self) } == [head, last])
      #expect(origin.requests.map(\.numberOnConnection) == [1, 2])
    }
  }

  @Test func `connections are kept, counted and closed on demand`() async throws {
    try await withOrigin(answering: { request in
      OriginResponse(fields: request.path == "/last" ? [.connection: "close"] : [:], body: "x")
    }) { origin async throws in
      _ = try await Curl.run(origin.url("/a"), origin.url("/last"), origin.url("/b"))
      #expect(origin.requests.map(\.connection) == [1, 1, 2])
      #expect(origin.connectionCount == 2)
      #expect(await origin.waitForOpenConnections(0))
      #expect(origin.connections.map(\.requestCount) == [2, 1] && origin.connections.allSatisfy { !$0.isOpen })
      #expect(origin.connections.map(\.clientPort) == [1, 2].map { origin.requests[$0].clientPort })
      let ports = origin.requests.map(\.clientPort)
      #expect(ports[0] == ports[1] && ports[1] != ports[2])
    }
  }

  @Test func `TLS offers HTTP/2 and HTTP/1.1, and the SNI is recorded`() async throws {
    let authority = try TestCertificateAuthority()
    let identity = try authority.issue(names: ["shop.test"])
    try await authority.withCAFile { ca async throws in
      try await withOrigin(
        .init(identity: identity), answering: { _ in OriginResponse(fields: [.setCookie: "a=1", .setCookie: "b=2"]) }
      ) {
        origin async throws in
        let route = "shop.test:\(origin.port):127.0.0.1"
        for flag in ["--http2", "--http1.1"] {
          let reply = try await Curl.run(
            flag, "--cacert", ca, "--resolve", route, origin.url("/x", host: "shop.test"))
          #expect(reply.status == 200)
          #expect(reply.head.lowercased().split(separator: "set-cookie: ").count == 3)
        }
        #expect(origin.requests.map(\.version) == [.http2, .http1])
        #expect(origin.requests.map(\.serverName) == ["shop.test", "shop.test"])
        #expect(origin.requests.map(\.host) == ["shop.test:\(origin.port)", "shop.test:\(origin.port)"])
        #expect(try await Curl.run("--cacert", ca, origin.url("/x")).exit == 60)
      }
    }
  }

  @Test func `a handler that throws ends the connection without an answer`() async throws {
    try await withOrigin(answering: { _ in throw CancellationError() }) { origin async throws in
      #expect(try await Curl.run(origin.url()).exit == 52)
      #expect(origin.requests.count == 1)
    }
  }

  @Test func `stopping ends what is under way, cancels its handler, and frees the port`() async throws {
    let (cancelled, continuation) = AsyncStream.makeStream(of: Void.self)
    let origin = try await FakeOrigin.start { _ in
      defer { continuation.finish() }
      // Ends by being cancelled, which is what is tested.
      try await Task.sleep(for: .seconds(3600))
      return OriginResponse()
    }
    async let reply = Curl.run(origin.url())
    #expect(await origin.waitForRequests())
    async let another = origin.waitForRequests(2)
    await origin.stop()
    await origin.stop()
    #expect(await another == false, "nobody waits for a server that has been stopped")
    for await _ in cancelled {}
    #expect(try await reply.exit == 52)
    #expect(origin.requests.count == 1 && origin.openConnectionCount == 0)
    #expect(try await Curl.run(origin.url()).exit == 7)
    let again = try await FakeOrigin.start(configuration: .init(port: origin.port))
    #expect(try await Curl.run(again.url()).status == 200)
    await again.stop()
  }

  @Test func `it listens on IPv6`() async throws {
    try await withOrigin(.init(address: .ipv6(high: 0, low: 1))) { origin async throws in
      #expect(origin.url("/") == "http://[::1]:\(origin.port)/")
      #expect(try await Curl.run(origin.url()).status == 200)
    }
  }
}
