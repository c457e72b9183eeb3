// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

/// DNS that lies: names that lead behind the firewall, in every way that there is to get there.
///
/// 127.0.0.2 stands for the internet, since it is allowed; what listens on 127.0.0.1 and on ::1 stands for what nobody
/// may reach from there, and must never hear of it.
@Suite(.timeLimit(.minutes(1)))
struct RebindingTests {
  private struct Fixture {
    let base: ClientFixture
    /// What anybody may ask.
    let open: FakeOrigin
    /// What nobody may.
    let closed: [FakeOrigin]
    let clock: ManualClock

    var port: Int { open.port }
    var client: DirectClient { base.client }

    func request(_ url: String, _ fields: HTTPFields = [:]) throws(DirectDNSError) -> HTTPRequest {
      HTTPRequest(method: .get, url: try WebURL(url.replacing("PORT", with: "\(port)")), headerFields: fields)
    }

    func code(_ url: String, _ fields: HTTPFields = [:]) async -> DirectDNSError.Code? {
      do throws(DirectDNSError) {
        _ = try await client.execute(request(url, fields))
        return nil
      } catch {
        return error.code
      }
    }
  }

  private func withFixture(
    _ fill: (inout RecordTable) -> Void, store: (any AnswerStore)? = nil,
    handler: @escaping FakeOrigin.Handler = { _ in OriginResponse(body: "open") },
    _ body: (Fixture) async throws -> Void
  ) async throws {
    let origins = try await OriginGroup.start(["127.0.0.2", "127.0.0.1", "::1"], handler: handler)
    let clock = ManualClock()
    let policy = AddressPolicy(.publicOnly, allowedNetworks: [try #require(IPNetwork("127.0.0.2/32"))])
    let base = try await ClientFixture(records: RecordTable(fill), clock: clock, policy: policy, store: store)
    let fixture = Fixture(base: base, open: origins[0], closed: Array(origins.dropFirst()), clock: clock)
    try await body(fixture)
    for closed in fixture.closed { #expect(closed.connectionCount == 0) }
    await base.stop()
    for origin in origins { await origin.stop() }
  }

  @Test func `a name that was public and is private now is refused, its live connection unused`() async throws {
    try await withFixture({ $0.add("www.evil.test", "127.0.0.2") }) { fixture in
      let first = try await fixture.client.execute(fixture.request("http://www.evil.test:PORT/"))
      #expect(try await first.body.text() == "open")
      fixture.base.provider.records = RecordTable { $0.add("www.evil.test", "127.0.0.1", "::1") }
      fixture.base.resolver.invalidate(Sample.name("www.evil.test"))
      #expect(await fixture.code("http://www.evil.test:PORT/") == .addressForbidden)
      #expect(fixture.open.requests.count == 1)
    }
  }

  @Test func `of a mixed answer the public address alone is used, whether it answers or not`() async throws {
    try await withFixture({ records in
      records.add("www.evil.test", "127.0.0.1", "127.0.0.2")
      records.add("down.evil.test", "127.0.0.1", "127.0.0.2")
    }) { fixture in
      for _ in 0..<5 {
        let response = try await fixture.client.execute(fixture.request("http://www.evil.test:PORT/"))
        #expect(response.connection.remoteAddress == IPAddress("127.0.0.2"))
        _ = try await response.body.text()
      }
      await fixture.open.stop()
      #expect(await fixture.code("http://down.evil.test:PORT/") == .connectFailed)
    }
  }

  @Test(arguments: [
    ["127.0.0.1"], ["::1"], ["0.0.0.0"], ["::"], ["::ffff:127.0.0.1"], ["64:ff9b::7f00:1"], ["::127.0.0.1"],
    ["2002:7f00:1::"], ["10.0.0.1", "169.254.169.254"], ["fe80::1"], ["168.63.129.16"],
  ])
  func `a name that leads to a private address is refused in every form of it`(_ addresses: [String]) async throws {
    try await withFixture({ $0.add("www.evil.test", addresses.compactMap { IPAddress($0) }) }) { fixture in
      #expect(await fixture.code("http://www.evil.test:PORT/") == .addressForbidden)
    }
  }

  @Test func `loopback that a list denies is not reached by the unspecified address, in a URL or an answer`()
    async throws
  {
    try await withFixture(
      { records in
        records.add("four.evil.test", "0.0.0.0")
        records.add("six.evil.test", "::")
        records.add("mapped.evil.test", "::ffff:0.0.0.0")
        records.add("www.shop.test", "127.0.0.2")
      }, handler: { request in OriginResponse(.found, fields: [.location: request.value("to") ?? ""]) }
    ) { fixture in
      var configuration = fixture.client.configuration
      configuration.policy = AddressPolicy(
        .any, deniedNetworks: ["127.0.0.1/32", "::1/128"].compactMap { IPNetwork($0) })
      let client = try DirectClient(configuration, resolver: fixture.base.resolver)
      for host in [
        "0.0.0.0", "0", "0x0.0", "%30", "[::]", "[0::0]", "[::ffff:0.0.0.0]", "[::ffff:0:0]", "[64:ff9b::]",
        "four.evil.test", "six.evil.test", "mapped.evil.test",
      ] {
        for url in [
          "http://\(host):PORT/",
          "http://www.shop.test:PORT/?to=http://\(host.replacing("%", with: "%25")):\(fixture.port)/",
        ] {
          let error = await #expect(throws: DirectDNSError.self, "\(url)") {
            try await client.execute(fixture.request(url))
          }
          #expect(error?.code == .addressForbidden, "\(url)")
        }
      }
      await client.shutdown()
    }
  }

  @Test func `an alias to a private name is refused`() async throws {
    try await withFixture({ records in
      records.alias("www.evil.test", to: "next.evil.test")
      records.alias("next.evil.test", to: "database.corp.test")
      records.add("database.corp.test", "127.0.0.1")
    }) { fixture in
      #expect(await fixture.code("http://www.evil.test:PORT/") == .addressForbidden)
    }
  }

  /// Ways to write this machine's addresses.
  private static let spellings = [
    "127.0.0.1", "127.1", "127.0.1", "0x7f.1", "0x7f000001", "2130706433", "0177.0.0.1", "017700000001", "127.0.0.1.",
    "１２７.0.0.1", "127。0。0。1", "%31%32%37.0.0.1", "127.0.0.%31", "0", "0.0.0.0", "0x0", "[::1]", "[0:0:0:0:0:0:0:1]",
    "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[64:ff9b::127.0.0.1]",
    "[64:ff9b::7f00:1]", "[::127.0.0.1]", "localhost", "LOCALHOST.", "a.localhost", "ip6-localhost",
    "localhost.localdomain", "user@127.0.0.1", "www.shop.test@127.0.0.1", "www.shop.test:80@127.0.0.1",
  ]

  @Test func `a literal in any spelling is refused, in the URL and by redirect`() async throws {
    try await withFixture(
      { $0.add("www.shop.test", "127.0.0.2") },
      handler: { request in
        OriginResponse(.found, fields: [.location: request.value("to") ?? ""])
      }
    ) { fixture in
      for spelling in Self.spellings {
        let target = "http://\(spelling):PORT/"
        #expect(await fixture.code(target) == .addressForbidden, "\(spelling)")
        let escaped = target.replacing("PORT", with: "\(fixture.port)").utf8.map {
          "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16)
        }.joined()
        let before = fixture.open.requests.count
        #expect(await fixture.code("http://www.shop.test:PORT/?to=\(escaped)") == .addressForbidden, "\(spelling)")
        #expect(fixture.open.requests.count == before + 1)
      }
    }
  }

  @Test func `a redirect to a private name is refused, and what browsers read as another host too`() async throws {
    let locations = [
      "http://inside.evil.test:PORT/", "//inside.evil.test:PORT/", "\\\\127.0.0.1:PORT/",
      "http:\\\\127.0.0.1:PORT\\@www.shop.test/", "http://127.0.0.1:PORT\\@www.shop.test/",
      "http:/\t/127.0.0.1:PORT/", " http://127.0.0.1:PORT/", "HTTP:127.0.0.1:PORT/x/..//",
    ]
    let next = Locked("")
    try await withFixture(
      { records in
        records.add("www.shop.test", "127.0.0.2")
        records.add("inside.evil.test", "127.0.0.1")
      },
      handler: { _ in OriginResponse(.found, fields: [.location: next.withLock { $0 }]) }
    ) { fixture in
      for location in locations.dropLast() {
        next.withLock { $0 = location.replacing("PORT", with: "\(fixture.port)") }
        #expect(await fixture.code("http://www.shop.test:PORT/") == .addressForbidden, "\(location)")
      }
      // `http:` without slashes is relative to an http URL: it leads back to the host itself.
      next.withLock { $0 = "http:127.0.0.1" }
      #expect(await fixture.code("http://www.shop.test:PORT/") == .tooManyRedirects)
    }
  }

  @Test func `an answer that is stale is judged like a fresh one`() async throws {
    try await withFixture({ $0.add("www.evil.test", "127.0.0.1", ttl: 60) }) { fixture in
      _ = try await fixture.base.resolver.resolve("www.evil.test")
      await fixture.base.provider.stop()
      fixture.clock.advance(by: .seconds(3600))
      var request = RequestOptions()
      request.lookup = LookupOptions(expired: .preferred)
      let error = await #expect(throws: DirectDNSError.self) {
        try await fixture.client.execute(fixture.request("http://www.evil.test:PORT/"), options: request)
      }
      #expect(error?.code == .addressForbidden)
    }
  }

  @Test(arguments: [["127.0.0.1", "::1"], ["127.0.0.1", "127.0.0.2"]])
  func `a stored answer is judged like any other, after a public one and where a process starts with it`(
    _ addresses: [String]
  ) async throws {
    let store = MemoryAnswerStore()
    try await withFixture({ $0.add("www.evil.test", "127.0.0.2", ttl: 60) }, store: store) { fixture in
      let first = try await fixture.client.execute(fixture.request("http://www.evil.test:PORT/"))
      #expect(try await first.body.text() == "open")
      // What this process has asked is to be in the store before the other's answers, and not over them.
      await fixture.base.resolver.finishQueries(within: .seconds(9))
      await fixture.base.resolver.flushStore()
      await fixture.base.provider.stop()
      fixture.clock.advance(by: .seconds(120))
      for family in IPAddress.Family.allCases {
        let list = addresses.map(Sample.address).filter { $0.family == family }
        let now = fixture.clock.wallNow
        store.write([
          StoredAnswer(
            AddressQuestion(Sample.name("www.evil.test"), family),
            list.isEmpty ? .negative(.noAddress) : .addresses(list), provider: "other", asked: now,
            expires: now + .seconds(300), gone: now + .seconds(86_700))
        ])
      }
      let next = try await ClientFixture(
        clock: fixture.clock, policy: fixture.client.configuration.policy, store: store)
      await next.provider.stop()
      for client in [fixture.client, next.client] {
        let source = try await client.resolver.resolve("www.evil.test").source
        #expect(source == .store)
        for _ in 0..<3 {
          guard addresses.contains("127.0.0.2") else {
            let error = await #expect(throws: DirectDNSError.self) {
              try await client.execute(fixture.request("http://www.evil.test:PORT/"))
            }
            #expect(error?.code == .addressForbidden)
            continue
          }
          let response = try await client.execute(fixture.request("http://www.evil.test:PORT/"))
          #expect(response.connection.remoteAddress == IPAddress("127.0.0.2"))
          _ = try await response.body.text()
        }
      }
      await next.stop()
    }
  }

  @Test func `the Host field moves a request nowhere, and excuses none`() async throws {
    try await withFixture({ records in
      records.add("www.shop.test", "127.0.0.2")
      records.add("inside.evil.test", "127.0.0.1")
    }) { fixture in
      for host in ["localhost", "127.0.0.1", "inside.evil.test", "127.0.0.1:\(fixture.port)"] {
        let request = try fixture.request("http://www.shop.test:PORT/", [.hostField: host])
        let response = try await fixture.client.execute(request)
        #expect(response.connection.remoteAddress == IPAddress("127.0.0.2"))
        _ = try await response.body.text()
      }
      #expect(fixture.open.requests.map(\.host).last == "127.0.0.1:\(fixture.port)")
      for url in ["http://inside.evil.test:PORT/", "http://127.0.0.1:PORT/", "http://[::1]:PORT/"] {
        #expect(await fixture.code(url, [.hostField: "www.shop.test"]) == .addressForbidden)
      }
    }
  }

  @Test func `a request that was rewritten to an address is judged by that address`() async throws {
    try await withFixture({ $0.add("www.shop.test", "127.0.0.2") }) { fixture in
      let fields: HTTPFields = [.hostField: "www.shop.test", .originalURL: "http://www.shop.test/"]
      #expect(await fixture.code("http://127.0.0.1:PORT/", fields) == .addressForbidden)
      let response = try await fixture.client.execute(fixture.request("http://127.0.0.2:PORT/", fields))
      #expect(try await response.body.text() == "open")
      #expect(fixture.open.requests.map(\.host) == ["www.shop.test"])
      #expect(fixture.open.requests.map { $0.field("originalUrl") } == [nil])
    }
  }
}
