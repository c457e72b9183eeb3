// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

/// RFC 8305, over real sockets: which address a request gets when several are known.
@Suite(.timeLimit(.minutes(1)))
struct HappyEyeballsTests {
  @Test func `after a refusal the next address is tried at once, and every refused one is told`() async throws {
    let origin = try await FakeOrigin.start()
    // Only a refusal can bring the next one.
    let client = try ClientSample.client(names: ["shop.test": ["::1", "127.0.0.2", "127.0.0.1"]])
    let log = RequestLog()
    let response = try await client.execute(
      ClientSample.get(origin.url("/", host: "shop.test")), options: log.options)
    #expect(response.connection.remoteAddress == IPAddress("127.0.0.1"))
    #expect(log.dialled.count >= 2 && log.dialled.last == "127.0.0.1" && log.failed == log.dialled.dropLast())
    #expect(response.connection.failedAddresses.map(\.description) == log.failed)
    await client.shutdown(within: .zero)
    await origin.stop()
  }

  @Test func `families are tried in turn`() async throws {
    let addresses = ["::1", "::ffff:127.0.0.2", "127.0.0.3", "127.0.0.4"]
    let client = try ClientSample.client(names: ["shop.test": addresses])
    let log = RequestLog()
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.execute(ClientSample.get("http://shop.test:1/"), options: log.options)
    }
    #expect(error?.code == .connectFailed && Set(log.dialled) == Set(addresses))
    #expect(error?.attempts.map(\.server) == log.dialled)
    let isSix = log.dialled.map { $0.contains(":") }
    #expect(zip(isSix, isSix.dropFirst()).allSatisfy { $0 != $1 }, "\(log.dialled)")
    await client.shutdown()
  }

  @Test func `SNI, Host and the certificate's name stay when the second address answers`() async throws {
    let authority = try TestCertificateAuthority()
    let origin = try await FakeOrigin.start(
      configuration: FakeOriginConfiguration(identity: try authority.issue(names: ["shop.test"])))
    let file = try authority.makeFile()
    let client = try ClientSample.client(names: ["shop.test": ["127.0.0.2", "127.0.0.1"]]) {
      $0.trust = TrustStore(privateAuthorities: [file.path], environment: [:])
    }
    let response = try await client.execute(ClientSample.get(origin.url("/", host: "shop.test")))
    #expect(response.connection.failedAddresses.map(\.description) == ["127.0.0.2"])
    #expect(origin.requests.map(\.serverName) == ["shop.test"])
    #expect(origin.requests.map(\.host) == ["shop.test:\(origin.port)"])
    await client.shutdown(within: .zero)
    await origin.stop()
  }

  @Test(.enabled(if: BlackHole.missing == nil))
  func `an address that swallows packets is replaced after 250 ms`() async throws {
    let hole = try await BlackHole.start(address: .ipv4(0x7F00_0002))
    let origin = try await FakeOrigin.start(configuration: FakeOriginConfiguration(port: hole.port))
    let client = try ClientSample.client(names: ["shop.test": ["127.0.0.2", "127.0.0.1"]]) {
      $0.attemptDelay = DirectClientConfiguration().attemptDelay
    }
    let log = RequestLog()
    let began = ContinuousClock.now
    let response = try await client.execute(
      ClientSample.get(origin.url("/", host: "shop.test")), options: log.options)
    let took = ContinuousClock.now - began
    #expect(response.connection.remoteAddress == IPAddress("127.0.0.1"))
    #expect(log.dialled == ["127.0.0.2", "127.0.0.1"] && log.failed.isEmpty)
    #expect(took >= .milliseconds(250) && took < .seconds(4), "\(took)")
    _ = try await response.body.text()
    await client.shutdown()
    await hole.stop()
    await origin.stop()
  }

  @Test func `the slower attempt is closed as soon as another one stands`() async throws {
    let authority = try TestCertificateAuthority()
    // TCP connects at once; a server that says nothing to TLS is not connected yet.
    let origins = try await OriginGroup.start(
      ["127.0.0.2", "127.0.0.1"], identity: try authority.issue(names: ["shop.test"]))
    origins[0].isMute = true
    let file = try authority.makeFile()
    let client = try ClientSample.client(names: ["shop.test": ["127.0.0.2", "127.0.0.1"]]) {
      $0.trust = TrustStore(privateAuthorities: [file.path], environment: [:])
      $0.attemptDelay = .milliseconds(20)
    }
    let response = try await client.execute(ClientSample.get(origins[1].url("/", host: "shop.test")))
    #expect(response.connection.remoteAddress == IPAddress("127.0.0.1"))
    await origins[0].waitForConnections()
    #expect(await origins[0].waitForOpenConnections(0))
    #expect(origins[0].connectionCount == 1 && origins[0].requests.isEmpty)
    #expect(origins[1].openConnectionCount == 1 && origins[1].requests.count == 1)
    await client.shutdown(within: .zero)
    for origin in origins { await origin.stop() }
  }

  @Test(.enabled(if: BlackHole.missing == nil))
  func `the time to connect is one for all attempts`() async throws {
    let first = try await BlackHole.start(address: .ipv4(0x7F00_0003))
    let second = try await BlackHole.start(address: .ipv4(0x7F00_0002), port: first.port)
    let client = try ClientSample.client(names: ["shop.test": ["127.0.0.3", "127.0.0.2"]]) {
      $0.timeouts.connect = .milliseconds(750)
      $0.attemptDelay = .milliseconds(100)
    }
    let began = ContinuousClock.now
    let log = RequestLog()
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.execute(ClientSample.get("http://shop.test:\(first.port)/"), options: log.options)
    }
    let took = ContinuousClock.now - began
    #expect(error?.code == .timedOut && error?.message.contains("0.75") == true)
    #expect(error?.attempts.map(\.server) == ["127.0.0.3", "127.0.0.2"] && log.dialled == log.failed)
    #expect(took >= .milliseconds(750) && took < .seconds(4), "\(took)")
    await client.shutdown()
    await first.stop()
    await second.stop()
  }

  // MARK: Which addresses are known, and when

  enum Late: String, CaseIterable { case aaaa, a }

  @Test(arguments: Late.allCases) func `a family that answers late is not waited for`(_ late: Late) async throws {
    let origins = try await OriginGroup.start(["127.0.0.1", "::1"])
    let fixture = try await ClientFixture(
      records: RecordTable { $0.add("www.shop.test", "127.0.0.1", "::1") })
    let type: DNSRecordType = late == .a ? .a : .aaaa
    fixture.provider.misbehave(.hold, when: { $0.type == type })
    let response = try await fixture.client.execute(
      ClientSample.get(origins[0].url("/", host: "www.shop.test")))
    #expect(response.connection.remoteAddress == IPAddress(late == .a ? "::1" : "127.0.0.1"))
    await fixture.provider.waitForHeld()
    fixture.provider.release()
    await fixture.stop()
    for origin in origins { await origin.stop() }
  }

  @Test func `a family that never answers costs no more than the other's head start`() async throws {
    let origin = try await FakeOrigin.start()
    let fixture = try await ClientFixture(records: RecordTable { $0.add("www.shop.test", "127.0.0.1") })
    fixture.provider.misbehave(.hang, when: { $0.type == .aaaa })
    let response = try await fixture.client.execute(
      ClientSample.get(origin.url("/", host: "www.shop.test")))
    #expect(
      response.connection.remoteAddress == IPAddress("127.0.0.1") && response.timings.lookup < .milliseconds(2_900))
    await fixture.stop()
    await origin.stop()
  }

  // MARK: What is learnt

  @Test func `requests stay on the address whose connection is established, however answers rotate`() async throws {
    let origins = try await OriginGroup.start(["127.0.0.1", "127.0.0.2", "127.0.0.3"])
    let clock = ManualClock()
    let fixture = try await ClientFixture(
      records: RecordTable { $0.add("www.shop.test", "127.0.0.1", "127.0.0.2", "127.0.0.3") }, clock: clock)
    for _ in 0..<20 {
      let response = try await fixture.client.execute(
        ClientSample.get(origins[0].url("/", host: "www.shop.test")))
      _ = try await response.body.text()
      clock.advance(by: .milliseconds(50))
    }
    #expect(origins.map(\.connectionCount).reduce(0, +) == 1)
    await fixture.stop()
    for origin in origins { await origin.stop() }
  }

  @Test func `an address that failed is not tried again while another one answers`() async throws {
    let origin = try await FakeOrigin.start()
    let fixture = try await ClientFixture(
      records: RecordTable { $0.add("www.shop.test", "127.0.0.1", "127.0.0.2") }, clock: ManualClock())
    // Slower than the other one as far as anybody knows: the other goes first.
    fixture.resolver.report(.connected(in: .seconds(1)), for: Sample.address("127.0.0.1"))
    fixture.resolver.report(.connected(in: .milliseconds(1)), for: Sample.address("127.0.0.2"))
    var dialled: [[String]] = []
    for _ in 0..<3 {
      let log = RequestLog()
      let response = try await fixture.client.execute(
        ClientSample.get(origin.url("/", host: "www.shop.test")), options: log.options)
      _ = try await response.body.text()
      dialled.append(log.dialled)
      await origin.closeConnections()
      #expect(await origin.waitForOpenConnections(0))
    }
    #expect(dialled == [["127.0.0.2", "127.0.0.1"], ["127.0.0.1"], ["127.0.0.1"]])
    await fixture.stop()
    await origin.stop()
  }
}
