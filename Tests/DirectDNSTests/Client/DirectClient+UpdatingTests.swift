// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

/// A client that goes on by another configuration, and the switch that turns direct connect off.
@Suite(.timeLimit(.minutes(1)))
struct DirectClientUpdatingTests {
  /// The system's DNS of these names.
  private struct FixedSystem: SystemSource {
    let addresses: [String: [String]]

    func answer(
      to host: HostName, family: IPAddress.Family, timeout: Duration
    ) async throws(ProviderFailure) -> Answer {
      let own = (addresses[host.text] ?? []).map(Sample.address).filter { $0.family == family }
      return own.isEmpty ? .negative(.nameNotFound) : Answer(.addresses(own), ttl: 60)
    }
  }

  /// A client whose resolver knows these names by a provider, and whose system's DNS knows others.
  private func fixture(
    records: RecordTable, system: [String: [String]] = [:],
    _ test: (DirectClient, FakeProvider) async throws -> Void
  ) async throws {
    let provider = try await FakeProvider.start(records: records)
    let resolving = ResolverConfiguration(providers: [
      ProviderConfiguration(provider: JSONProvider(name: "fake", url: try WebURL(provider.url("/resolve"))))
    ])
    var configuration = DirectClientConfiguration()
    configuration.policy = .any
    let client = try DirectClient(
      configuration, resolver: DirectResolver(resolving, system: FixedSystem(addresses: system)))
    try await test(client, provider)
    await client.shutdown(within: .zero)
    client.resolver.shutdown()
    await provider.stop()
  }

  private func update(_ client: DirectClient, _ change: (inout DirectClientConfiguration) -> Void) throws {
    var configuration = client.configuration
    change(&configuration)
    try client.update(configuration)
  }

  private func get(_ client: DirectClient, _ url: String, options: RequestOptions = RequestOptions()) async throws
    -> (text: String, address: String?, isReused: Bool)
  {
    let response = try await client.execute(ClientSample.get(url), options: options)
    let text = try await response.body.text()
    return (text, response.connection.remoteAddress?.description, response.connection.isReused)
  }

  private static func records(_ name: String, _ addresses: String...) -> RecordTable {
    var table = RecordTable()
    table.add(name, addresses.map(Sample.address))
    return table
  }

  @Test func `a part of the configuration is changed in one step, or not at all`() async throws {
    let client = try ClientSample.client()
    try client.update { $0.userAgent = "seven" }
    #expect(client.configuration.userAgent == "seven")
    let error = #expect(throws: DirectDNSError.self) {
      try client.update { configuration throws(DirectDNSError) in
        configuration.userAgent = "nine"
        throw DirectDNSError(.invalidConfiguration, "no")
      }
    }
    #expect(error?.message == "no" && client.configuration.userAgent == "seven")
    await client.shutdown()
  }

  @Test func `a connection to an address that is now forbidden is not used, and another address is`() async throws {
    let loopback = try IPNetwork(parsing: "127.0.0.0/8")
    let origins = try await OriginGroup.start(["127.0.0.1", "127.0.0.2"])
    try await fixture(records: Self.records("shop.test", "127.0.0.1", "127.0.0.2")) { client, _ in
      let url = origins[0].url("/", host: "shop.test")
      let first = try await get(client, url)
      let used = try #require(first.address)
      #expect(try await get(client, url).isReused)
      try update(client) { $0.policy = AddressPolicy(.any, deniedNetworks: [IPNetwork(Sample.address(used))]) }
      let second = try await get(client, url)
      #expect(second.address != used && !second.isReused)
      try update(client) { $0.policy = AddressPolicy(.any, deniedNetworks: [loopback]) }
      let error = await #expect(throws: DirectDNSError.self) { try await get(client, url) }
      #expect(error?.code == .addressForbidden)
      try update(client) { $0.policy = .any }
      #expect(try await get(client, url).isReused)
    }
    for origin in origins { await origin.stop() }
  }

  @Test func `a request is redirected by the policy of the moment`() async throws {
    let target = try await FakeOrigin.start()
    let gate = Gate()
    let location = target.url("/", host: "inner.test")
    let origin = try await FakeOrigin.start { _ in
      try await gate.pass()
      return OriginResponse(.found, fields: [.location: location])
    }
    var records = Self.records("shop.test", "127.0.0.1")
    records.add("inner.test", "127.0.0.1")
    try await fixture(records: records) { client, _ in
      let task = Task { try await get(client, origin.url("/", host: "shop.test")) }
      await gate.waitForArrivals()
      try update(client) { $0.policy = AddressPolicy(.any, deniedSuffixes: [Sample.name("inner.test")]) }
      gate.open()
      let error = await #expect(throws: DirectDNSError.self) { try await task.value }
      #expect(error?.code == .addressForbidden)
    }
    await origin.stop()
    await target.stop()
  }

  @Test func `what connections were made of stays, and a wrong value changes nothing`() async throws {
    let client = try ClientSample.client()
    try update(client) {
      $0.connections = 3
      $0.bufferSize = 1
      $0.minimumTLS = .v13
      $0.userAgent = "other"
    }
    #expect(client.configuration.connections == 256 && client.configuration.bufferSize == 256 * 1024)
    #expect(client.configuration.minimumTLS == .v12 && client.configuration.userAgent == "other")
    let error = #expect(throws: DirectDNSError.self) {
      try update(client) {
        $0.userAgent = "third"
        $0.timeouts.connect = .zero
      }
    }
    #expect(error?.code == .invalidConfiguration)
    #expect(client.configuration.userAgent == "other")
    await client.shutdown()
  }

  // MARK: The switch

  @Test func `where direct connect is off, the system's DNS alone says where a request goes`() async throws {
    let origins = try await OriginGroup.start(["127.0.0.1", "127.0.0.2"])
    try await fixture(
      records: Self.records("shop.test", "127.0.0.1"), system: ["shop.test": ["127.0.0.2"]]
    ) { client, provider in
      let url = origins[0].url("/a", host: "shop.test")
      #expect(try await get(client, url).address == "127.0.0.1")
      let asked = provider.requests.count
      try update(client) { $0.direct = .offUnder([Sample.name("test")]) }
      let ordinary = try await get(client, url)
      #expect(ordinary.address == "127.0.0.2")
      #expect(ordinary.text.contains("Host: shop.test:\(origins[0].port)\r\n"))
      #expect(provider.requests.count == asked)
      try update(client) { $0.direct = .on }
      #expect(try await get(client, url).address == "127.0.0.1")
    }
    for origin in origins { await origin.stop() }
  }

  @Test(arguments: [["127.0.0.1"], ["10.0.0.1", "fd00::1"], ["169.254.169.254"]])
  func `turning direct connect off opens no door to private addresses`(addresses: [String]) async throws {
    try await fixture(records: RecordTable(), system: ["shop.test": addresses]) { client, _ in
      try update(client) {
        $0.policy = .publicOnly
        $0.direct = .off
      }
      let error = await #expect(throws: DirectDNSError.self) { try await get(client, "http://shop.test/") }
      #expect(error?.code == .addressForbidden)
      let literal = await #expect(throws: DirectDNSError.self) { try await get(client, "http://127.0.0.1:9/") }
      #expect(literal?.code == .addressForbidden)
    }
  }
}
