// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// Looking up as if there were no providers and no cache.
@Suite(.timeLimit(.minutes(1)))
struct ResolverSystemDNSTests {
  private static let host = ResolverFixture.host

  private func outcome(
    _ fixture: ResolverFixture, _ host: HostName = ResolverSystemDNSTests.host, timeout: Duration? = nil
  ) async -> Result<Resolution, DirectDNSError> {
    do throws(DirectDNSError) {
      return .success(
        try await fixture.resolver.resolveWithSystemDNS(host, options: LookupOptions(timeout: timeout)))
    } catch {
      return .failure(error)
    }
  }

  @Test func `the system's DNS alone is asked, past a cache that knows better`() async throws {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    try await fixture.learn("192.0.2.1", ttl: 3600)
    fixture.system.answer { _ in .answer(.addresses("192.0.2.5")) }
    for _ in 0..<2 {
      let found = try await outcome(fixture).get()
      #expect(found.texts == ["192.0.2.5"] && found.source == .system)
    }
    #expect(fixture.system.count == 2 && fixture.transport.count == 1)
    #expect(fixture.resolver.cached(Self.host)?.texts == ["192.0.2.1"])
  }

  @Test func `failures are told, and neither remembered nor covered by an answer`() async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn("192.0.2.1", ttl: 3600)
    for count in 1...2 {
      let error = await outcome(fixture).error
      #expect(error?.code == .upstreamFailed && error?.attempts.map(\.server) == ["system"])
      #expect(error?.message.contains("direct connect is switched off") == true)
      #expect(fixture.system.count == count)
    }
    fixture.system.answer { _ in .answer(.negative(.nameNotFound)) }
    #expect(await outcome(fixture).error?.code == .nameNotFound)
    #expect(fixture.resolver.cached(Self.host) != nil)
  }

  @Test func `pins and names of this machine are what they always are`() async throws {
    let pinned = Sample.name("pinned.example")
    let fixture = try ResolverFixture { $0.localZones.pins = [pinned: Sample.addresses("192.0.2.9")] }
    #expect(try await outcome(fixture, pinned).get().source == .pin)
    #expect(try await outcome(fixture, Sample.name("localhost")).get().source == .local)
    #expect(await outcome(fixture, Sample.name("a.onion")).error?.code == .refused)
    #expect(fixture.system.count == 0)
  }

  @Test func `a name of this network is asked for even where the system's DNS is no fallback`() async throws {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    fixture.system.answer { _ in .answer(.addresses("10.0.0.9")) }
    #expect(try await outcome(fixture, Sample.name("printer.local")).get().texts == ["10.0.0.9"])
  }

  @Test func `callers share a query, and each waits as long as it wants`() async throws {
    let fixture = try ResolverFixture()
    fixture.system.answer { _ in .answer(.addresses("192.0.2.5"), after: .seconds(2)) }
    let patient = Task.immediate { await outcome(fixture) }
    let hasty = Task.immediate { await outcome(fixture, timeout: .seconds(1)) }
    await fixture.clock.waitForSleepers(2)
    fixture.clock.advance(by: .seconds(1))
    #expect(await hasty.value.error?.code == .timedOut)
    fixture.clock.advance(by: .seconds(1))
    #expect(try await patient.value.get().texts == ["192.0.2.5"])
    #expect(fixture.system.count == 1)
  }
}
