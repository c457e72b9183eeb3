// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

/// Servers with several addresses, of which some are silent.
@Suite(.timeLimit(.minutes(1)))
struct CurlQueriesConnectingTests {
  private static let good = "127.0.0.1"

  /// A fixture whose endpoint has these addresses, of which the good one comes last; the others are silent.
  private func withSilent(
    _ addresses: [String], accepting accepts: Bool, plain: Bool = false,
    _ versions: [HTTPProtocolVersion] = [.http2, .http1],
    _ body: (_ fixture: ProviderFixture, _ silent: [SilentAddress]) async throws -> Void
  ) async throws {
    func run(_ fixture: ProviderFixture) async throws {
      let silent = try addresses.map {
        try #require(SilentAddress($0, port: fixture.server.port, accepts: accepts))
      }
      let url = try WebURL(fixture.server.url(host: ProviderFixture.host))
      let endpoint = HTTPEndpoint(url: url, addresses: silent.map(\.address) + [Sample.address(Self.good)])
      try await body(
        ProviderFixture(server: fixture.server, transport: fixture.transport, endpoint: endpoint), silent)
    }
    if plain {
      try await ProviderFixture.plain { try await run($0) }
    } else {
      try await ProviderFixture.secure(versions) { try await run($0) }
    }
  }

  @Test(arguments: [(["127.0.0.7"], true), (["127.0.0.7"], false), (["127.0.0.7", "127.0.0.8"], false)])
  func `a silent address holds the next one up for a moment`(_ addresses: [String], _ isPlain: Bool) async throws {
    try await withSilent(addresses, accepting: false, plain: isPlain) { fixture, _ async throws in
      // The kernel gives up after 3 s.
      #expect(try await fixture.send(timeout: .milliseconds(2_900)).address == Sample.address(Self.good))
    }
  }

  @Test func `an address that connects is the first for every further connection`() async throws {
    try await withSilent(["127.0.0.7", "127.0.0.8"], accepting: true) { fixture, silent async throws in
      let tasks = (0..<60).map { fixture.begin("/resolve?name=n\($0).flood.test") }
      for task in tasks { #expect(try await task.value.get().status.code == 200) }
      #expect(silent.map { $0.takeConnections() } == [1, 1] && fixture.server.connectionCount == 1)
      // On a busy machine its handshake may take so long that the next one is tried.
      var rounds = 0
      repeat {
        rounds += 1
        await fixture.server.closeConnections()
        #expect(try await fixture.send().status.code == 200)
      } while silent.map { $0.takeConnections() } != [0, 0] && rounds < 20
      #expect(rounds < 20)
    }
  }

  @Test func `requests that need a connection each all find the address that works`() async throws {
    try await withSilent(["127.0.0.7"], accepting: false, plain: true) { fixture, _ async throws in
      fixture.server.misbehave(.hold, times: 32)
      let tasks = (0..<100).map { fixture.begin("/resolve?name=n\($0).flood.test") }
      await fixture.server.waitForHeld(32)
      #expect(fixture.server.connectionCount == 32)
      fixture.server.release()
      for task in tasks { #expect(try await task.value.get().status.code == 200) }
      #expect(fixture.server.requests.count == 100 && fixture.server.connectionCount == 32)
    }
  }

  @Test func `the connection of a query that was cancelled is there for the next one, over HTTP/2`() async throws {
    try await withSilent(["127.0.0.7"], accepting: true) { fixture, silent async throws in
      let first = fixture.begin()
      #expect(await ProcessState.eventually { silent[0].hasConnection })
      first.cancel()
      #expect(await first.value.failure == .cancelled)
      await fixture.server.waitForConnections(1)
      #expect(try await fixture.send().address == Sample.address(Self.good))
      #expect(fixture.server.connectionCount == 1 && fixture.server.requests.count == 1)
      #expect(silent[0].takeConnections() == 1)
    }
  }

  @Test func `the connection of a query that was cancelled serves the next ones over HTTP/1.1, too`() async throws {
    try await withSilent(["127.0.0.7"], accepting: true, [.http1]) { fixture, silent async throws in
      let first = fixture.begin()
      #expect(await ProcessState.eventually { silent[0].hasConnection })
      first.cancel()
      #expect(await first.value.failure == .cancelled)
      try #require(await fixture.server.waitForRequests(1))
      // The next one opens its own if it comes before the reply to the first.
      repeat {
        #expect(try await fixture.send().address == Sample.address(Self.good))
      } while fixture.server.requests.last?.connection != 1 && fixture.server.openConnectionCount == 2
      #expect(fixture.server.requests.last?.connection == 1)
      #expect(fixture.server.connectionCount <= 2 && silent[0].takeConnections() == 1)
    }
  }

  @Test func `the connection of a query that was cancelled before it was answered serves the next ones over HTTP/1.1`()
    async throws
  {
    try await ProviderFixture.secure([.http1]) { fixture async throws in
      fixture.server.misbehave(.hold, times: 1)
      let first = fixture.begin()
      #expect(await fixture.server.waitForHeld(1))
      first.cancel()
      #expect(await first.value.failure == .cancelled)
      // Another one does not wait for it.
      #expect(try await fixture.send().status == .ok)
      fixture.server.release()
      repeat {
        #expect(try await fixture.send().status == .ok)
      } while fixture.server.requests.last?.connection != 1 && fixture.server.openConnectionCount == 2
      #expect(fixture.server.requests.last?.connection == 1 && fixture.server.connectionCount == 2)
    }
  }

  @Test func `an address that takes a request and never replies is the last one for the next`() async throws {
    try await withSilent(["127.0.0.7"], accepting: true, plain: true) { fixture, _ async throws in
      // Of a query whose time is over before the loop has begun with it nothing would be learnt.
      #expect(await fixture.failure(timeout: .milliseconds(400)) == .timedOut)
      #expect(try await fixture.send().address == Sample.address(Self.good))
    }
  }

  @Test func `the next address is tried when the certificate of the first is another's, and never asked`() async throws
  {
    try await ProviderFixture.secure { fixture async throws in
      let stranger = try await FakeProvider.start(
        records: ProviderFixture.records,
        configuration: .init(
          identity: try TestCertificateAuthority().issue(names: [ProviderFixture.host]),
          address: Sample.address("127.0.0.7"), port: fixture.server.port))
      var endpoint = fixture.endpoint
      endpoint.addresses = Sample.addresses("127.0.0.7", Self.good)
      let both = ProviderFixture(server: fixture.server, transport: fixture.transport, endpoint: endpoint)
      #expect(try await both.send().address == Sample.address(Self.good))
      await stranger.waitForConnections(1)
      #expect(stranger.requests.isEmpty)
      await stranger.stop()
    }
  }

  @Test
  func `requests that wait for a connection end when they are cancelled, when their time is over, and with the loop`()
    async throws
  {
    try await withSilent(["127.0.0.7", "127.0.0.8"], accepting: true) { fixture, silent async throws in
      var endpoint = fixture.endpoint
      endpoint.addresses = silent.map(\.address)
      let mute = ProviderFixture(server: fixture.server, transport: fixture.transport, endpoint: endpoint)
      let tasks = (0..<60).map { mute.begin("/resolve?name=n\($0).flood.test") }
      #expect(await mute.failure(timeout: .milliseconds(400)) == .timedOut)
      for task in tasks[..<30] { task.cancel() }
      for task in tasks[..<30] { #expect(await task.value.failure == .cancelled) }
      mute.transport.shutdown()
      for task in tasks[30...] { #expect(await task.value.failure == .shutDown) }
    }
  }
}
