import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// Looking up as if there were no providers and no cache.
@Suite(.timeLimit(.minutes(1)))
struct ResolverOrdinaryTests {
  private static let host = Laboratory.host

  private func outcome(
    _ laboratory: Laboratory, _ host: HostName = ResolverOrdinaryTests.host, timeout: Duration? = nil
  ) async -> Result<Resolution, DirectDNSError> {
    do throws(DirectDNSError) {
      return .success(
        try await laboratory.resolver.resolveWithSystemDNS(host, options: LookupOptions(timeout: timeout)))
    } catch {
      return .failure(error)
    }
  }

  @Test func `the system's DNS alone is asked, past a cache that knows better`() async throws {
    let laboratory = try Laboratory { $0.usesSystemDNS = false }
    try await laboratory.learn("192.0.2.1", ttl: 3600)
    laboratory.system.answer { _ in .answer(.addresses("192.0.2.5")) }
    for _ in 0..<2 {
      let found = try await outcome(laboratory).get()
      #expect(found.texts == ["192.0.2.5"] && found.source == .system)
    }
    #expect(laboratory.system.count == 2 && laboratory.transport.count == 1)
    #expect(laboratory.resolver.cached(Self.host)?.texts == ["192.0.2.1"])
  }

  @Test func `failures are told, and neither remembered nor covered by an answer`() async throws {
    let laboratory = try Laboratory()
    try await laboratory.learn("192.0.2.1", ttl: 3600)
    for count in 1...2 {
      let error = await outcome(laboratory).error
      #expect(error?.code == .upstreamFailed && error?.attempts.map(\.provider) == ["system"])
      #expect(error?.message.contains("direct connect is switched off") == true)
      #expect(laboratory.system.count == count)
    }
    laboratory.system.answer { _ in .answer(.negative(.nameNotFound)) }
    #expect(await outcome(laboratory).error?.code == .nameNotFound)
    #expect(laboratory.resolver.cached(Self.host) != nil)
  }

  @Test func `pins and names of this machine are what they always are`() async throws {
    let pinned = Sample.name("pinned.example")
    let laboratory = try Laboratory { $0.localZones.pins = [pinned: Sample.addresses("192.0.2.9")] }
    #expect(try await outcome(laboratory, pinned).get().source == .pin)
    #expect(try await outcome(laboratory, Sample.name("localhost")).get().source == .local)
    #expect(await outcome(laboratory, Sample.name("a.onion")).error?.code == .refused)
    #expect(laboratory.system.count == 0)
  }

  @Test func `a name of this network is asked for even where the system's DNS is no fallback`() async throws {
    let laboratory = try Laboratory { $0.usesSystemDNS = false }
    laboratory.system.answer { _ in .answer(.addresses("10.0.0.9")) }
    #expect(try await outcome(laboratory, Sample.name("printer.local")).get().texts == ["10.0.0.9"])
  }

  @Test func `callers share a query, and each waits as long as it wants`() async throws {
    let laboratory = try Laboratory()
    laboratory.system.answer { _ in .answer(.addresses("192.0.2.5"), after: .seconds(2)) }
    let patient = Task.immediate { await outcome(laboratory) }
    let hasty = Task.immediate { await outcome(laboratory, timeout: .seconds(1)) }
    await laboratory.clock.waitForSleepers(2)
    laboratory.clock.advance(by: .seconds(1))
    #expect(await hasty.value.error?.code == .timedOut)
    laboratory.clock.advance(by: .seconds(1))
    #expect(try await patient.value.get().texts == ["192.0.2.5"])
    #expect(laboratory.system.count == 1)
  }
}
