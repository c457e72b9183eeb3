// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS

/// The transport against a server that can do everything wrong.
@Suite(.timeLimit(.minutes(4)))
struct CurlTransportTests {
  // MARK: Good requests

  @Test func `plain http is HTTP/1.1, and the reply has what DNS needs`() async throws {
    try await ProviderFixture.plain { fixture async throws in
      fixture.server.misbehave(.age(7), .cacheControl("max-age=9"))
      let reply = try await fixture.send(fields: [.accept: "application/dns-json"])
      #expect(reply.status.code == 200 && reply.contentType?.contains("json") == true)
      #expect(reply.age == "7" && reply.cacheControl == "max-age=9")
      #expect(reply.address == IPAddress("127.0.0.1") && JSONValue(reply.body)?.isObject == true)
      let request = try #require(fixture.server.requests.first)
      #expect(request.version == .http1 && request.field("Accept") == "application/dns-json")
      #expect(request.host == "127.0.0.1:\(fixture.server.port)" && request.name == "www.shop.test")
    }
  }

  @Test(arguments: [([HTTPProtocolVersion.http2, .http1], HTTPProtocolVersion.http2), ([.http1], .http1)])
  func `over TLS the server's best version is spoken, under the name`(
    _ offered: [HTTPProtocolVersion], _ spoken: HTTPProtocolVersion
  ) async throws {
    try await ProviderFixture.secure(offered) { fixture async throws in
      #expect(try await fixture.send().status.code == 200)
      let request = try #require(fixture.server.requests.first)
      #expect(request.version == spoken && request.serverName == "doh.test")
      #expect(request.host == "doh.test:\(fixture.server.port)")
    }
  }

  @Test func `a body goes out by POST, and a GET after it has none`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      let provider = MessageProvider(
        name: "doh", url: try WebURL(fixture.server.url("/dns-query", host: "doh.test")), method: .post)
      for _ in 0..<2 {
        let message = provider.request(for: .init("www.shop.test"), at: 0)
        let reply = try await fixture.transport.send(message, to: fixture.endpoint, timeout: .seconds(20))
        #expect(provider.outcome(of: reply, to: .init("www.shop.test")).summary == "192.0.2.1 60")
        try await fixture.send()
      }
      #expect(fixture.server.requests.map(\.method) == [.post, .get, .post, .get])
      #expect(fixture.server.requests.map(\.body.isEmpty) == [false, true, false, true])
      #expect(fixture.server.requests[1].field("Content-Type") == nil)
      #expect(fixture.server.connectionCount == 1)
    }
  }

  @Test func `two hundred requests at once share one connection, and fifty are in flight at most`()
    async throws
  {
    try await ProviderFixture.secure(streams: 128) { fixture async throws in
      fixture.server.misbehave(.hold)
      let tasks = (0..<200).map { fixture.begin("/resolve?name=n\($0).flood.test") }
      for round in 1...4 {
        await fixture.server.waitForHeld(50)
        #expect(fixture.server.requests.count == 50 * round)
        fixture.server.release()
      }
      for task in tasks { #expect(try await task.value.get().status.code == 200) }
      #expect(fixture.server.connectionCount == 1)
      #expect(fixture.server.requests.allSatisfy { $0.version == .http2 })
    }
  }

  @Test func `who came first is served first`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.hold, times: 50)
      let tasks = (0..<120).map { fixture.begin("/resolve?name=n\($0).flood.test") }
      await fixture.server.waitForHeld(50)
      #expect(Set(fixture.server.requests.compactMap(\.name)) == Set((0..<50).map { "n\($0).flood.test" }))
      fixture.server.release()
      for task in tasks { _ = try await task.value.get() }
      // Within a batch the wire has its own order; no request is overtaken by a whole pool of later ones.
      let order = fixture.server.requests.compactMap(\.name)
      for (place, name) in order.enumerated() {
        let number = try #require(Int(name.dropFirst().prefix { $0 != "." }))
        #expect(abs(number - place) < 50, "\(name) came as number \(place)")
      }
    }
  }

  @Test func `many responses at once are all received, though nothing comes after them`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.hold)
      for round in 0..<Sanitizer.volume(of: 10, atLeast: 2) {
        let tasks = (0..<200).map { fixture.begin("/resolve?name=n\($0).r\(round).flood.test") }
        for _ in 0..<4 {
          await fixture.server.waitForHeld(50)
          fixture.server.release()
        }
        for task in tasks { #expect(try await task.value.get().status.code == 200) }
      }
      #expect(fixture.server.connectionCount == 1)
    }
  }

  @Test(arguments: [1, 4, 32, 100])
  func `over HTTP/1.1 so many connections carry any number of requests, one at a time on each`(_ limit: Int)
    async throws
  {
    try await ProviderFixture.plain(connections: limit) { fixture async throws in
      fixture.server.misbehave(.hold, times: limit)
      let tasks = (0..<150).map { fixture.begin("/resolve?name=n\($0).flood.test") }
      // All of them stand before the first reply.
      await fixture.server.waitForHeld(limit)
      #expect(fixture.server.connectionCount == limit)
      fixture.server.release()
      for task in tasks { #expect(try await task.value.get().status.code == 200) }
      #expect(fixture.server.connectionCount == limit)
      #expect(fixture.server.requests.count == 150)
    }
  }

  @Test func `a server under TLS that speaks HTTP/1.1 alone gets as many, once it has answered`() async throws {
    try await ProviderFixture.secure([.http1]) { fixture async throws in
      try await fixture.send()
      fixture.server.misbehave(.hold, times: 32)
      let tasks = (0..<150).map { fixture.begin("/resolve?name=n\($0).flood.test") }
      await fixture.server.waitForHeld(32)
      #expect(fixture.server.connectionCount == 32)
      fixture.server.release()
      for task in tasks { #expect(try await task.value.get().status.code == 200) }
      #expect(fixture.server.connectionCount == 32)
    }
  }

  @Test func `a change of the limit holds from the next request on`() async throws {
    try await ProviderFixture.plain(connections: 2) { fixture async throws in
      try await fixture.send()
      fixture.transport.update(nil, connections: 5)
      fixture.server.misbehave(.hold, times: 5)
      let tasks = (0..<20).map { fixture.begin("/resolve?name=n\($0).flood.test") }
      await fixture.server.waitForHeld(5)
      // Beside the one from before.
      #expect(fixture.server.connectionCount == 6)
      fixture.server.release()
      for task in tasks { #expect(try await task.value.get().status.code == 200) }
    }
  }

  // MARK: Addresses

  @Test func `the next address is tried when the first refuses`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      var endpoint = fixture.endpoint
      endpoint.addresses = [.ipv4(0x7F00_0002), .ipv6(high: 0, low: 1), .ipv4(0x7F00_0001)]
      let other = ProviderFixture(server: fixture.server, transport: fixture.transport, endpoint: endpoint)
      let reply = try await other.send()
      #expect(reply.address == IPAddress("127.0.0.1") && fixture.server.connectionCount == 1)
    }
  }

  @Test func `without a connection there is no reply`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      var endpoint = fixture.endpoint
      endpoint.addresses = [.ipv4(0x7F00_0002)]
      let refused = ProviderFixture(server: fixture.server, transport: fixture.transport, endpoint: endpoint)
      guard case .connect = await refused.failure() else {
        Issue.record("connected")
        return
      }
      endpoint.addresses = []
      let nowhere = ProviderFixture(server: fixture.server, transport: fixture.transport, endpoint: endpoint)
      #expect(await nowhere.failure() == .connect("no address is known for doh.test"))
      #expect(fixture.server.connectionCount == 0)
    }
  }

  @Test func `one origin with other addresses is asked at those`() async throws {
    try await ProviderFixture.plain { fixture async throws in
      let url = try WebURL(fixture.server.url(host: "doh.test"))
      for addresses in [
        [IPAddress.ipv4(0x7F00_0002)], [.ipv4(0x7F00_0001)], [.ipv4(0x7F00_0002), .ipv4(0x7F00_0001)],
      ] {
        let other = ProviderFixture(
          server: fixture.server, transport: fixture.transport,
          endpoint: HTTPEndpoint(url: url, addresses: addresses))
        #expect(await (other.failure() == nil) == addresses.contains(.ipv4(0x7F00_0001)))
      }
    }
  }

  @Test func `one origin at two addresses is two servers, each with connections of its own`() async throws {
    let authority = try TestCertificateAuthority()
    var configuration = FakeProviderConfiguration(identity: try authority.issue(names: [ProviderFixture.host]))
    var servers: [FakeProvider] = []
    for address in ["127.0.0.1", "127.0.0.2"] {
      configuration.address = Sample.address(address)
      servers.append(try await FakeProvider.start(records: ProviderFixture.records, configuration: configuration))
      configuration.port = servers[0].port
    }
    try await authority.withCAFile { path async throws in
      let transport = try CurlTransport(trust: TrustStore(privateAuthorities: [path], environment: [:]))
      for path in ["resolve", "dns-query", "resolve"] {
        for address in ["127.0.0.1", "127.0.0.2"] {
          let url = try WebURL("https://\(ProviderFixture.host):\(servers[0].port)/\(path)")
          let endpoint = HTTPEndpoint(url: url, addresses: [Sample.address(address)])
          let fixture = ProviderFixture(server: servers[0], transport: transport, endpoint: endpoint)
          #expect(try await fixture.send().address == Sample.address(address))
        }
      }
      transport.shutdown()
    }
    for server in servers {
      #expect(server.requests.count == 3 && server.connectionCount == 1)
      await server.stop()
    }
  }

  @Test func `a request for another origin than the endpoint's is refused, since nobody looked its host up`()
    async throws
  {
    try await ProviderFixture.plain { fixture async throws in
      let port = fixture.server.port
      for url in [
        "http://localhost:\(port)/", "http://127.0.0.1:\(port)0/", "http://127.0.0.1:\(port)@localhost/",
        "localhost",
        "http://127.0.0.1:\(port)", "https://127.0.0.1:\(port)/", "",
      ] {
        do throws(HTTPTransportError) {
          _ = try await fixture.transport.send(
            HTTPMessage(url: url), to: fixture.endpoint, timeout: .seconds(5))
          Issue.record("\(url) was sent")
        } catch {
          #expect(error == .invalidRequest("its URL has another origin than \(fixture.server.baseURL)"))
        }
      }
      #expect(fixture.server.connectionCount == 0)
    }
  }

  // MARK: What DNS calls must not do

  @Test(arguments: [301, 302, 303, 307, 308])
  func `a redirect is a reply, and nobody follows it`(_ status: Int) async throws {
    try await ProviderFixture.plain { fixture async throws in
      fixture.server.misbehave(.redirect(to: fixture.server.url("/resolve?name=other.test"), status: status))
      #expect(try await fixture.send().status.code == status)
      #expect(fixture.server.requests.count == 1)
    }
  }

  @Test func `a cookie that is set is never sent`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.fields([.setCookie: "track=1; Path=/"]))
      for _ in 0..<3 { try await fixture.send() }
      #expect(fixture.server.requests.allSatisfy { $0.field("Cookie") == nil })
    }
  }

  @Test func `nothing is added but what the protocol needs`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      try await fixture.send(fields: [.accept: "application/dns-json"])
      let names = try #require(fixture.server.requests.first).fields.map { $0.name.canonicalName }
      #expect(Set(names).isSubset(of: ["host", "accept"]), "\(names)")
    }
  }

  @Test(arguments: ["http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"])
  func `proxies of the environment are ignored`(_ variable: String) async throws {
    // In a process of its own: the environment belongs to all threads.
    await #expect(processExitsWith: .success) { [variable] in
      try await ProviderFixture.plain { proxy async throws in
        unsafe setenv(variable, proxy.server.baseURL, 1)
        try await ProviderFixture.plain { fixture async throws in
          #expect(try await fixture.send().status.code == 200)
          #expect(fixture.server.requests.count == 1)
        }
        try await ProviderFixture.secure { fixture async throws in
          #expect(try await fixture.send().status.code == 200)
        }
        #expect(proxy.server.connectionCount == 0)
      }
    }
  }
}

extension Result {
  /// The error, if it is one.
  var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
