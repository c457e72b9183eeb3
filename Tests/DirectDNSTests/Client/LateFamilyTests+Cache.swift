// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// Names of which the cache knows one family, or knew the other.
extension LateFamilyTests {
  @Test func `of a cached name the family that expired joins when nothing newer can be had`() async throws {
    let origin = try await FakeOrigin.start()
    let clock = ManualClock()
    let fixture = try await ClientFixture(
      records: RecordTable { records in
        records.add(Self.name, "::1", ttl: 3600)
        records.add(Self.name, "127.0.0.1", ttl: 60)
      }, clock: clock)
    _ = try await fixture.resolver.resolve(Sample.name(Self.name))
    clock.advance(by: .seconds(100))
    fixture.provider.misbehave(.status(503))
    let log = Log()
    let response = try await fixture.client.execute(
      ClientSample.get(origin.url("/", host: Self.name)), options: log.options)
    #expect(log.dialled == ["::1", "127.0.0.1"])
    #expect(response.freshness == .stale && response.resolution?.texts == ["127.0.0.1"])
    await fixture.stop()
    await origin.stop()
  }

  @Test func `a family that is not kept is asked for again when the other one fails`() async throws {
    let origin = try await FakeOrigin.start()
    let fixture = try await ClientFixture(
      records: RecordTable { records in
        records.add(Self.name, "::1", ttl: 3600)
        records.add(Self.name, "127.0.0.1", ttl: 0)
      })
    _ = try await fixture.resolver.resolve(Sample.name(Self.name))
    // On a busy machine the second family may come after the 50 ms that a lookup waits for it.
    await fixture.resolver.finishQueries(within: .seconds(9))
    #expect(fixture.resolver.cached(Sample.name(Self.name))?.texts == ["::1"])
    let response = try await fixture.client.execute(ClientSample.get(origin.url("/", host: Self.name)))
    #expect(response.connection.remoteAddress == IPAddress("127.0.0.1"))
    #expect(fixture.provider.requests.count { $0.type == .a } >= 2)
    await fixture.stop()
    await origin.stop()
  }

  @Test func `a request whose first address answers asks for nothing more`() async throws {
    let origin = try await FakeOrigin.start()
    let fixture = try await ClientFixture(
      records: RecordTable { records in
        records.add(Self.name, "::1", ttl: 0)
        records.add(Self.name, "127.0.0.1", ttl: 3600)
      })
    // The second time the cache knows that one family is not kept, whichever came first.
    for _ in 0..<2 { _ = try await fixture.resolver.resolve(Sample.name(Self.name)) }
    await fixture.resolver.finishQueries(within: .seconds(9))
    let count = fixture.provider.requests.count
    for _ in 0..<3 {
      let response = try await fixture.client.execute(ClientSample.get(origin.url("/", host: Self.name)))
      _ = try await response.body.text()
    }
    #expect(fixture.provider.requests.count == count)
    await fixture.stop()
    await origin.stop()
  }
}
