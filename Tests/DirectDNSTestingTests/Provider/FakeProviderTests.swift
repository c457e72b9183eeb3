// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(1)))
struct FakeProviderTests {
  private let path = "/resolve?name=www.example.com&type=AAAA"

  @Test func `a request is recorded as it came`() async throws {
    try await withProvider { server async throws in
      _ = try await Curl.run("-H", "X-Test: 1", server.url(path + "&extra=a%20b"))
      let request = try #require(server.requests.first)
      #expect(request.number == 1 && request.connection == 1)
      #expect(request.version == .http1 && request.serverName == nil)
      #expect(request.method == .get && request.path == "/resolve")
      #expect(request.query.map(\.name) == ["name", "type", "extra"])
      #expect(request.value("extra") == "a b")
      #expect(request.field("x-test") == "1")
      #expect(request.host == "127.0.0.1:\(server.port)")
      #expect(request.name == "www.example.com" && request.type == .aaaa)
    }
  }

  @Test(arguments: FakeProvider.Format.allCases)
  func `the server is a resolver's provider in every format`(_ format: FakeProvider.Format) async throws {
    let server = try await FakeProvider.start(records: RecordTable { $0.add("www.example.test", "192.0.2.1") })
    var configuration = ResolverConfiguration(providers: [try server.providerConfiguration(format)])
    configuration.usesSystemDNS = false
    let resolver = try DirectResolver(configuration)
    let answer = try await resolver.resolve("www.example.test")
    #expect(answer.addresses.map(\.description) == ["192.0.2.1"])
    resolver.shutdown()
    await server.stop()
  }

  @Test func `TLS offers HTTP/2 and HTTP/1.1, and the SNI is recorded`() async throws {
    try await withSecureProvider { server, ca async throws in
      let url = server.url(path, host: "doh.test")
      let route = "doh.test:\(server.port):127.0.0.1"
      for flag in ["--http2", "--http1.1"] {
        #expect(try await Curl.run(flag, "--cacert", ca, "--resolve", route, url).status == 200)
      }
      #expect(try await Curl.run("--cacert", ca, server.url(path)).status == 200)
      #expect(server.requests.map(\.version) == [.http2, .http1, .http2])
      #expect(server.requests.map(\.serverName) == ["doh.test", "doh.test", nil])
      #expect(server.requests.first?.host == "doh.test:\(server.port)")
    }
  }

  @Test(arguments: HTTPProtocolVersion.allCases)
  func `only the versions offered are spoken`(version: HTTPProtocolVersion) async throws {
    try await withSecureProvider(.init(httpVersions: [version])) { server, ca async throws in
      #expect(try await Curl.run("--cacert", ca, server.url(path)).status == 200)
      #expect(server.requests.map(\.version) == [version])
    }
  }

  @Test func `it listens on IPv6`() async throws {
    try await withProvider(.init(address: .ipv6(high: 0, low: 1))) { server async throws in
      #expect(server.baseURL == "http://[::1]:\(server.port)")
      #expect(try await Curl.run(server.url(path)).status == 200)
    }
  }

  @Test func `connections are counted and reused`() async throws {
    try await withProvider { server async throws in
      _ = try await Curl.run(server.url(path), server.url(path))
      #expect(server.requests.map(\.connection) == [1, 1])
      _ = try await Curl.run(server.url(path))
      #expect(server.connectionCount == 2)
      #expect(await server.waitForOpenConnections(0))
    }
  }

  @Test func `records can be changed while it runs`() async throws {
    try await withProvider { server async throws in
      server.records.add("new.example.com", "192.0.2.9")
      let reply = try await Curl.run(server.url("/resolve?name=new.example.com"))
      #expect(reply.text.contains("192.0.2.9"))
    }
  }

  @Test func `a stopped server refuses, and can be started again on its port`() async throws {
    let first = try await FakeProvider.start(records: .sample)
    let url = first.url(path)
    #expect(try await Curl.run(url).status == 200)
    await first.stop()
    await first.stop()
    #expect(try await Curl.run(url).exit == 7)
    try await withProvider(.init(port: first.port)) { second async throws in
      #expect(second.port == first.port)
      #expect(try await Curl.run(url).status == 200)
    }
  }

  @Test func `stopping ends exchanges that are under way`() async throws {
    try await withSecureProvider { server, ca async throws in
      server.misbehave(.hang)
      async let reply = Curl.run("--cacert", ca, server.url(path))
      await server.waitForRequests()
      await server.stop()
      #expect(server.openConnectionCount == 0)
      #expect(try await reply.exit != 0)
    }
  }

  @Test func `closing the connections leaves the listener alone`() async throws {
    try await withProvider { server async throws in
      server.misbehave(.hang, times: 1)
      async let reply = Curl.run(server.url(path))
      await server.waitForRequests()
      await server.closeConnections()
      #expect(try await reply.exit == 52)
      #expect(try await Curl.run(server.url(path)).status == 200)
    }
  }

  @Test func `the number of concurrent streams is announced`() async throws {
    try await withSecureProvider(.init(maxConcurrentStreams: 7)) { server, _ async throws in
      let frames = try await HTTP2Wire.get(path, port: server.port, until: HTTP2Wire.settings)
      let settings = try #require(frames.first).payload.chunked(6).map(Array.init)
      #expect(settings.contains([0, 3, 0, 0, 0, 7]))
    }
  }

  @Test func `an unknown path is not found`() async throws {
    try await withProvider { server async throws in
      let reply = try await Curl.run(server.url("/other"))
      #expect(reply.status == 404)
      #expect(server.requests.first?.questions.isEmpty == true)
    }
  }
}
