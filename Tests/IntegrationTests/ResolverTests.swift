// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Testing

/// The library's resolver against the real servers.
@Suite(
  "The resolver over real servers", .enabled(if: ServerFixture.missing.isEmpty, "not every server is installed"),
  .timeLimit(.minutes(1)))
struct ResolverTests {
  // MARK: The pieces

  private func provider(
    _ name: String, _ server: some DoHServer, _ method: MessageProvider.Method = .get
  ) throws -> ProviderConfiguration {
    ProviderConfiguration(
      provider: MessageProvider(name: name, url: try WebURL(server.dohURL), method: method),
      bootstrap: [.ipv4(0x7F00_0001)])
  }

  private func json(_ name: String, _ url: String) throws -> ProviderConfiguration {
    ProviderConfiguration(
      provider: JSONProvider(name: name, url: try WebURL(url)), bootstrap: [.ipv4(0x7F00_0001)])
  }

  /// Lends a resolver of those providers that trusts the fixture's authority and never asks the system.
  private func withResolver(
    _ providers: ProviderConfiguration..., hedges: Bool = false, clock: any ResolverClock = SystemClock(),
    _ body: (DirectResolver) async throws -> Void
  ) async throws {
    var configuration = ResolverConfiguration(providers: providers)
    configuration.usesSystemDNS = false
    configuration.hedges = hedges
    configuration.trust = TrustStore(privateAuthorities: [try await LabCertificate.shared.caFile])
    let resolver = try DirectResolver(configuration, clock: clock)
    defer { resolver.shutdown() }
    try await body(resolver)
  }

  private func code(_ resolver: DirectResolver, _ name: String, _ families: AddressFamilies = .any) async
    -> DirectDNSError.Code?
  {
    do throws(DirectDNSError) {
      _ = try await resolver.resolve(name, options: LookupOptions(families: families))
      return nil
    } catch {
      return error.code
    }
  }

  /// What any provider of the fixture's zone has to say.
  private func expectAnswers(_ resolver: DirectResolver) async throws {
    let www = try await resolver.resolve("WWW.lab.test.")
    #expect(www.addresses.map(\.description) == ["127.0.0.1"])
    #expect(www.freshness == .fresh && www.source == .provider("first") && www.canonicalName == nil)
    let left = try #require(www.timeToLive)
    #expect(left > .seconds(290) && left <= .seconds(300))

    let chain = try await resolver.resolve("chain.lab.test")
    #expect(
      chain.addresses.map(\.description) == ["127.0.0.1"] && chain.canonicalName?.text == "www.lab.test")
    let many = try await resolver.resolve("many.lab.test").addresses
    #expect(many.map(\.description).sorted() == ["127.0.0.1", "127.0.0.2", "127.0.0.3"])
    let idn = try await resolver.resolve("münchen.lab.test").addresses
    #expect(idn.map(\.description) == ["127.0.0.1"])

    let six = try await resolver.resolve("dual.lab.test", options: LookupOptions(families: .ipv6))
    #expect(six.addresses.map(\.description) == ["::1"])
    #expect(try await resolver.resolve("six-only.lab.test").addresses.map(\.description) == ["::1"])

    #expect(await code(resolver, "six-only.lab.test", .ipv4) == .noAddress)
    #expect(await code(resolver, "missing.lab.test") == .nameNotFound)
  }

  @Test func `a name that unbound drops with its connection fails none of those that were asked for beside it`()
    async throws
  {
    try await Unbound.running { server in
      try await withResolver(try provider("first", server)) { resolver in
        for round in 0..<5 {
          let names = (0..<30).map { "\(LabZone.host(round * 30 + $0)).lab.test" }
          let failed = await withTaskGroup(of: (String, DirectDNSError.Code?).self, returning: [String].self) { group in
            for name in names + ["x\(round).dropped.lab.test"] {
              group.addTask { (name, await code(resolver, name, .ipv4)) }
            }
            return await group.reduce(into: []) { if let code = $1.1 { $0.append("\($1.0): \(code)") } }
          }
          #expect(failed.count == 1 && failed.allSatisfy { $0.contains(".dropped.") }, "\(failed)")
        }
      }
    }
  }

  @Test func `no lookup fails while nginx ends one connection after the other`() async throws {
    let server = try await NginxJSON(requestsPerConnection: 100)
    try await server.start()
    do {
      try await withResolver(try json("first", server.jsonURL)) { resolver in
        for round in 0..<15 {
          let codes = await withTaskGroup(
            of: DirectDNSError.Code?.self, returning: [DirectDNSError.Code?: Int].self
          ) { group in
            for number in 0..<200 { group.addTask { await code(resolver, "n\(number).r\(round).lab.test", .ipv4) } }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
          }
          #expect(codes == [.nameNotFound: 200])
        }
      }
    } catch {
      try await server.stop()
      throw error
    }
    try await server.stop()
  }

  // MARK: Answers

  @Test(arguments: DoHKind.allCases)
  func `a DoH server's answers are understood, by GET and by POST`(_ kind: DoHKind) async throws {
    try await answers(kind.server)
  }

  private func answers<Server: DoHServer>(_ kind: Server.Type) async throws {
    try await kind.running { server in
      for method in [MessageProvider.Method.get, .post] {
        try await withResolver(try provider("first", server, method)) { try await expectAnswers($0) }
      }
    }
  }

  @Test func `a JSON server's answers are understood, and its failures are the next one's turn`() async throws {
    try await NginxJSON.running { server in
      for url in [server.jsonURL, server.plainURL] {
        try await withResolver(try json("first", url)) { try await expectAnswers($0) }
      }
      let base = server.jsonURL.dropLast("/resolve".count)
      for path in ["/servfail", "/error", "/nothing-here"] {
        try await withResolver(try json("first", base + path), try json("second", server.jsonURL)) {
          resolver async throws in
          #expect(try await resolver.resolve("www.lab.test").source == .provider("second"))
        }
      }
    }
  }

  @Test(arguments: DoHKind.allCases)
  func `what is missing is remembered for as long as the zone says`(_ kind: DoHKind) async throws {
    try await remembersNothing(kind.server)
  }

  private func remembersNothing<Server: DoHServer>(_ kind: Server.Type) async throws {
    try await kind.running { server in
      let clock = ManualClock()
      try await withResolver(try provider("first", server), clock: clock) { resolver async throws in
        #expect(await code(resolver, "missing.lab.test") == .nameNotFound)
        try await server.kill()
        clock.advance(by: .seconds(LabZone.negativeTTL - 1))
        #expect(await code(resolver, "missing.lab.test") == .nameNotFound)
        clock.advance(by: .seconds(2))
        #expect(await code(resolver, "missing.lab.test") == .upstreamFailed)
      }
    }
  }

  @Test(arguments: DoHKind.allCases)
  func `three hundred names in flight are all answered`(_ kind: DoHKind) async throws {
    try await answersManyAtOnce(kind.server)
  }

  private func answersManyAtOnce<Server: DoHServer>(_ kind: Server.Type) async throws {
    try await kind.running { server in
      try await withResolver(try provider("first", server)) { resolver async throws in
        try await withThrowingTaskGroup(of: (Int, [String]).self) { group in
          for number in 0..<300 {
            group.addTask {
              let name = "\(LabZone.host(number)).lab.test"
              return (number, try await resolver.resolve(name).addresses.map(\.description))
            }
          }
          for try await (number, addresses) in group {
            #expect(addresses == [LabZone.address(ofHost: number)])
          }
        }
      }
    }
  }

  // MARK: Servers that die

  @Test(arguments: DoHKind.allCases)
  func `a server killed in mid-flight is replaced, and asked again when it is back`(_ kind: DoHKind)
    async throws
  {
    try await isReplaced(kind.server)
  }

  private func isReplaced<Server: DoHServer>(_ kind: Server.Type) async throws {
    try await kind.running { first in
      try await Unbound.running { second in
        let clock = ManualClock()
        try await withResolver(try provider("first", first), try provider("second", second), clock: clock) {
          resolver async throws in
          #expect(try await resolver.resolve("www.lab.test").source == .provider("first"))
          try await first.pause()
          let lookups = (0..<40).map { number in
            Task.immediate { try await resolver.resolve("\(LabZone.host(number)).lab.test") }
          }
          try await first.kill()
          var sources: Set<Resolution.Source> = []
          for (number, lookup) in lookups.enumerated() {
            let found = try await lookup.value
            #expect(found.addresses.map(\.description) == [LabZone.address(ofHost: number)])
            sources.insert(found.source)
          }
          // A process stops a moment after it was told to: some may have been answered by then.
          #expect(sources.contains(.provider("second")))
          // A known name is served from what is known, fresh or not, before anybody is asked.
          #expect(try await resolver.resolve("www.lab.test").source == .provider("first"))

          try await first.start()
          // Its breaker stays open for half a minute.
          #expect(try await resolver.resolve("api.lab.test").source == .provider("second"))
          clock.advance(by: .seconds(31))
          // One query probes it, so that one family is all that is asked for.
          let probe = try await resolver.resolve("cdn.lab.test", options: LookupOptions(families: .ipv4))
          #expect(probe.source == .provider("first"))
        }
      }
    }
  }

  @Test(arguments: DoHKind.allCases)
  func `when every server is dead, known names go on with expired answers`(_ kind: DoHKind) async throws {
    try await goesOn(kind.server)
  }

  private func goesOn<Server: DoHServer>(_ kind: Server.Type) async throws {
    try await kind.running { server in
      let clock = ManualClock()
      try await withResolver(try provider("first", server), clock: clock) { resolver async throws in
        let options = LookupOptions(families: .ipv4)
        _ = try await resolver.resolve("www.lab.test", options: options)
        try await server.kill()
        clock.advance(by: .seconds(3600))
        let stale = try await resolver.resolve("www.lab.test", options: options)
        #expect(stale.freshness == .stale && stale.addresses.map(\.description) == ["127.0.0.1"])
        #expect(stale.expiredFor == .seconds(3300) && stale.timeToLive == .seconds(30))
        let strict = LookupOptions(families: .ipv4, expired: .refused)
        let error = await #expect(throws: DirectDNSError.self) {
          try await resolver.resolve("www.lab.test", options: strict)
        }
        #expect(error?.code == .upstreamFailed)
        #expect(await code(resolver, "api.lab.test") == .upstreamFailed)

        try await server.start()
        clock.advance(by: .seconds(60))
        let fresh = try await resolver.resolve("www.lab.test", options: options)
        #expect(fresh.freshness == .fresh && fresh.source == .provider("first"))
        clock.advance(by: .seconds(86_400 + 301))
        try await server.kill()
        #expect(
          await code(resolver, "www.lab.test", .ipv4) == .upstreamFailed, "no answer is older than a day")
      }
    }
  }

  @Test func `an endpoint whose backend died is the next one's turn`() async throws {
    try await DNSDist.running { first in
      try await Unbound.running { second in
        try await withResolver(try provider("first", first), try provider("second", second)) {
          resolver async throws in
          #expect(try await resolver.resolve("www.lab.test").source == .provider("first"))
          try await first.backend.kill()
          #expect(try await resolver.resolve("api.lab.test").source == .provider("second"))
        }
      }
    }
  }

  // MARK: Servers that are slow

  @Test(arguments: DoHKind.allCases)
  func `a server that pauses is overtaken by the next one`(_ kind: DoHKind) async throws {
    try await isOvertaken(kind.server)
  }

  private func isOvertaken<Server: DoHServer>(_ kind: Server.Type) async throws {
    try await kind.running { first in
      try await Unbound.running { second in
        try await withResolver(try provider("first", first), try provider("second", second), hedges: true) {
          resolver async throws in
          #expect(try await resolver.resolve("www.lab.test").source == .provider("first"))
          try await first.pause()
          let begin = ContinuousClock.now
          // One query in ten is hedged: of thirty, some are answered while the server sleeps.
          let source = try await withThrowingTaskGroup(of: Resolution.Source.self) { group in
            for number in 0..<30 {
              group.addTask {
                let options = LookupOptions(families: .ipv4)
                return try await resolver.resolve("\(LabZone.host(number)).lab.test", options: options).source
              }
            }
            defer { group.cancelAll() }
            for try await source in group where source != .provider("first") { return source }
            return .provider("first")
          }
          #expect(source == .provider("second"))
          #expect(ContinuousClock.now - begin < .seconds(3), "a query alone has three seconds")
          await first.resume()
        }
      }
    }
  }
}
