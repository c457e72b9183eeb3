// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import DirectDNS
import DirectDNSTesting
import HTTPTypes
import NIOCore
import NIOSSL
import Testing

@testable import DirectDNSAsyncHTTPClient

/// Whom a client connects to, whom it believes, and where it follows.
extension DirectHTTPClientTests {
  /// SwiftNIO's own check is content with all of these certificates, since they hold the address.
  @Test(arguments: [HTTPProtocolVersion.http1, .http2])
  func `a certificate for the address is none for the name, and nothing is sent`(
    _ version: HTTPProtocolVersion
  ) async throws {
    let authority = try TestCertificateAuthority()
    let address = try #require(IPAddress("127.0.0.1"))
    let name = try HostName("www.b.test")
    for (names, isHeld) in [
      ([], false), (["a.test"], false), (["b.test"], false), (["w*.b.test"], false), (["*.www.b.test"], false),
      (["*.b.test"], true), (["a.test", "www.b.test"], true),
    ] as [([String], Bool)] {
      let identity = try authority.issue(names: names, addresses: [address])
      try await withOrigin(.init(identity: identity, httpVersions: [version])) { origin in
        let client = DirectHTTPClient(
          resolver: try resolver([name.text: ["127.0.0.1"]]), policy: Self.local,
          configuration: try configuration(trusting: authority))
        let url = origin.url("/", host: name.text)
        if isHeld {
          #expect(try await send(url, by: client).response.status == .ok, "\(names)")
          #expect(origin.requests.map(\.version) == [version], "\(names)")
        } else {
          await #expect(throws: CertificateNameMismatch(name: name), "\(names)") { try await send(url, by: client) }
          #expect(origin.connectionCount == 1 && origin.requests.isEmpty, "\(names)")
        }
      }
    }
  }

  @Test func `a server without a certificate for the name is followed by the next address, and not asked again`()
    async throws
  {
    let authority = try TestCertificateAuthority()
    try await withOrigin(.init(identity: try authority.issue(names: ["two.test"]))) { origin in
      let address = try #require(IPAddress("127.0.0.2"))
      let stranger = try await FakeOrigin.start(
        configuration: .init(
          identity: try authority.issue(names: ["b.test"], addresses: [address]), address: address, port: origin.port))
      let resolver = try resolver(["two.test": ["127.0.0.2", "127.0.0.1"]])
      for _ in 0..<2 {
        // Another client: what it knows of the addresses is the resolver's.
        let client = DirectHTTPClient(
          resolver: resolver, policy: Self.local, attemptTimeout: .minutes(5),
          configuration: try configuration(trusting: authority))
        let response = try await send(origin.url("/", host: "two.test"), by: client, timeout: .hours(1)).response
        #expect(response.status == .ok)
      }
      #expect(stranger.connectionCount == 1 && stranger.requests.isEmpty && origin.requests.count == 2)
      await stranger.stop()
    }
  }

  @Test(arguments: ["a.test", "127.0.0.1"])
  func `an address that is not public is not connected to unless it is allowed`(_ host: String) async throws {
    try await withOrigin { origin in
      let client = DirectHTTPClient(resolver: try resolver())
      let error = await #expect(throws: DirectDNSError.self) {
        try await send(origin.url("/", host: host), by: client)
      }
      #expect(error?.code == .addressForbidden && origin.connectionCount == 0)
    }
  }

  @Test func `of several addresses only those that are allowed are connected to, and a redirect's are judged too`()
    async throws
  {
    try await withOrigin(answering: { request in
      let port = request.host?.split(separator: ":").last ?? ""
      return request.path == "/go"
        ? OriginResponse(.found, fields: [.location: "http://127.0.0.2:\(port)/"]) : OriginResponse()
    }) { origin in
      let address = try #require(IPAddress("127.0.0.2"))
      let other = try await FakeOrigin.start(configuration: .init(address: address, port: origin.port))
      let only = try #require(IPNetwork("127.0.0.1/32"))
      let client = DirectHTTPClient(
        resolver: try resolver(["two.test": ["127.0.0.2", "127.0.0.1"], "a.test": ["127.0.0.1"]]),
        policy: AddressPolicy(.publicOnly, allowedNetworks: [only]))
      #expect(try await send(origin.url("/", host: "two.test"), by: client).response.status == .ok)
      let error = await #expect(throws: DirectDNSError.self) {
        try await send(origin.url("/go", host: "a.test"), by: client)
      }
      #expect(error?.code == .addressForbidden && origin.requests.map(\.path) == ["/", "/go"])
      #expect(other.connectionCount == 0)
      await other.stop()
    }
  }

  @Test func `a host that is denied is not looked up, be it a redirect's`() async throws {
    let provider = try await FakeProvider.start(records: RecordTable { $0.add("www.b.example.com", "127.0.0.1") })
    try await withOrigin(answering: { request in
      let port = request.host?.split(separator: ":").last ?? ""
      return OriginResponse(.found, fields: [.location: "http://www.b.example.com:\(port)/"])
    }) { origin in
      let client = DirectHTTPClient(
        resolver: try resolver(asking: provider),
        policy: AddressPolicy(.any, deniedSuffixes: [try HostName("b.example.com")]))
      for url in ["www.b.example.com", "a.test"].map({ origin.url("/", host: $0) }) {
        let error = await #expect(throws: DirectDNSError.self) { try await send(url, by: client) }
        #expect(error?.code == .addressForbidden)
      }
      #expect(provider.requests.isEmpty && origin.requests.map(\.host) == ["a.test:\(origin.port)"])
    }
    await provider.stop()
  }

  @Test func `the twenty-first redirect is an error`() async throws {
    try await withOrigin(answering: { _ in OriginResponse(.found, fields: [.location: "/"]) }) { origin in
      let client = DirectHTTPClient(resolver: try resolver(), policy: Self.local)
      let error = await #expect(throws: DirectDNSError.self) {
        try await send(origin.url("/", host: "a.test"), by: client)
      }
      #expect(error?.code == .tooManyRedirects && origin.requests.count == 21)
    }
  }

  @Test func `a body is sent once, and what was for the first origin goes to no other`() async throws {
    try await withOrigin(answering: { request in
      let port = request.host?.split(separator: ":").last ?? ""
      return switch request.path {
      case "/again": OriginResponse(.temporaryRedirect, fields: [.location: "/there"])
      case "/see": OriginResponse(.seeOther, fields: [.location: "http://b.test:\(port)/there"])
      default: OriginResponse()
      }
    }) { origin in
      let client = DirectHTTPClient(
        resolver: try resolver(["a.test": ["127.0.0.1"], "b.test": ["127.0.0.1"]]), policy: Self.local)
      var request = HTTPClientRequest(url: origin.url("/again", host: "a.test"))
      request.method = .POST
      request.headers.add(name: "Authorization", value: "Bearer own")
      request.body = .bytes(ByteBuffer(string: "order"))
      let again = try await client.execute(request, timeout: .minutes(1))
      #expect(again.status == .temporaryRedirect)
      request.url = origin.url("/see", host: "a.test")
      let seen = try await client.execute(request, timeout: .minutes(1))
      #expect(seen.status == .ok && origin.requests.map(\.path) == ["/again", "/see", "/there"])
      #expect(origin.requests.map(\.method) == [.post, .post, .get])
      #expect(origin.requests.map(\.body) == [Array("order".utf8), Array("order".utf8), []])
      #expect(origin.requests.map { $0.field("Authorization") } == ["Bearer own", "Bearer own", nil])
      #expect(origin.requests.last?.host == "b.test:\(origin.port)")
    }
  }

  /// What trusts an authority and shows its certificate of a client.
  private func showing(
    _ identity: TLSIdentity, trusting authority: TestCertificateAuthority
  ) throws -> HTTPClient.Configuration {
    var configuration = try configuration(trusting: authority)
    configuration.tlsConfiguration?.certificateChain = try identity.certificates.map {
      .certificate(try NIOSSLCertificate(bytes: Array($0.utf8), format: .pem))
    }
    configuration.tlsConfiguration?.privateKey = .privateKey(
      try NIOSSLPrivateKey(bytes: Array(identity.privateKey.utf8), format: .pem))
    return configuration
  }

  @Test(arguments: [false, true])
  func `a client's certificate, be it the request's own, is not shown to another origin that a redirect leads to`(
    _ isRequests: Bool
  ) async throws {
    let authority = try TestCertificateAuthority()
    // With TLS 1.3 a client believes that all is well until the server's alert comes.
    let setting = FakeOriginConfiguration(
      identity: try authority.issue(names: ["a.test"]), clientAuthority: authority.certificate, offersTLS13: false)
    let showing = try showing(authority.issueClient(name: "pipeline"), trusting: authority)
    let client = DirectHTTPClient(
      resolver: try resolver(), policy: Self.local,
      configuration: isRequests ? try configuration(trusting: authority) : showing)
    func status(_ url: String) async throws -> UInt {
      var request = HTTPClientRequest(url: url)
      if isRequests { request.tlsConfiguration = showing.tlsConfiguration }
      return try await client.execute(request, timeout: .minutes(1)).status.code
    }
    try await withOrigin(setting) { second in
      let away = second.url("/", host: "a.test")
      try await withOrigin(
        setting,
        answering: { request in
          request.path == "/away" ? OriginResponse(.found, fields: [.location: away]) : OriginResponse()
        }
      ) { first async throws in
        #expect(try await status(first.url("/", host: "a.test")) == 200)
        await #expect(throws: (any Error).self) { try await status(first.url("/away", host: "a.test")) }
        #expect(first.requests.count == 2 && second.requests.isEmpty)
        // It was the certificate alone that was missing there.
        #expect(try await status(away) == 200)
      }
    }
  }

  @Test(arguments: [false, true])
  func `a callback for a client's certificate is not asked for another origin`(_ isRequests: Bool) throws {
    var giving = TLSConfiguration.makeClientConfiguration()
    giving.sslContextCallback = { _, promise in promise.succeed(.noChanges) }
    var request = HTTPClientRequest(url: "https://a.test/")
    if isRequests { request.tlsConfiguration = giving }
    let response = HTTPClientResponse(status: .found, headers: ["location": "https://b.test/"], history: [])
    let next = try request.next(
      after: response, at: try WebURL("https://a.test/"), hops: 0, by: .init(), sharedTLS: isRequests ? nil : giving)
    let tls = try #require(next?.tlsConfiguration)
    let hasCallback = tls.sslContextCallback != nil
    #expect(!hasCallback)
  }
}
