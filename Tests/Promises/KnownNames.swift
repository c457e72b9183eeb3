// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting

/// Providers, an origin, and names that a resolver of theirs has learned.
struct KnownNames {
  static let count = 1000

  let providers: [FakeProvider]
  let origin: FakeOrigin
  let resolver: DirectResolver
  let client: DirectClient
  let hosts: [HostName]
  /// As many names that are never looked up.
  let pinned: [String]

  /// Starts the servers, and looks every name up once.
  ///
  /// - Parameters:
  ///   - providerCount: how many providers there are.
  ///   - ttl: the answers' lifetime.
  ///   - clock: where the resolver has its time from.
  ///   - change: what the resolver does otherwise than by default.
  /// - Throws: what a server or a lookup fails with.
  init(
    providers providerCount: Int, ttl: UInt32, clock: any ResolverClock = SystemClock(),
    change: (inout ResolverConfiguration) -> Void = { _ in }
  ) async throws {
    var records = RecordTable()
    for number in 0..<Self.count { records.add(Self.name(number), "127.0.0.1", ttl: ttl) }
    var providers: [FakeProvider] = []
    for _ in 0..<providerCount { providers.append(try await .start(records: records)) }
    self.providers = providers
    origin = try await .start { _ in OriginResponse(body: "here") }
    var configuration = ResolverConfiguration(
      providers: try providers.map { try ProviderConfiguration("json+\($0.url("/resolve"))") })
    configuration.usesSystemDNS = false
    configuration.families = .ipv4
    pinned = (0..<Self.count).map { "pinned-\($0).example.net" }
    for host in pinned { configuration.localZones.pins[try HostName(host)] = [.ipv4(0x7F00_0001)] }
    change(&configuration)
    resolver = try DirectResolver(configuration, clock: clock)
    var client = DirectClientConfiguration()
    client.policy = .any
    self.client = try DirectClient(client, resolver: resolver)
    hosts = try (0..<Self.count).map { try HostName(Self.name($0)) }
    for host in hosts { _ = try await resolver.resolve(host) }
  }

  private static func name(_ number: Int) -> String { "host-\(number).example.net" }

  var randomHost: HostName { hosts[Int.random(in: hosts.indices)] }

  func url(_ host: String) -> String { origin.url("/", host: host) }

  func stop() async {
    await client.shutdown(within: .zero)
    resolver.shutdown()
    for provider in providers { await provider.stop() }
    await origin.stop()
  }
}
