// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

/// The first promise: DNS is dead, and a request to a name that was ever resolved still goes out.
@Suite(.timeLimit(.minutes(1)))
struct DeadProvidersTests {
  @Test func `known names keep working when every provider is dead, and say how old their answer is`() async throws {
    let origin = try await FakeOrigin.start()
    let clock = ManualClock()
    let fixture = try await ClientFixture(
      records: RecordTable { $0.add("www.shop.test", "127.0.0.1", ttl: 60) }, clock: clock)
    let get = try ClientSample.get(origin.url("/", host: "www.shop.test"))
    func ask(_ options: RequestOptions = RequestOptions()) async throws -> DirectResponse {
      let response = try await fixture.client.execute(get, options: options)
      _ = try await response.body.text()
      // A live connection would hide that a new one can still be opened.
      await origin.closeConnections()
      return response
    }
    #expect(try await ask().freshness == .fresh)
    await fixture.provider.stop()
    clock.advance(by: .seconds(70))
    let grace = try await ask()
    #expect(grace.freshness == .grace && grace.resolution?.expiredFor == .seconds(10))
    clock.advance(by: .seconds(3_600))
    // The provider refuses at once: the request waits for that, not for the client response timeout.
    let stale = try await ask()
    #expect(stale.freshness == .stale && stale.resolution?.expiredFor == .seconds(3_610))
    clock.advance(by: .seconds(82_000))
    #expect(try await ask().freshness == .stale)
    #expect(origin.requests.count == 4)
    clock.advance(by: .seconds(86_400))
    let error = await #expect(throws: DirectDNSError.self) { try await ask() }
    #expect(error?.code == .upstreamFailed, "\(String(describing: error))")
    await fixture.stop()
    await origin.stop()
  }

  @Test func `a name that is asked for the first time fails and says who was asked`() async throws {
    let fixture = try await ClientFixture()
    await fixture.provider.stop()
    let error = await #expect(throws: DirectDNSError.self) {
      try await fixture.client.execute(ClientSample.get("http://www.shop.test/"))
    }
    #expect(error?.code == .upstreamFailed && error?.attempts.first?.server == "fake")
    await fixture.stop()
  }

  @Test func `providers that are silent delay a stale answer by the client response timeout alone`() async throws {
    let origin = try await FakeOrigin.start()
    let clock = ManualClock()
    let fixture = try await ClientFixture(
      records: RecordTable { $0.add("www.shop.test", "127.0.0.1", ttl: 60) }, clock: clock)
    _ = try await fixture.resolver.resolve("www.shop.test")
    fixture.provider.misbehave(.hang)
    clock.advance(by: .seconds(3_600))
    let request = Task {
      try await fixture.client.execute(ClientSample.get(origin.url("/", host: "www.shop.test")))
    }
    await fixture.provider.waitForRequests(3)
    clock.advance(by: CachePolicy().clientResponseTimeout)
    #expect(try await request.value.freshness == .stale)
    await fixture.stop()
    await origin.stop()
  }
}
