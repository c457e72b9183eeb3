// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct FamilyRaceTests {
  private static let delay = FamilyRace.Step.waitAtMost(.milliseconds(50))

  private func steps(
    _ purpose: FamilyRace.Purpose, of families: AddressFamilies = .any, preferred: IPAddress.Family = .ipv6,
    _ outcomes: (IPAddress.Family, FamilyRace.Outcome)...
  ) -> [FamilyRace.Step] {
    var race = FamilyRace(families, for: purpose, preferred: preferred)
    return outcomes.map { race.note($0.0, $0.1) }
  }

  @Test(arguments: IPAddress.Family.allCases)
  func `whoever is handed addresses waits 50 ms for the second family, whichever came first`(
    _ first: IPAddress.Family
  ) {
    let second = first.other
    #expect(steps(.handingOut, (first, .addresses)) == [Self.delay])
    #expect(steps(.handingOut, (first, .addresses), (second, .addresses)) == [Self.delay, .done])
    #expect(steps(.handingOut, (first, .addresses), (second, .nothing)) == [Self.delay, .done])
  }

  @Test(arguments: IPAddress.Family.allCases)
  func `a connection begins with the preferred family at once, and gives it 50 ms when the other is first`(
    _ preferred: IPAddress.Family
  ) {
    let other = preferred.other
    #expect(steps(.connecting, preferred: preferred, (preferred, .addresses)) == [.done])
    #expect(steps(.connecting, preferred: preferred, (other, .addresses)) == [Self.delay])
    #expect(
      steps(.connecting, preferred: preferred, (other, .addresses), (preferred, .addresses)) == [Self.delay, .done])
    #expect(
      steps(.connecting, preferred: preferred, (other, .addresses), (preferred, .nothing)) == [Self.delay, .done])
  }

  @Test(arguments: IPAddress.Family.allCases, [FamilyRace.Purpose.handingOut, .connecting, .keeping])
  func `a family that has nothing does not end the lookup while the other is open`(
    _ family: IPAddress.Family, _ purpose: FamilyRace.Purpose
  ) {
    #expect(steps(purpose, (family, .nothing), (family.other, .addresses)) == [.wait, .done])
    #expect(steps(purpose, (family, .nothing), (family.other, .nothing)) == [.wait, .done])
  }

  @Test(arguments: IPAddress.Family.allCases)
  func `who keeps them waits for both families, however long`(_ family: IPAddress.Family) {
    #expect(steps(.keeping, (family, .addresses), (family.other, .nothing)) == [.wait, .done])
  }

  @Test(arguments: IPAddress.Family.allCases, [FamilyRace.Purpose.handingOut, .connecting, .keeping])
  func `a single family is waited for and nothing else`(_ family: IPAddress.Family, _ purpose: FamilyRace.Purpose) {
    #expect(steps(purpose, of: AddressFamilies(family), (family, .addresses)) == [.done])
    #expect(steps(purpose, of: AddressFamilies(family), (family, .nothing)) == [.done])
  }
}

extension IPAddress.Family {
  var other: Self { self == .ipv4 ? .ipv6 : .ipv4 }
}
