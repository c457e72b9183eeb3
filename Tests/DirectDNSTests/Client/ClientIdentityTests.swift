// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS

/// The certificate that a client shows: to whom, and to whom not.
@Suite(.timeLimit(.minutes(1)))
struct ClientIdentityTests {
  private let authority: TestCertificateAuthority
  private let file: CAFile

  init() throws {
    authority = try TestCertificateAuthority()
    file = try authority.makeFile()
  }

  private func client(_ change: (inout DirectClientConfiguration) -> Void = { _ in }) throws -> DirectClient {
    try ClientSample.client(names: ["shop.test": ["127.0.0.1"], "other.test": ["127.0.0.1"]]) {
      $0.trust = TrustStore(privateAuthorities: [file.path], environment: [:])
      change(&$0)
    }
  }

  /// A file with a certificate that the servers' authority has issued to a client.
  private func withClientCertificate(_ body: (ClientIdentity) async throws -> Void) async throws {
    let identity = try authority.issueClient(name: "pipeline")
    let pem = FileManager.default.temporaryDirectory.appending(path: "client-\(UUID().uuidString).pem")
    defer { try? FileManager.default.removeItem(at: pem) }
    try Data((identity.certificates.joined(separator: "\n") + "\n" + identity.privateKey).utf8).write(to: pem)
    try await body(ClientIdentity(certificate: pem.path))
  }

  /// A server that wants a certificate of the client's, and sends `/away` to a URL.
  private func demanding(_ away: @escaping @Sendable () -> String = { "/" }) async throws -> FakeOrigin {
    let configuration = FakeOriginConfiguration(
      identity: try authority.issue(names: ["shop.test", "other.test"]), clientAuthority: authority.certificate)
    return try await FakeOrigin.start(configuration: configuration) { request in
      request.path == "/away" ? OriginResponse(.found, fields: [.location: away()]) : OriginResponse(body: "here")
    }
  }

  @Test func `a server that wants a certificate of the client's gets it`() async throws {
    try await withClientCertificate { identity in
      let origin = try await demanding()
      let (without, with) = (try client(), try client { $0.identity = identity })
      await #expect(throws: DirectDNSError.self) {
        try await without.execute(ClientSample.get(origin.url("/", host: "shop.test"))).body.text()
      }
      #expect(try await with.execute(ClientSample.get(origin.url("/", host: "shop.test"))).status == .ok)
      #expect(origin.connections.last?.clientCertificate != nil)
      await without.shutdown()
      await with.shutdown()
      await origin.stop()
    }
  }

  /// What a certificate that is being renewed may look like for a moment: libcurl says so before it sends the server
  /// anything.
  ///
  /// A key that wants a password would be asked for on the terminal by OpenSSL, and nothing of the client would go on.
  @Test(arguments: [nil, "nothing", ClientKeys.locked])
  func `a certificate that does not fit its key any more fails the request and says nothing of the addresses`(
    _ key: String?
  ) async throws {
    let other = try authority.issueClient(name: "other")
    try await withClientCertificate { identity in
      let origin = try await demanding()
      let client = try ClientSample.client(names: ["shop.test": ["127.0.0.1", "127.0.0.2"]]) {
        $0.trust = TrustStore(privateAuthorities: [file.path], environment: [:])
        $0.identity = identity
      }
      let whole = try String(contentsOfFile: identity.certificate, encoding: .utf8)
      let certificate = try authority.issueClient(name: "pipeline").certificates[0]
      try (certificate + "\n" + (key ?? other.privateKey)).write(
        toFile: identity.certificate, atomically: true, encoding: .utf8)
      let tried = Locked(0)
      var options = RequestOptions()
      options.observer = { if case .connecting = $0 { tried.withLock { $0 += 1 } } }
      let request = try ClientSample.get(origin.url("/", host: "shop.test"))
      let error = await #expect(throws: DirectDNSError.self) { try await client.execute(request, options: options) }
      #expect(tried.withLock(\.self) == 1)
      #expect(error?.code == .tlsFailed && error?.attempts.isEmpty == true, "\(String(describing: error))")
      #expect(error?.message.contains("on this machine") == true)
      try whole.write(toFile: identity.certificate, atomically: true, encoding: .utf8)
      // The first address again: it is not held to be dead.
      let response = try await client.execute(request)
      #expect(response.connection.remoteAddress == IPAddress("127.0.0.1"))
      #expect(response.connection.failedAddresses.isEmpty)
      await client.shutdown()
      await origin.stop()
    }
  }

  @Test(arguments: [true, false])
  func `a client's certificate is not shown to another origin that a redirect leads to`(_ isSameServer: Bool)
    async throws
  {
    try await withClientCertificate { identity in
      let target = Locked("")
      let (first, second) = (try await demanding { target.withLock(\.self) }, try await demanding())
      // Another name of the server that has seen the certificate, or another port of the name.
      let away = isSameServer ? first.url("/", host: "other.test") : second.url("/", host: "shop.test")
      target.withLock { $0 = away }
      let client = try client { $0.identity = identity }
      await #expect(throws: DirectDNSError.self) {
        try await client.execute(ClientSample.get(first.url("/away", host: "shop.test"))).body.text()
      }
      #expect(first.requests.map(\.path) == ["/away"] && second.requests.isEmpty)
      // Who asks for the place itself shows it there, and no session of the other kind is taken up.
      #expect(try await client.execute(ClientSample.get(away)).body.text() == "here")
      await client.shutdown()
      await first.stop()
      await second.stop()
    }
  }

  @Test func `a client's certificate is not shown on the way back, nor is a connection used that has seen it`()
    async throws
  {
    try await withClientCertificate { identity in
      let back = Locked("")
      let between = try await FakeOrigin.start { _ in
        OriginResponse(.found, fields: [.location: back.withLock(\.self)])
      }
      let away = between.url("/", host: "other.test")
      let origin = try await demanding { away }
      back.withLock { $0 = origin.url("/", host: "shop.test") }
      let client = try client { $0.identity = identity }
      // Keeps a connection on which the certificate was shown.
      let first = try await client.execute(ClientSample.get(origin.url("/", host: "shop.test")))
      #expect(try await first.body.text() == "here")
      await #expect(throws: DirectDNSError.self) {
        try await client.execute(ClientSample.get(origin.url("/away", host: "shop.test"))).body.text()
      }
      #expect(origin.requests.map(\.path) == ["/", "/away"] && between.requests.count == 1)
      await client.shutdown()
      await between.stop()
      await origin.stop()
    }
  }

  @Test func `a client's certificate stays within its origin, where redirects take it along`() async throws {
    try await withClientCertificate { identity in
      let origin = try await demanding()
      let client = try client { $0.identity = identity }
      let response = try await client.execute(ClientSample.get(origin.url("/away", host: "shop.test")))
      #expect(try await response.body.text() == "here" && response.hops.count == 1)
      #expect(origin.connectionCount == 1)
      var options = RequestOptions()
      options.showsIdentity = false
      await #expect(throws: DirectDNSError.self) {
        try await client.execute(ClientSample.get(origin.url("/", host: "shop.test")), options: options).body.text()
      }
      await client.shutdown()
      await origin.stop()
    }
  }

  @Test(arguments: [false, true])
  func `an https proxy is trusted as everybody else is, and never sees the client's certificate`(_ isDemanding: Bool)
    async throws
  {
    try await withClientCertificate { identity in
      let proxy = try await FakeOrigin.start(
        configuration: FakeOriginConfiguration(
          identity: try authority.issue(names: ["shop.test"]),
          clientAuthority: isDemanding ? authority.certificate : nil, httpVersions: [.http1]))
      let url = try WebURL("https://shop.test:\(proxy.port)")
      let client = try client {
        $0.identity = identity
        $0.proxy = .url(url)
      }
      if isDemanding {
        await #expect(throws: DirectDNSError.self) { try await client.execute(ClientSample.get("http://other.test/")) }
        #expect(proxy.requests.isEmpty)
      } else {
        #expect(try await client.execute(ClientSample.get("http://other.test/")).status == .ok)
        #expect(proxy.requests.map(\.target) == ["http://other.test/"])
      }
      await client.shutdown()
      await proxy.stop()
    }
  }
}
