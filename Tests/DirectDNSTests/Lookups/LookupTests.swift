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

  @Test(arguments: [
    ("pinned.example", AddressFamilies.any, true, "2001:db8::7 192.0.2.7"),
    ("pinned.example", .ipv4, true, "192.0.2.7"),
    ("one.example", .ipv6, true, "noAddress"), ("localhost", .any, true, "::1 127.0.0.1"),
    ("a.invalid", .any, true, "nameNotFound"), ("abc.onion", .any, true, "refused"),
    ("printer", .any, true, "asked for"), ("printer", .any, false, "refused"),
    ("www.example.net", .any, false, "asked for"),
  ])
  func `a name that nobody is asked for has its own answer, or says why there is none`(
    _ text: String, _ wanted: AddressFamilies, _ hasSystem: Bool, _ expected: String
  ) {
    let zones = LocalZones(pins: [
      Sample.name("pinned.example"): Sample.addresses("192.0.2.7", "2001:db8::7"),
      Sample.name("one.example"): Sample.addresses("192.0.2.7"),
    ])
    let ranking = AnswerCache(policy: CachePolicy(), capacity: 10).ranking
    let name = Sample.name(text)
    let request = LookupRequest(
      host: name, wanted: wanted, route: zones.route(name), expired: .allowed, purpose: .handingOut, prefersIPv6: true)
    var told: String
    do throws(DirectDNSError) {
      let answer = try request.ownAnswer(ranking, hasSystem: hasSystem, at: Sample.at(0))
      told = answer?.texts.joined(separator: " ") ?? "asked for"
    } catch {
      told = "\(error.code)"
    }
    #expect(told == expected)
  }
}
