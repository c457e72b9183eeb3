// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting

extension RecordTable {
  /// The names that the tests of the formats ask for.
  static let sample = RecordTable { table in
    table.add("www.example.com", "192.0.2.1", "192.0.2.2", "2001:db8::1", ttl: 60)
    table.alias("shop.example.com", to: "www.example.com", ttl: 20)
    table.add("six.example.com", "2001:db8::6", ttl: 90)
    table.empty("empty.example.com", authority: Authority(ttl: 40, minimum: 30))
    table.missing("gone.example.com", authority: nil)
    table.fail("broken.example.com", .serverFailure)
  }
}

/// Starts a server, lends it, and stops it however the body ends.
func withProvider<Result>(
  _ configuration: FakeProviderConfiguration = .init(), records: RecordTable = .sample,
  _ body: (FakeProvider) async throws -> Result
) async throws -> Result {
  let server = try await FakeProvider.start(records: records, configuration: configuration)
  do {
    let result = try await body(server)
    await server.stop()
    return result
  } catch {
    await server.stop()
    throw error
  }
}

/// The same with TLS, under the name `doh.test` and the server's address, and with curl's arguments for it.
func withSecureProvider<Result>(
  _ configuration: FakeProviderConfiguration = .init(),
  _ body: (_ server: FakeProvider, _ caFile: String) async throws -> Result
) async throws -> Result {
  let authority = try TestCertificateAuthority()
  var configuration = configuration
  configuration.identity = try authority.issue(names: ["doh.test"], addresses: [configuration.address])
  return try await authority.withCAFile { path async throws in
    try await withProvider(configuration) { try await body($0, path) }
  }
}

/// Starts an origin, lends it, and stops it however the body ends.
func withOrigin<Result>(
  _ configuration: FakeOriginConfiguration = .init(),
  answering handler: @escaping FakeOrigin.Handler = OriginResponse.echo, admit: FakeOrigin.Gatekeeper? = nil,
  _ body: (FakeOrigin) async throws -> Result
) async throws -> Result {
  let origin = try await FakeOrigin.start(configuration: configuration, handler: handler, admit: admit)
  do {
    let result = try await body(origin)
    await origin.stop()
    return result
  } catch {
    await origin.stop()
    throw error
  }
}

/// The same with TLS under the name `shop.test`, and with curl's arguments for it.
func withSecureOrigin<Result>(
  answering handler: @escaping FakeOrigin.Handler = OriginResponse.echo, admit: FakeOrigin.Gatekeeper? = nil,
  _ body: (_ origin: FakeOrigin, _ caFile: String) async throws -> Result
) async throws -> Result {
  let authority = try TestCertificateAuthority()
  let identity = try authority.issue(names: ["shop.test"], addresses: [.ipv4(0x7F00_0001)])
  return try await authority.withCAFile { path async throws in
    try await withOrigin(.init(identity: identity), answering: handler, admit: admit) { try await body($0, path) }
  }
}
