// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// A server that says something on connections that wait for their next request.
@Suite(.timeLimit(.minutes(1)))
struct UnaskedBytesTests {
  @Test(arguments: [
    // A second response, the answer to silence (RFC 9110 §15.5.9), and the body of a response that has none.
    ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother"),
    (
      "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
      "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    ),
    ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "other"),
    ("GET", "HTTP/1.1 204 No Content\r\n\r\n", "{}"),
  ])
  func `what comes unasked is no answer to the next request`(
    _ method: String, _ response: String, _ unasked: String
  ) async throws {
    let server = try #require(TalkativeServer(response, then: unasked))
    let client = try ClientSample.client()
    let url = try WebURL("http://shop.test:\(server.port)/")
    let first = try await client.execute(HTTPRequest(method: #require(.init(method)), url: url))
    _ = try await first.body.text()
    // It lies in the connection's buffer by then.
    await server.speak()
    let second = try await client.execute(HTTPRequest(method: .post, url: url), body: .text("order"))
    #expect(try await second.body.text() == "mine" && second.status == .ok)
    #expect(!second.connection.isReused)
    await client.shutdown()
    server.stop()
  }

  // libcurl reads a body to its length: what its last TLS record has beyond that stays with OpenSSL, and so does the
  // next record where OpenSSL reads ahead. A record has 16 KiB at most (RFC 8446 §5.1).
  @Test(arguments: [20_000, 16_384])
  func `nor is it in one TLS record with the end of a body, or in the next one`(_ length: Int) async throws {
    let authority = try TestCertificateAuthority()
    let file = try authority.makeFile()
    let configuration = FakeOriginConfiguration(
      identity: try authority.issue(names: ["shop.test"]), httpVersions: [.http1])
    let body = String(repeating: "a", count: length)
    let unasked = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother"
    let origin = try await FakeOrigin.start(configuration: configuration) { request in
      guard request.path == "/first" else { return OriginResponse(body: "mine") }
      return OriginResponse(length: length) { try await $0.write(body + unasked) }
    }
    let client = try ClientSample.client {
      $0.trust = TrustStore(privateAuthorities: [file.path], environment: [:])
    }
    let first = try await client.get(origin.url("/first", host: "shop.test"))
    #expect(try await first.body.text() == body)
    let second = try await client.post(origin.url("/", host: "shop.test"), body: .text("order"))
    #expect(try await second.body.text() == "mine" && !second.connection.isReused)
    await client.shutdown()
    await origin.stop()
    withExtendedLifetime(file) {}
  }

  // What comes together with a body is there before anybody can have noticed that the connection is idle.
  @Test func `nor is it behind a body where other requests wait for the connection`() async throws {
    let body = String(repeating: "a", count: 20_000)
    let origin = try await FakeOrigin.start { request in
      guard request.path == "/long" else { return OriginResponse(body: request.path) }
      let unasked = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother"
      return OriginResponse(length: body.utf8.count) { try await $0.write(body + unasked) }
    }
    let client = try ClientSample.client { $0.connectionsPerOrigin = 4 }
    var tasks: [Task<String, any Error>] = []
    let paths = (0..<40).map { $0.isMultiple(of: 2) ? "/long" : "/\($0)" }
    for path in paths {
      let request = try ClientSample.get(origin.url(path, host: "shop.test"))
      tasks.append(Task.immediate { try await client.execute(request).body.text() })
    }
    for (path, task) in zip(paths, tasks) {
      let text = try await task.value
      #expect(text == (path == "/long" ? body : path))
    }
    await client.shutdown()
    await origin.stop()
  }

  @Test
  func `nor is it while another response waits for its reader, whose connection stays`() async throws {
    let server = try #require(
      TalkativeServer(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", then: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother",
        beside: 32 << 20))
    let client = try ClientSample.client { $0.bufferSize = 16 * 1024 }
    let url = try WebURL("http://shop.test:\(server.port)/")
    let long = try await client.execute(HTTPRequest(method: .get, url: url))
    var pieces = long.body.makeAsyncIterator()
    var count = try #require(await pieces.next()).count
    // By now the server cannot write on: nobody reads.
    await server.isStuck()
    _ = try await client.execute(HTTPRequest(method: .get, url: url)).body.text()
    await server.speak()
    let second = try await client.execute(HTTPRequest(method: .post, url: url), body: .text("order"))
    #expect(try await second.body.text() == "mine" && !second.connection.isReused)
    while let piece = try await pieces.next() { count += piece.count }
    #expect(count == 32 << 20)
    await client.shutdown()
    server.stop()
  }

  @Test
  func `what comes unasked while an upload goes on behind its response ends the connection with the upload`()
    async throws
  {
    let server = try #require(
      TalkativeServer(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", then: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother"))
    let client = try ClientSample.client()
    let url = "http://shop.test:\(server.port)/"
    let (pieces, source) = AsyncStream.makeStream(of: [UInt8].self)
    source.yield([1])
    let first = try await client.post(url, body: .stream(pieces))
    await server.speak()
    // Another request's time is over before the body goes on.
    let silent = try #require(TalkativeServer("", then: ""))
    let options = RequestOptions(timeouts: RequestTimeouts(firstByte: .milliseconds(200)))
    await #expect(throws: DirectDNSError.self) {
      try await client.execute(ClientSample.get("http://shop.test:\(silent.port)/"), options: options)
    }
    source.finish()
    #expect(try await first.body.text() == "ok")
    let second = try await client.post(url, body: .text("order"))
    #expect(try await second.body.text() == "mine" && !second.connection.isReused)
    await client.shutdown()
    await silent.speak()
    silent.stop()
    server.stop()
  }

  @Test
  func `what comes unasked from a provider is no answer about the next name`() async throws {
    // A format whose replies do not say which name they are about.
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n"
    let server = try #require(
      TalkativeServer(head + "192.0.2.10,600", then: head + "192.0.2.66,600", last: head + "192.0.2.20,600"))
    var configuration = ResolverConfiguration(providers: [
      try ProviderConfiguration("dnspod+http://127.0.0.1:\(server.port)/d")
    ])
    configuration.families = .ipv4
    configuration.usesSystemDNS = false
    let resolver = try DirectResolver(configuration)
    #expect(try await resolver.resolve("a.test").addresses.map(\.description) == ["192.0.2.10"])
    await server.speak()
    #expect(try await resolver.resolve("b.test").addresses.map(\.description) == ["192.0.2.20"])
    resolver.shutdown()
    server.stop()
  }

  @Test func `nor is it in one TLS record with the provider's reply`() async throws {
    let authority = try TestCertificateAuthority()
    let file = try authority.makeFile()
    let identity = try authority.issue(names: [], addresses: [.ipv4(0x7F00_0001)])
    let server = try await FakeOrigin.start(
      configuration: FakeOriginConfiguration(identity: identity, httpVersions: [.http1])
    ) { request in
      guard request.target.contains("a.test") else { return OriginResponse(body: "192.0.2.20,600") }
      let unasked = "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n192.0.2.66,600"
      return OriginResponse(length: 14) { try await $0.write("192.0.2.10,600" + unasked) }
    }
    var configuration = ResolverConfiguration(providers: [
      try ProviderConfiguration("dnspod+https://127.0.0.1:\(server.port)/d")
    ])
    configuration.families = .ipv4
    configuration.usesSystemDNS = false
    configuration.trust = TrustStore(privateAuthorities: [file.path], environment: [:])
    let resolver = try DirectResolver(configuration)
    #expect(try await resolver.resolve("a.test").addresses.map(\.description) == ["192.0.2.10"])
    #expect(try await resolver.resolve("b.test").addresses.map(\.description) == ["192.0.2.20"])
    resolver.shutdown()
    await server.stop()
    withExtendedLifetime(file) {}
  }
}
