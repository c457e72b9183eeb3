// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct LookupTests {
  private static func lookup(_ phase: DirectDNS.Lookup.Phase) -> DirectDNS.Lookup {
    let request = LookupRequest(
      host: Sample.name("a.test"), wanted: .any, route: .providers, expired: .allowed, purpose: .handingOut,
      prefersIPv6: true)
    let caller = LookupCaller(
      number: 1, request: request, deadlines: LookupDeadlines(timeout: .seconds(5), from: Sample.at(0)),
      began: Sample.at(0))
    return DirectDNS.Lookup(
      caller: caller, phase: phase, wait: FamilyWait(.any, for: .handingOut, until: Sample.at(5)))
  }

  @Test(arguments: [
    (DirectDNS.Lookup.Phase.refreshing, [true, true, true]), (.asking(isSecondLook: false), [true, true, true]),
    (.completing(Resolution()), [true, true, true]), (.renewing(isPatient: true, round: 0), [true, true, true]),
    (.fallingBack(FamilyOutcomes(), failed: .any), [false, true, false]),
    (.askingSystemAlone, [false, false, true]),
  ])
  func `a lookup takes answers of those alone whom its phase waits for`(
    _ phase: DirectDNS.Lookup.Phase, _ expected: [Bool]
  ) {
    let lookup = Self.lookup(phase)
    let servers: [InFlightQuestion.Server] = [.providers, .system, .systemAlone]
    #expect(servers.map { lookup.waits(for: $0) } == expected)
  }

  @Test func `the family with a route comes first`() {
    var request = Self.lookup(.refreshing).request
    #expect(request.preferred == .ipv6)
    request.prefersIPv6 = false
    #expect(request.preferred == .ipv4)
  }
}
