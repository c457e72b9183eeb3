// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

struct ProviderStatusTests {
  @Test func `a provider that was not asked has no times`() throws {
    let fixture = try ResolverFixture("one", "two")
    let status = fixture.resolver.providerStatus
    #expect(status.map(\.provider) == ["one", "two"])
    #expect(status.allSatisfy { $0.queries == 0 && $0.failures == 0 && $0.median == nil && !$0.isBreakerOpen })
  }

  @Test func `queries, failures, percentiles and the breaker are told`() {
    var health = ServerHealth()
    for number in 1...10 { health.answered(in: .milliseconds(number), at: Sample.at(0)) }
    for number in 1...3 {
      let lookup = ServerHealth.LookupKey(
        host: ResolverFixture.host, end: ResolverInstant(nanoseconds: Int64(number)))
      health.failed(.transport, of: lookup, in: .seconds(3), at: .init(nanoseconds: 0))
    }
    var status = ProviderStatus(ScriptedProvider("one"), health)
    #expect(status.queries == 13 && status.failures == 3 && status.isBreakerOpen)
    #expect(status.median == .milliseconds(6) && status.percentile95 == .milliseconds(10))
    health.networkDidChange()
    status = ProviderStatus(ScriptedProvider("one"), health)
    #expect(status.queries == 13 && status.failures == 3 && !status.isBreakerOpen && status.median == nil)
  }
}
