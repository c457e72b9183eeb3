// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSRedis
import Testing

@testable import DirectDNSTesting

/// Lookups of several processes that share a Redis.
@Suite(.enabled(if: Redis.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(1)))
struct RedisLookupTests {
  private func configuration(_ provider: Unbound, _ server: Redis) async throws -> ResolverConfiguration {
    var configuration = ResolverConfiguration(providers: [
      ProviderConfiguration(
        provider: MessageProvider(name: "first", url: try WebURL(provider.dohURL)), bootstrap: [.ipv4(0x7f00_0001)])
    ])
    configuration.usesSystemDNS = false
    configuration.families = .ipv4
    configuration.trust = TrustStore(privateAuthorities: [try await LabCertificate.shared.caFile])
    configuration.store = try server.store()
    // A busy machine's Redis answers in time, too; a dead one refuses at once.
    configuration.storeTimeout = .seconds(20)
    return configuration
  }

  @Test(.enabled(if: ServerFixture.missing.isEmpty, "not every server is installed"))
  func `the holder of a lease is killed: another member asks after its patience`() async throws {
    try await Redis.running { server in
      try await Unbound.running { provider in
        let resolver = try DirectResolver(try await configuration(provider, server))
        // Connections stand: what is measured is the wait.
        _ = try await resolver.resolve("chain.lab.test")
        let holder = try Member("hold", server.url, "www.lab.test")
        #expect(try await holder.line() == "held\n")
        holder.kill()
        let begun = ContinuousClock.now
        let resolution = try await resolver.resolve("www.lab.test")
        let took = ContinuousClock.now - begun
        #expect(resolution.source == .provider("first"))
        #expect(took >= .milliseconds(290) && took < .seconds(4), "\(took)")
        await resolver.shutdown(flushingWithin: .seconds(2))
      }
    }
  }

  @Test(.enabled(if: ServerFixture.missing.isEmpty, "not every server is installed"))
  func `what one process learned serves the next, and a dead Redis fails no lookup`() async throws {
    try await Redis.running { server in
      try await Unbound.running { provider in
        let first = try DirectResolver(try await configuration(provider, server))
        _ = try await first.resolve("www.lab.test")
        #expect(await first.shutdown(flushingWithin: .seconds(2)).unwritten == 0)
        let second = try DirectResolver(try await configuration(provider, server))
        #expect(try await second.resolve("www.lab.test").source == .store)
        try await server.process.kill()
        for number in 0..<20 {
          let host = "host-0000\(number + 10).lab.test"
          #expect(try await second.resolve(host).source == .provider("first"))
        }
        let flush = await second.shutdown(flushingWithin: .seconds(2))
        #expect(flush.unwritten == 20)
        #expect(flush.reason?.code == .storeFailed)
        try await server.process.start()
      }
    }
  }

  @Test func `a fleet whose Redis is killed fails no lookup: each member asks for itself`() async throws {
    let names = 400
    var records = RecordTable()
    for number in 0..<names { records.add("host-\(number).example.net", "192.0.2.\(number % 256)", ttl: 600) }
    let provider = try await FakeProvider.start(records: records)
    try await Redis.running { server in
      let members = try (0..<4).map { _ in
        try Member("look", server.url, provider.baseURL + "/resolve", "\(names)", "3", "100", "ahead")
      }
      // Under way, with names that nobody has asked for yet.
      await provider.waitForRequests(100)
      try await server.process.kill()
      for member in members {
        // Lookups, failed, stale, answers that were not stored, milliseconds of the slowest.
        let figures = try await member.line().split(separator: " ").compactMap { Int($0) }
        try #require(figures.count == 4 || figures.count == 5)
        #expect(figures[0] > 20)
        #expect(figures[1] == 0, "\(figures)")
        #expect(figures[3] > 0, "\(figures)")
      }
      try await server.process.start()
    }
    // Without leases a name is asked for by each member that wants it.
    #expect(Set(provider.requests.compactMap(\.name)).count < provider.requests.count)
    await provider.stop()
  }
}
