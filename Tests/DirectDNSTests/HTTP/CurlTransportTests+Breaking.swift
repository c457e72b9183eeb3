// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS

/// Servers that break, and the end of the transport.
extension CurlTransportTests {
  // MARK: Servers that break

  @Test(arguments: [Misbehaviour.close, .reset, .truncatedBody, .goAway(processed: true)])
  func `a connection that breaks ends its requests, and the next one opens another`(_ what: Misbehaviour)
    async throws
  {
    for versions in [[HTTPProtocolVersion.http2], [.http1]] {
      try await ProviderFixture.secure(versions) { fixture async throws in
        fixture.server.misbehave(what)
        guard case .connectionLost = await fixture.failure() else {
          Issue.record("not lost over \(versions)")
          return
        }
        fixture.server.behave()
        #expect(try await fixture.send().status.code == 200)
      }
    }
  }

  @Test(arguments: [Misbehaviour.refuseStream, .goAway(processed: false)])
  func `a request that was refused unprocessed is sent again`(_ what: Misbehaviour) async throws {
    for isFirst in [true, false] {
      try await ProviderFixture.secure { fixture async throws in
        if !isFirst { try await fixture.send() }
        fixture.server.misbehave(what, times: 1)
        #expect(try await fixture.send().status.code == 200)
        #expect(fixture.server.requests.count == (isFirst ? 2 : 3))
      }
    }
  }

  @Test func `of a reply that broke off since its server wants HTTP/1.1, nothing is in the one that comes so`()
    async throws
  {
    let authority = try TestCertificateAuthority()
    let identity = try authority.issue(names: [ProviderFixture.host])
    let origin = try await FakeOrigin.start(configuration: FakeOriginConfiguration(identity: identity)) { request in
      guard request.version == .http2 else { return OriginResponse(body: "whole") }
      return OriginResponse(length: 9) { body in
        try await body.write("part")
        throw OriginFault.requireHTTP1
      }
    }
    try await authority.withCAFile { path async throws in
      let transport = try CurlTransport(trust: TrustStore(privateAuthorities: [path], environment: [:]))
      let endpoint = HTTPEndpoint(
        url: try WebURL(origin.url("/", host: ProviderFixture.host)), addresses: [.ipv4(0x7F00_0001)])
      let message = HTTPMessage(url: "\(endpoint.origin)/", fields: [:])
      let reply = try await transport.send(message, to: endpoint, timeout: .seconds(20))
      #expect(reply.status.code == 200 && reply.body == Array("whole".utf8))
      #expect(origin.requests.map(\.version) == [.http2, .http1])
      transport.shutdown()
    }
    await origin.stop()
  }

  @Test(arguments: [Misbehaviour.refuseStream, .goAway(processed: false)])
  func `a server that refuses every stream is given up`(_ what: Misbehaviour) async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(what)
      guard case .connectionLost = await fixture.failure() else {
        Issue.record("not lost")
        return
      }
      // libcurl gives up after the sixth time, twice.
      #expect(fixture.server.requests.count <= 12)
      fixture.server.behave()
      #expect(try await fixture.send().status.code == 200)
    }
  }

  @Test func `an idle connection that the server closed costs no request`() async throws {
    for versions in [[HTTPProtocolVersion.http2], [.http1]] {
      try await ProviderFixture.secure(versions) { fixture async throws in
        for round in 1...3 {
          #expect(try await fixture.send().status.code == 200)
          #expect(fixture.server.connectionCount == round)
          await fixture.server.closeConnections()
        }
      }
    }
  }

  @Test func `a server killed in mid-flight ends its requests, and is found again on its port`() async throws {
    let authority = try TestCertificateAuthority()
    var configuration = FakeProviderConfiguration(identity: try authority.issue(names: ["doh.test"]))
    let first = try await FakeProvider.start(records: ProviderFixture.records, configuration: configuration)
    configuration.port = first.port
    try await authority.withCAFile { path async throws in
      let transport = try CurlTransport(trust: TrustStore(privateAuthorities: [path], environment: [:]))
      let endpoint = HTTPEndpoint(
        url: try WebURL(first.url(host: "doh.test")), addresses: [.ipv4(0x7F00_0001)])
      let fixture = ProviderFixture(server: first, transport: transport, endpoint: endpoint)
      first.misbehave(.hold)
      let tasks = (0..<80).map { fixture.begin("/resolve?name=n\($0).flood.test") }
      await first.waitForHeld(50)
      await first.stop()
      for task in tasks {
        switch await task.value.failure {
        // One that was just connecting again may have come as far as TLS.
        case .connectionLost, .connect, .tls: break
        case let other: Issue.record("\(String(describing: other))")
        }
      }
      guard case .connect = await fixture.failure() else {
        Issue.record("connected to nobody")
        return
      }
      let second = try await FakeProvider.start(
        records: ProviderFixture.records, configuration: configuration)
      #expect(try await fixture.send().status.code == 200)
      #expect(second.requests.count == 1)
      transport.shutdown()
      await second.stop()
    }
  }

  @Test func `after a network change new connections are used, not only once`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      try await fixture.send()
      fixture.transport.networkDidChange()
      for _ in 0..<4 { try await fixture.send() }
      #expect(fixture.server.requests.map(\.connection) == [1, 2, 2, 2, 2])
    }
  }

  /// Which requests share a request's connections.
  private func scope(_ transport: CurlTransport, _ url: String, _ addresses: [String]) throws -> Int {
    let endpoint = HTTPEndpoint(url: try WebURL(url), addresses: addresses.map(Sample.address))
    return try transport.request(HTTPMessage(url: url, fields: [:]), endpoint, .seconds(1)).route.scope
  }

  @Test func `of an origin whose addresses keep changing the last sixteen lists are kept, and of others all`() throws {
    let transport = try CurlTransport()
    func scope(_ host: String, _ number: Int) throws -> Int {
      try self.scope(transport, "https://\(host)/", ["192.0.2.\(number)"])
    }
    let other = try scope("other.test", 0)
    let first = try (0..<16).map { try scope("dns.test", $0) }
    #expect(try (0..<16).map { try scope("dns.test", $0) } == first && Set(first).count == 16)
    _ = try scope("dns.test", 16)
    #expect(try (1..<16).map { try scope("dns.test", $0) } == Array(first.dropFirst()))
    #expect(try scope("dns.test", 0) != first[0])
    #expect(try scope("other.test", 0) == other)
    transport.shutdown()
  }

  @Test func `no two origins, lists of addresses or networks share connections, and the paths of an origin do`() throws
  {
    let transport = try CurlTransport()
    func scope(_ url: String, _ addresses: String...) throws -> Int { try self.scope(transport, url, addresses) }
    func scopes() throws -> [Int] {
      [
        try scope("http://192.0.2.1:8053/resolve"), try scope("http://192.0.2.2:8053/resolve"),
        try scope("https://dns.test/resolve", "192.0.2.1"), try scope("https://dns.test/resolve", "192.0.2.2"),
        try scope("https://dns.test/resolve", "192.0.2.1", "192.0.2.2"),
        try scope("https://dns.test:444/", "192.0.2.1"),
      ]
    }
    let first = try scopes()
    #expect(Set(first).count == 6)
    #expect(try scopes() == first)
    #expect(try scope("https://dns.test/dns-query", "192.0.2.1") == first[2])
    transport.networkDidChange()
    #expect(Set(first).isDisjoint(with: try scopes()))
    transport.shutdown()
  }

  // MARK: The end

  @Test func `shutting down ends what runs and what waits, and nothing can be sent afterwards`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.hang)
      let tasks = (0..<60).map { fixture.begin("/resolve?name=n\($0).flood.test") }
      await fixture.server.waitForRequests(50)
      fixture.transport.shutdown()
      for task in tasks { #expect(await task.value.failure == .shutDown) }
      #expect(await fixture.failure() == .shutDown)
      fixture.transport.shutdown()
      fixture.transport.networkDidChange()
      #expect(await fixture.server.waitForOpenConnections(0))
    }
  }

  @Test func `a transport that was shut down before it began sends nothing`() async throws {
    try await ProviderFixture.plain { fixture async throws in
      fixture.transport.shutdown()
      #expect(await fixture.failure() == .shutDown)
      #expect(fixture.server.connectionCount == 0)
    }
  }

  @Test func `neither shutting down nor dropping a transport leaves a thread or a descriptor`() async throws {
    // In a process of its own, where nothing else opens descriptors.
    await #expect(processExitsWith: .success) {
      let authority = try TestCertificateAuthority()
      let server = try await FakeProvider.start(
        records: ProviderFixture.records,
        configuration: .init(identity: try authority.issue(names: ["doh.test"])))
      let file = try authority.makeFile()
      let endpoint = HTTPEndpoint(
        url: try WebURL(server.url(host: "doh.test")), addresses: [.ipv4(0x7F00_0001)])
      func round(shutsDown: Bool) async throws {
        let transport = try CurlTransport(
          trust: TrustStore(privateAuthorities: [file.path], environment: [:]))
        let fixture = ProviderFixture(server: server, transport: transport, endpoint: endpoint)
        _ = try await fixture.send()
        server.misbehave(.hang)
        let cancelled = fixture.begin()
        let ended = fixture.begin("/resolve?name=other.flood.test", timeout: .milliseconds(30))
        cancelled.cancel()
        _ = await cancelled.value
        _ = await ended.value
        server.behave()
        if shutsDown { transport.shutdown() }
      }
      try await round(shutsDown: true)
      #expect(await server.waitForOpenConnections(0))
      // The first transport may still be on its way out: room for one, where twenty would be a leak.
      let descriptors = ProcessState.descriptors + 4
      let threads = ProcessState.threads + 4
      for number in 0..<20 { try await round(shutsDown: number.isMultiple(of: 2)) }
      #expect(await ProcessState.eventually { server.openConnectionCount == 0 })
      #expect(
        await ProcessState.eventually { ProcessState.descriptors <= descriptors },
        "\(ProcessState.descriptors)")
      #expect(
        await ProcessState.eventually { ProcessState.threads <= threads }, "\(ProcessState.threads)")
    }
  }
}
