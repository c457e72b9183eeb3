import Testing

@testable import DirectDNS

struct FamilyRaceTests {
  private func steps(
    _ families: AddressFamilies, _ outcomes: (IPAddress.Family, FamilyRace.Outcome)...
  ) -> [FamilyRace.Step] {
    var race = FamilyRace(families)
    return outcomes.map { race.note($0.0, $0.1) }
  }

  @Test func `IPv6 first with addresses is used at once`() {
    #expect(steps(.any, (.ipv6, .addresses)) == [.done])
  }

  @Test func `IPv4 first with addresses gives IPv6 50 ms more`() {
    #expect(steps(.any, (.ipv4, .addresses)) == [.waitAtMost(.milliseconds(50))])
    #expect(steps(.any, (.ipv4, .addresses), (.ipv6, .addresses)) == [.waitAtMost(.milliseconds(50)), .done])
    #expect(steps(.any, (.ipv4, .addresses), (.ipv6, .nothing)) == [.waitAtMost(.milliseconds(50)), .done])
  }

  @Test(arguments: IPAddress.Family.allCases)
  func `a family that has nothing does not end the lookup while the other is open`(_ family: IPAddress.Family) {
    let other: IPAddress.Family = family == .ipv4 ? .ipv6 : .ipv4
    #expect(steps(.any, (family, .nothing), (other, .addresses)) == [.wait, .done])
    #expect(steps(.any, (family, .nothing), (other, .nothing)) == [.wait, .done])
  }

  @Test(arguments: IPAddress.Family.allCases)
  func `who wants all waits for both families, however long`(_ family: IPAddress.Family) {
    var race = FamilyRace(.any, waitsForAll: true)
    #expect(race.note(family, .addresses) == .wait)
    #expect(race.note(family == .ipv4 ? .ipv6 : .ipv4, .nothing) == .done)
  }

  @Test(arguments: IPAddress.Family.allCases)
  func `a single family is waited for and nothing else`(_ family: IPAddress.Family) {
    #expect(steps(AddressFamilies(family), (family, .addresses)) == [.done])
    #expect(steps(AddressFamilies(family), (family, .nothing)) == [.done])
  }
}
