// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS

/// Certificates, and what is refused for their sake.
extension CurlTransportTests {
  private enum Certificate: CaseIterable, Sendable {
    case wrongName, expired, notYetValid, selfSigned, unknownAuthority

    func identity(_ trusted: TestCertificateAuthority) throws -> TLSIdentity {
      switch self {
      case .wrongName: try trusted.issue(names: ["other.test"], addresses: [.ipv4(0x7F00_0001)])
      case .expired: try trusted.issue(names: ["doh.test"], validity: .expired)
      case .notYetValid: try trusted.issue(names: ["doh.test"], validity: .notYetValid)
      case .selfSigned: try TestCertificateAuthority.selfSigned(names: ["doh.test"])
      case .unknownAuthority: try TestCertificateAuthority().issue(names: ["doh.test"])
      }
    }
  }

  @Test(arguments: Certificate.allCases)
  private func `a certificate that does not vouch for the name is refused before anything is asked`(
    _ certificate: Certificate
  ) async throws {
    let authority = try TestCertificateAuthority()
    try await withServer(try certificate.identity(authority), trusting: [authority]) { fixture async in
      guard case .tls = await fixture.failure() else {
        Issue.record("not refused")
        return
      }
      #expect(fixture.server.requests.isEmpty)
    }
  }

  @Test func `a wildcard vouches for one label`() async throws {
    let authority = try TestCertificateAuthority()
    for (name, isGood) in [("*.doh.test", true), ("*.test", false), ("doh.test", false), ("a.*.test", false)] {
      try await withServer(try authority.issue(names: [name]), trusting: [authority], host: "a.doh.test") {
        fixture async in
        #expect(await (fixture.failure() == nil) == isGood, "\(name)")
      }
    }
  }

  @Test func `an address in the URL is verified as an address, and sends no name`() async throws {
    let authority = try TestCertificateAuthority()
    let good = try authority.issue(names: [], addresses: [.ipv4(0x7F00_0001)])
    try await withServer(good, trusting: [authority], host: nil) { fixture async in
      #expect(await fixture.failure() == nil)
      #expect(fixture.server.requests.map(\.serverName) == [nil])
    }
    for identity in [
      try authority.issue(names: ["doh.test"]),
      try authority.issue(names: ["127.0.0.1"], addresses: [.ipv4(0x7F00_0002)]),
    ] {
      try await withServer(identity, trusting: [authority], host: nil) { fixture async in
        guard case .tls = await fixture.failure() else {
          Issue.record("not refused")
          return
        }
      }
    }
  }

  @Test func `an IPv6 address works the same`() async throws {
    let authority = try TestCertificateAuthority()
    let six = IPAddress.ipv6(high: 0, low: 1)
    let server = try await FakeProvider.start(
      records: ProviderFixture.records,
      configuration: .init(identity: try authority.issue(names: ["doh.test"], addresses: [six]), address: six)
    )
    try await authority.withCAFile { path async throws in
      let transport = try CurlTransport(trust: TrustStore(privateAuthorities: [path], environment: [:]))
      for (host, addresses) in [(nil, []), ("doh.test", [six])] as [(String?, [IPAddress])] {
        let endpoint = HTTPEndpoint(url: try WebURL(server.url(host: host)), addresses: addresses)
        let fixture = ProviderFixture(server: server, transport: transport, endpoint: endpoint)
        #expect(try await fixture.send().status.code == 200)
      }
      transport.shutdown()
    }
    await server.stop()
  }

  @Test func `every private authority is trusted beside the system's`() async throws {
    let authorities = try (0..<3).map { _ in try TestCertificateAuthority() }
    let system = try authorities[2].makeFile()
    for authority in authorities {
      try await withServer(
        try authority.issue(names: ["doh.test"]), trusting: Array(authorities[..<2]),
        environment: ["SSL_CERT_FILE": system.path]
      ) { fixture async in
        #expect(await fixture.failure() == nil)
      }
    }
  }

  @Test func `the system's authorities may be a folder of hashed files, also beside a private one`()
    async throws
  {
    let system = try TestCertificateAuthority(name: "The system's")
    let folder = FileManager.default.temporaryDirectory.appending(path: "directdns-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try system.certificate.write(to: folder.appending(path: "ca.pem"), atomically: false, encoding: .utf8)
    let rehash = try Process.run(URL(filePath: "/usr/bin/openssl"), arguments: ["rehash", folder.path])
    rehash.waitUntilExit()
    #expect(rehash.terminationStatus == 0)
    let environment = ["SSL_CERT_DIR": folder.path]
    let identity = try system.issue(names: ["doh.test"])
    try await withServer(identity, trusting: [], environment: environment) {
      #expect(await $0.failure() == nil)
    }
    // Each has a name of its own: OpenSSL looks for an issuer by name, and not further than the first of that name.
    let others = try (0..<2).map { try TestCertificateAuthority(name: "Private \($0)") }
    try await withServer(identity, trusting: [others[0]], environment: environment) {
      #expect(await $0.failure() == nil)
    }
    try await withServer(identity, trusting: others, environment: environment) {
      #expect(await $0.failure() == nil)
    }
    try await withServer(identity, trusting: others) { #expect(await $0.failure() != nil) }
  }

  /// A server with a certificate, and a transport that trusts those authorities and, of the system's, what the
  /// environment says.
  private func withServer(
    _ identity: TLSIdentity, trusting authorities: [TestCertificateAuthority], host: String? = "doh.test",
    environment: [String: String] = [:], _ body: (ProviderFixture) async throws -> Void
  ) async throws {
    let server = try await FakeProvider.start(
      records: ProviderFixture.records, configuration: .init(identity: identity))
    let files = try authorities.map { try $0.makeFile() }
    // An array goes after its last use in a release build, and the files with it.
    defer { withExtendedLifetime(files) {} }
    let transport = try CurlTransport(
      trust: TrustStore(privateAuthorities: files.map(\.path), environment: environment))
    let endpoint = HTTPEndpoint(
      url: try WebURL(server.url(host: host)), addresses: host == nil ? [] : [.ipv4(0x7F00_0001)])
    try await body(ProviderFixture(server: server, transport: transport, endpoint: endpoint))
    transport.shutdown()
    await server.stop()
  }
}
