// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import Testing

@testable import DirectDNS

/// Authorities whose files are replaced where they lie, as when a certificate runs out.
@Suite(.timeLimit(.minutes(1)))
struct RotatedAuthoritiesTests {
  @Test(arguments: [1, 2])
  func `an update trusts what the same files hold by now, be it one file or several`(_ fileCount: Int) async throws {
    let authorities = try (0..<3).map { _ in try TestCertificateAuthority() }
    var records = RecordTable()
    records.add("www.shop.test", "192.0.2.1", ttl: 60)
    let server = try await FakeProvider.start(
      records: records,
      configuration: FakeProviderConfiguration(identity: try authorities[2].issue(names: ["doh.test"])))
    let files = try authorities.prefix(fileCount).map { try $0.makeFile() }
    // An array goes after its last use in a release build, and the files with it.
    defer { withExtendedLifetime(files) {} }
    var configuration = ResolverConfiguration(providers: [
      ProviderConfiguration(
        provider: MessageProvider(name: "doh", url: try WebURL(server.url("/dns-query", host: "doh.test"))),
        bootstrap: [.ipv4(0x7f00_0001)])
    ])
    configuration.usesSystemDNS = false
    configuration.families = .ipv4
    configuration.cache.minimumFailureTTL = .zero
    configuration.cache.maximumFailureTTL = .zero
    configuration.trust = TrustStore(privateAuthorities: files.map(\.path), environment: [:])
    let resolver = try DirectResolver(configuration)
    let refusal = await #expect(throws: DirectDNSError.self) { try await resolver.resolve("www.shop.test") }
    #expect(refusal?.code == .upstreamFailed)
    let attempt = try #require(refusal?.attempts.first)
    guard case .certificate = attempt.kind else { throw DirectDNSError(.upstreamFailed, "\(attempt)") }

    try Data(authorities[2].certificate.utf8).write(to: URL(filePath: files[0].path))
    try resolver.update(resolver.configuration)
    #expect(try await resolver.resolve("www.shop.test").addresses == [.ipv4(0xC000_0201)])

    // One that is being replaced just now changes nothing: the connection that was made by it serves on.
    let count = server.connectionCount
    try FileManager.default.removeItem(atPath: files[0].path)
    try resolver.update(resolver.configuration)
    try resolver.invalidate("www.shop.test")
    #expect(try await resolver.resolve("www.shop.test").addresses == [.ipv4(0xC000_0201)])
    #expect(server.connectionCount == count)
    resolver.shutdown()
    await server.stop()
  }
}
