// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS

/// The transport against a server that can do everything wrong.
@Suite(.timeLimit(.minutes(4)))
struct CurlTransportTests {
  // MARK: Good requests

  @Test func `plain http is HTTP/1.1, and the reply has what DNS needs`() async throws {
    try await ProviderFixture.plain { fixture async throws in
      fixture.server.misbehave(.age(7), .cacheControl("max-age=9"))
      let reply = try await fixture.send(fields: [.accept: "application/dns-json"])
      #expect(reply.status.code == 200 && reply.contentType?.contains("json") == true)
      #expect(reply.age == "7" && reply.cacheControl == "max-age=9")
      #expect(reply.address == IPAddress("127.0.0.1") && JSONValue(reply.body)?.isObject == true)
      let request = try #require(fixture.server.requests.first)
      #expect(request.version == .http1 && request.field("Accept") == "application/dns-json")
      #expect(request.host == "127.0.0.1:\(fixture.server.port)" && request.name == "www.shop.test")
    }
  }

  @Test(arguments: [([HTTPProtocolVersion.http2, .http1], HTTPProtocolVersion.http2), ([.http1], .http1)])
  func `over TLS the server's best version is spoken, under the name`(
    _ offered: [HTTPProtocolVersion], _ spoken: HTTPProtocolVersion
  ) async throws {
    try await ProviderFixture.secure(offered) { fixture async throws in
      #expect(try await fixture.send().status.code == 200)
      let request = try #require(fixture.server.requests.first)
      #expect(request.version == spoken && request.serverName == "doh.test")
      #expect(request.host == "doh.test:\(fixture.server.port)")
    }
  }

  @Test func `a body goes out by POST, and a GET after it has none`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      let provider = MessageProvider(
        name: "doh", url: try WebURL(fixture.server.url("/dns-query", host: "doh.test")), method: .post)
      for _ in 0..<2 {
        let message = provider.request(for: .init("www.shop.test"), at: 0)
        let reply = try await fixture.transport.send(message, to: fixture.endpoint, timeout: .seconds(20))
        #expect(provider.outcome(of: reply, to: .init("www.shop.test")).summary == "192.0.2.1 60")
        try await fixture.send()
      }
      #expect(fixture.server.requests.map(\.method) == [.post, .get, .post, .get])
      #expect(fixture.server.requests.map(\.body.isEmpty) == [false, true, false, true])
      #expect(fixture.server.requests[1].field("Content-Type") == nil)
      #expect(fixture.server.connectionCount == 1)
    }
  }

  @Test func `two hundred requests at once share one connection, and fifty are in flight at most`()
    async throws
  {
    try await ProviderFixture.secure(streams: 128) { fixture async throws in
      fixture.server.misbehave(.hold)
      let tasks = (0..<200).map { fixture.begin("/resolve?name=n\($0).flood.test") }
      for round in 1...4 {
        await fixture.server.waitForHeld(50)
        #expect(fixture.server.requests.count == 50 * round)
        fixture.server.release()
      }
      for task in tasks { #expect(try await task.value.get().status.code == 200) }
      #expect(fixture.server.connectionCount == 1)
      #expect(fixture.server.requests.allSatisfy { $0.version == .http2 })
    }
  }

  @Test func `who came first is served first`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.hold, times: 50)
      let tasks = (0..<120).map { fixture.begin("/resolve?name=n\($0).flood.test") }
      await fixture.server.waitForHeld(50)
      #expect(Set(fixture.server.requests.compactMap(\.name)) == Set((0..<50).map { "n\($0).flood.test" }))
      fixture.server.release()
      for task in tasks { _ = try await task.value.get() }
      // Within a batch the wire has its own order; no request is overtaken by a whole pool of later ones.
      let order = fixture.server.requests.compactMap(\.name)
      for (place, name) in order.enumerated() {
        let number = try #require(Int(name.dropFirst().prefix { $0 != "." }))
        #expect(abs(number - place) < 50, "\(name) came as number \(place)")
      }
    }
  }

  @Test func `many responses at once are all received, though nothing comes after them`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.hold)
      for round in 0..<10 {
        let tasks = (0..<200).map { fixture.begin("/resolve?name=n\($0).r\(round).flood.test") }
        for _ in 0..<4 {
          await fixture.server.waitForHeld(50)
          fixture.server.release()
        }
        for task in tasks { #expect(try await task.value.get().status.code == 200) }
      }
      #expect(fixture.server.connectionCount == 1)
    }
  }

  @Test(arguments: [1, 4, 32, 100])
  func `over HTTP/1.1 so many connections carry any number of requests, one at a time on each`(_ limit: Int)
    async throws
  {
    try await ProviderFixture.plain(connections: limit) { fixture async throws in
      fixture.server.misbehave(.hold, times: limit)
      let tasks = (0..<150).map { fixture.begin("/resolve?name=n\($0).flood.test") }
      // All of them stand before the first reply.
      await fixture.server.waitForHeld(limit)
      #expect(fixture.server.connectionCount == limit)
      fixture.server.release()
      for task in tasks { #expect(try await task.value.get().status.code == 200) }
      #expect(fixture.server.connectionCount == limit)
      #expect(fixture.server.requests.count == 150)
    }
  }

  @Test func `a server under TLS that speaks HTTP/1.1 alone gets as many, once it has answered`() async throws {
    try await ProviderFixture.secure([.http1]) { fixture async throws in
      try await fixture.send()
      fixture.server.misbehave(.hold, times: 32)
      let tasks = (0..<150).map { fixture.begin("/resolve?name=n\($0).flood.test") }
      await fixture.server.waitForHeld(32)
      #expect(fixture.server.connectionCount == 32)
      fixture.server.release()
      for task in tasks { #expect(try await task.value.get().status.code == 200) }
      #expect(fixture.server.connectionCount == 32)
    }
  }

  @Test func `a change of the limit holds from the next request on`() async throws {
    try await ProviderFixture.plain(connections: 2) { fixture async throws in
      try await fixture.send()
      fixture.transport.update(nil, connections: 5)
      fixture.server.misbehave(.hold, times: 5)
      let tasks = (0..<20).map { fixture.begin("/resolve?name=n\($0).flood.test") }
      await fixture.server.waitForHeld(5)
      #expect(fixture.server.connectionCount == 5)
      fixture.server.release()
      for task in tasks { #expect(try await task.value.get().status.code == 200) }
    }
  }

  // MARK: TLS

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

  // MARK: Addresses

  @Test func `the next address is tried when the first refuses`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      var endpoint = fixture.endpoint
      endpoint.addresses = [.ipv4(0x7F00_0002), .ipv6(high: 0, low: 1), .ipv4(0x7F00_0001)]
      let other = ProviderFixture(server: fixture.server, transport: fixture.transport, endpoint: endpoint)
      let reply = try await other.send()
      #expect(reply.address == IPAddress("127.0.0.1") && fixture.server.connectionCount == 1)
    }
  }

  @Test func `without a connection there is no reply`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      var endpoint = fixture.endpoint
      endpoint.addresses = [.ipv4(0x7F00_0002)]
      let refused = ProviderFixture(server: fixture.server, transport: fixture.transport, endpoint: endpoint)
      guard case .connect = await refused.failure() else {
        Issue.record("connected")
        return
      }
      endpoint.addresses = []
      let nowhere = ProviderFixture(server: fixture.server, transport: fixture.transport, endpoint: endpoint)
      #expect(await nowhere.failure() == .connect("no address is known for doh.test"))
      #expect(fixture.server.connectionCount == 0)
    }
  }

  @Test func `one origin with other addresses is asked at those`() async throws {
    try await ProviderFixture.plain { fixture async throws in
      let url = try WebURL(fixture.server.url(host: "doh.test"))
      for addresses in [
        [IPAddress.ipv4(0x7F00_0002)], [.ipv4(0x7F00_0001)], [.ipv4(0x7F00_0002), .ipv4(0x7F00_0001)],
      ] {
        let other = ProviderFixture(
          server: fixture.server, transport: fixture.transport,
          endpoint: HTTPEndpoint(url: url, addresses: addresses))
        #expect(await (other.failure() == nil) == addresses.contains(.ipv4(0x7F00_0001)))
      }
    }
  }

  @Test func `a request for another origin than the endpoint's is refused, since nobody looked its host up`()
    async throws
  {
    try await ProviderFixture.plain { fixture async throws in
      let port = fixture.server.port
      for url in [
        "http://localhost:\(port)/", "http://127.0.0.1:\(port)0/", "http://127.0.0.1:\(port)@localhost/",
        "localhost",
        "http://127.0.0.1:\(port)", "https://127.0.0.1:\(port)/", "",
      ] {
        do throws(HTTPTransportError) {
          _ = try await fixture.transport.send(
            HTTPMessage(url: url), to: fixture.endpoint, timeout: .seconds(5))
          Issue.record("\(url) was sent")
        } catch {
          #expect(error == .invalidRequest("its URL has another origin than \(fixture.server.baseURL)"))
        }
      }
      #expect(fixture.server.connectionCount == 0)
    }
  }

  // MARK: What DNS calls must not do

  @Test(arguments: [301, 302, 303, 307, 308])
  func `a redirect is a reply, and nobody follows it`(_ status: Int) async throws {
    try await ProviderFixture.plain { fixture async throws in
      fixture.server.misbehave(.redirect(to: fixture.server.url("/resolve?name=other.test"), status: status))
      #expect(try await fixture.send().status.code == status)
      #expect(fixture.server.requests.count == 1)
    }
  }

  @Test func `a cookie that is set is never sent`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.fields([.setCookie: "track=1; Path=/"]))
      for _ in 0..<3 { try await fixture.send() }
      #expect(fixture.server.requests.allSatisfy { $0.field("Cookie") == nil })
    }
  }

  @Test func `nothing is added but what the protocol needs`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      try await fixture.send(fields: [.accept: "application/dns-json"])
      let names = try #require(fixture.server.requests.first).fields.map { $0.name.canonicalName }
      #expect(Set(names).isSubset(of: ["host", "accept"]), "\(names)")
    }
  }

  @Test(arguments: ["http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"])
  func `proxies of the environment are ignored`(_ variable: String) async throws {
    // In a process of its own: the environment belongs to all threads.
    await #expect(processExitsWith: .success) { [variable] in
      try await ProviderFixture.plain { proxy async throws in
        unsafe setenv(variable, proxy.server.baseURL, 1)
        try await ProviderFixture.plain { fixture async throws in
          #expect(try await fixture.send().status.code == 200)
          #expect(fixture.server.requests.count == 1)
        }
        try await ProviderFixture.secure { fixture async throws in
          #expect(try await fixture.send().status.code == 200)
        }
        #expect(proxy.server.connectionCount == 0)
      }
    }
  }

  // MARK: Bodies

  @Test(arguments: [false, true])
  func `a body has 64 KiB at most, and a larger one ends the transfer alone`(_ isChunked: Bool) async throws {
    let shape: Misbehaviour = isChunked ? .chunked : .age(0)
    try await ProviderFixture.plain { try await receiveLargeBodies($0, shape) }
    try await ProviderFixture.secure { try await receiveLargeBodies($0, shape) }
  }

  private func receiveLargeBodies(_ fixture: ProviderFixture, _ shape: Misbehaviour) async throws {
    fixture.server.misbehave(.padded(to: 65_536), shape, times: 1)
    fixture.server.misbehave(.padded(to: 65_537), shape, times: 1)
    fixture.server.misbehave(.padded(to: 5_000_000), shape, times: 1)
    #expect(try await fixture.send().body.count == 65_536)
    #expect(await fixture.failure() == .bodyTooLarge)
    #expect(await fixture.failure() == .bodyTooLarge)
    #expect(try await fixture.send().status.code == 200)
  }

  @Test(arguments: ["trailers", "head"], [("a: b", 2_000), ("X-Long: " + String(repeating: "v", count: 1_000), 70)])
  func `header fields and trailers have 64 KiB at most`(_ part: String, _ lines: (String, Int)) async throws {
    let more = String(repeating: lines.0 + "\r\n", count: lines.1)
    let (head, trailers) = part == "head" ? (more, "") : ("", more)
    let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\(head)\r\n2\r\n{}\r\n0\r\n\(trailers)\r\n"
    let server = try await FakeOrigin.start { request in
      if request.path == "/short" { return OriginResponse(body: "{}") }
      throw OriginFault.text(text)
    }
    let transport = try CurlTransport()
    let fixture = HTTPEndpoint(url: try WebURL(server.url("/")))
    let error = await #expect(throws: HTTPTransportError.self) {
      try await transport.send(HTTPMessage(url: server.url("/long")), to: fixture, timeout: .seconds(20))
    }
    #expect(error == .fieldsTooLarge && server.requests.count == 1)
    let reply = try await transport.send(HTTPMessage(url: server.url("/short")), to: fixture, timeout: .seconds(20))
    #expect(reply.status == .ok)
    transport.shutdown()
    await server.stop()
  }

  @Test func `an empty body is a reply, and 204 too`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.emptyBody, times: 1)
      fixture.server.misbehave(.status(204), times: 1)
      #expect(try await fixture.send().body == [])
      let none = try await fixture.send()
      #expect(none.status.code == 204 && none.body == [])
    }
  }

  @Test func `what is compressed unasked stays as it came`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.gzip)
      #expect(try await fixture.send().body.starts(with: [0x1f, 0x8b]))
      #expect(fixture.server.requests.first?.field("Accept-Encoding") == nil)
    }
  }

  // MARK: Time

  @Test(arguments: [Misbehaviour.hang, .holdBody, .drip(bytes: 1, every: .milliseconds(20))])
  func `a request ends when its time is over, and the connection serves on`(_ what: Misbehaviour) async throws {
    try await ProviderFixture.secure { fixture async throws in
      try await fixture.send()
      fixture.server.misbehave(what, times: 1)
      let begin = ContinuousClock.now
      #expect(await fixture.failure(timeout: .milliseconds(150)) == .timedOut)
      #expect(ContinuousClock.now - begin < .seconds(40))
      // On a busy machine the time may be over before the server has seen the request.
      fixture.server.behave()
      #expect(try await fixture.send().status.code == 200)
      #expect(fixture.server.connectionCount == 1)
    }
  }

  @Test func `a server that accepts and says nothing costs its time and no more`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.isMute = true
      #expect(await fixture.failure(timeout: .milliseconds(150)) == .timedOut)
      fixture.server.isMute = false
      #expect(try await fixture.send().status.code == 200)
    }
  }

  @Test func `waiting in the queue counts, whoever stands in front`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.hold)
      let running = (0..<50).map { fixture.begin("/resolve?name=n\($0).flood.test") }
      await fixture.server.waitForHeld(50)
      let patient = fixture.begin("/resolve?name=patient.flood.test")
      let hasty = fixture.begin("/resolve?name=hasty.flood.test", timeout: .milliseconds(50))
      #expect(await hasty.value.failure == .timedOut)
      fixture.server.behave()
      fixture.server.release()
      for task in running + [patient] { #expect(try await task.value.get().status.code == 200) }
      #expect(!fixture.server.requests.contains { $0.name == "hasty.flood.test" })
    }
  }

  // MARK: Cancellation

  @Test func `a cancelled request ends at once, and the connection serves on`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.hold)
      let tasks = (0..<3).map { _ in fixture.begin() }
      await fixture.server.waitForHeld(3)
      tasks[1].cancel()
      #expect(await tasks[1].value.failure == .cancelled)
      fixture.server.behave()
      fixture.server.release()
      #expect(try await tasks[0].value.get().status.code == 200)
      #expect(try await tasks[2].value.get().status.code == 200)
      #expect(try await fixture.send().status.code == 200)
      #expect(fixture.server.connectionCount == 1)
    }
  }

  @Test func `a request cancelled in the queue is never sent`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.hold)
      let running = (0..<50).map { fixture.begin("/resolve?name=n\($0).flood.test") }
      await fixture.server.waitForHeld(50)
      let queued = (0..<3).map { fixture.begin("/resolve?name=queued\($0).flood.test") }
      queued[1].cancel()
      #expect(await queued[1].value.failure == .cancelled)
      fixture.server.behave()
      fixture.server.release()
      for task in running + [queued[0], queued[2]] { #expect(try await task.value.get().status.code == 200) }
      #expect(!fixture.server.requests.contains { $0.name == "queued1.flood.test" })
    }
  }

  @Test func `a task that was cancelled before sends nothing, the very first one too`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.hang)
      for _ in 0..<2 {
        let failure = await withTaskGroup(of: HTTPTransportError?.self) { group in
          group.cancelAll()
          group.addTask { await fixture.failure(timeout: .seconds(3)) }
          return await group.next() ?? nil
        }
        #expect(failure == .cancelled)
      }
      #expect(fixture.server.requests.isEmpty)
    }
  }

  @Test func `a storm of cancellations leaves nothing behind`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.delay(.milliseconds(1)))
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<300 {
          group.addTask {
            let task = Task { await fixture.failure("/resolve?name=n\(number).flood.test") }
            if number.isMultiple(of: 3) { task.cancel() }
            let failure = await task.value
            #expect(failure == nil || number.isMultiple(of: 3) && failure == .cancelled)
          }
        }
      }
      #expect(try await fixture.send().status.code == 200)
    }
  }

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

  @Test(arguments: [Misbehaviour.refuseStream, .goAway(processed: false)])
  func `a server that refuses every stream is given up`(_ what: Misbehaviour) async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(what)
      guard case .connectionLost = await fixture.failure() else {
        Issue.record("not lost")
        return
      }
      #expect(fixture.server.requests.count <= 10)
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

  @Test func `after a network change libcurl knows no two endpoints by one name`() throws {
    let transport = try CurlTransport()
    transport.networkDidChange()
    let pools = try ["http://192.0.2.1:8053/resolve", "http://192.0.2.2:8053/resolve"].map { url in
      let endpoint = HTTPEndpoint(url: try WebURL(url))
      return try transport.request(HTTPMessage(url: url, fields: [:]), endpoint, .seconds(1)).pool
    }
    #expect(pools[0].connectTo != nil && pools[0].connectTo != pools[1].connectTo)
    #expect(pools[0].addresses?.hasSuffix(":192.0.2.1") == true && pools[1].addresses?.hasSuffix(":192.0.2.2") == true)
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
      await fixture.server.waitForOpenConnections(0)
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
      await server.waitForOpenConnections(0)
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

extension Result {
  /// The error, if it is one.
  var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
