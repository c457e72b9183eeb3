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
      host: name, wanted: wanted, route: zones.route(for: name), expired: .allowed, purpose: .handingOut,
      prefersIPv6: true)
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

struct WaitingLookupsTests {
  private func lookup(_ number: Number<DirectDNS.Lookup>, until seconds: Double) -> DirectDNS.Lookup {
    let request = LookupRequest(
      host: Sample.name("a.test"), wanted: .ipv4, route: .providers, expired: .allowed, timeout: nil,
      purpose: .handingOut, prefersIPv6: true)
    let caller = LookupCaller(
      number: number, request: request, deadlines: LookupDeadlines(timeout: .seconds(5), from: Sample.at(0)),
      began: Sample.at(0))
    return DirectDNS.Lookup(
      caller: caller, phase: .refreshing, wait: FamilyWait(.ipv4, for: .handingOut, until: Sample.at(seconds)))
  }

  private func due(_ lookups: inout WaitingLookups, at seconds: Double) -> [Number<DirectDNS.Lookup>] {
    var due: [Number<DirectDNS.Lookup>] = []
    while let number = lookups.takeDue(at: Sample.at(seconds)) { due.append(number) }
    return due
  }

  @Test func `lookups end in the order of their ends, none before its own`() {
    var lookups = WaitingLookups()
    for (number, end) in [(1, 3.0), (2, 1), (3, 2)] { lookups.add(lookup(Number(rawValue: number), until: end)) }
    #expect(lookups.nextEnd() == Sample.at(1))
    #expect(due(&lookups, at: 0.9).isEmpty)
    #expect(due(&lookups, at: 2) == [2, 3])
    #expect(due(&lookups, at: 9) == [1] && lookups.nextEnd() == nil)
  }

  @Test func `one that is over is passed over, and one that ends at another time comes then`() {
    var lookups = WaitingLookups()
    for number in 1...2 { lookups.add(lookup(Number(rawValue: number), until: 1)) }
    _ = lookups.remove(1)
    lookups.add(lookup(2, until: 4))
    #expect(lookups.nextEnd() == Sample.at(4))
    #expect(due(&lookups, at: 3).isEmpty && due(&lookups, at: 4) == [2])
  }

  @Test func `lookups that go on and on with the same end stay in order, however many there are`() {
    var lookups = WaitingLookups()
    for number in 1...10_000 {
      for _ in 0..<4 { lookups.add(lookup(Number(rawValue: number), until: 1)) }
    }
    var count = 0
    while let number = lookups.takeDue(at: Sample.at(1)) {
      count += 1
      #expect(number.rawValue == count)
      _ = lookups.remove(number)
    }
    #expect(count == 10_000 && lookups.count == 0)
  }

  @Test func `thousands that are over leave those that are not`() {
    var lookups = WaitingLookups()
    for number in 1...5000 {
      lookups.add(lookup(Number(rawValue: number), until: 1))
      if number % 100 != 0 { _ = lookups.remove(Number(rawValue: number)) }
    }
    #expect(due(&lookups, at: 1).map(\.rawValue) == Array(stride(from: 100, through: 5000, by: 100)))
  }

  @Test func `a lookup waits for the servers of its phase, and one that is over for none`() {
    var lookups = WaitingLookups()
    lookups.add(lookup(1, until: 1))
    #expect(lookups.waits(1, for: .providers) && lookups.waits(1, for: .system))
    _ = lookups.remove(1)
    #expect(!lookups.waits(1, for: .providers))
  }
}
