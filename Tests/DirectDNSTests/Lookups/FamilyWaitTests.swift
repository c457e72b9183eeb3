// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct FamilyWaitTests {
  private static let life = Sample.life(0, 100)
  private static let good4 = QuestionOutcome.answered(.addresses("192.0.2.1"), .provider("one"), life)
  private static let good6 = QuestionOutcome.answered(.addresses("2001:db8::1"), .provider("one"), life)
  private static let empty = QuestionOutcome.answered(.negative(.noAddress), .provider("one"), life)
  private static let failed = QuestionOutcome.failed(DirectDNSError(.upstreamFailed, "no"))

  private func wait(
    _ families: AddressFamilies = .any, for purpose: FamilyWait.Purpose = .connecting, until end: Double = 5
  ) -> FamilyWait {
    FamilyWait(families, for: purpose, until: Sample.at(end))
  }

  private func families(_ wait: FamilyWait) -> AddressFamilies {
    AddressFamilies.any.filter { wait.outcomes[$0] != nil }
  }

  @Test func `both answers come when IPv6 joins within 50 ms`() {
    var wait = wait()
    wait.note(.ipv4, Self.good4, at: Sample.at(1))
    wait.timePassed(at: Sample.at(1.049))
    #expect(!wait.isOver)
    wait.note(.ipv6, Self.good6, at: Sample.at(1.049))
    #expect(wait.isOver && families(wait) == .any)
  }

  @Test func `IPv4 goes alone when 50 ms are over, and what comes later is passed over`() {
    var wait = wait()
    wait.note(.ipv4, Self.good4, at: Sample.at(1))
    #expect(wait.end == Sample.at(1.05))
    wait.timePassed(at: Sample.at(1.05))
    wait.note(.ipv6, Self.good6, at: Sample.at(1.06))
    #expect(wait.isOver && families(wait) == .ipv4)
  }

  @Test func `who is handed addresses gets those that follow IPv6 within 50 ms`() {
    var wait = wait(for: .handingOut)
    wait.note(.ipv6, Self.good6, at: Sample.at(1))
    #expect(!wait.isOver && wait.end == Sample.at(1.05))
    wait.note(.ipv4, Self.good4, at: Sample.at(1.049))
    #expect(wait.isOver && families(wait) == .any)
  }

  @Test func `IPv6 goes at once to who connects`() {
    var wait = wait()
    wait.note(.ipv6, Self.good6, at: Sample.at(1))
    #expect(wait.isOver && families(wait) == .ipv6)
  }

  @Test(arguments: [true, false])
  func `a family that failed or has nothing waits for the other`(_ fails: Bool) {
    var wait = wait()
    wait.note(.ipv6, fails ? Self.failed : Self.empty, at: Sample.at(1))
    #expect(!wait.isOver && wait.end == Sample.at(5))
    wait.note(.ipv4, Self.good4, at: Sample.at(2))
    #expect(wait.isOver && families(wait) == .any)
    #expect(wait.outcomes.ipv4?.hasAddresses == true && wait.outcomes.ipv6?.hasAddresses == false)
  }

  @Test func `both without addresses end the wait`() {
    var wait = wait()
    wait.note(.ipv4, Self.empty, at: Sample.at(1))
    wait.note(.ipv6, Self.failed, at: Sample.at(1))
    #expect(wait.isOver && families(wait) == .any)
  }

  @Test func `the deadline ends the wait with what there is`() {
    var wait = wait(until: 1)
    wait.note(.ipv6, Self.failed, at: Sample.at(0.5))
    wait.timePassed(at: Sample.at(0.999))
    #expect(!wait.isOver)
    wait.timePassed(at: Sample.at(1))
    #expect(wait.isOver && families(wait) == .ipv6)
  }

  @Test func `the 50 ms do not outlast the deadline`() {
    var wait = wait(until: 1)
    wait.note(.ipv4, Self.good4, at: Sample.at(0.99))
    #expect(wait.end == Sample.at(1))
  }

  @Test func `what is kept waits for both, however long the second takes`() {
    var wait = wait(for: .keeping)
    wait.note(.ipv6, Self.good6, at: Sample.at(1))
    wait.timePassed(at: Sample.at(4.9))
    #expect(!wait.isOver && wait.end == Sample.at(5))
  }

  @Test func `what was known before stays beside what comes, and ends no wait`() {
    var known = FamilyOutcomes()
    known.ipv4 = Self.good4
    var wait = FamilyWait(.ipv6, for: .connecting, beside: known, until: Sample.at(5))
    wait.timePassed(at: Sample.at(1))
    #expect(!wait.isOver && families(wait) == .ipv4)
    wait.note(.ipv6, Self.empty, at: Sample.at(1))
    #expect(wait.isOver && families(wait) == .any)
  }

  @Test func `without families there is nothing to wait for`() {
    #expect(wait([]).isOver)
  }

  // MARK: How long the second family is waited for

  private enum Step: Equatable {
    case done, wait
    case waitAtMost(Duration)
  }

  private static let delay = Step.waitAtMost(.milliseconds(50))

  /// How the wait stands after each family's outcome, whether it has addresses or nothing.
  private func steps(
    _ purpose: FamilyWait.Purpose, of families: AddressFamilies = .any, preferred: IPAddress.Family = .ipv6,
    _ outcomes: (IPAddress.Family, hasAddresses: Bool)...
  ) -> [Step] {
    let (now, end) = (Sample.at(1), Sample.at(5))
    var wait = FamilyWait(families, for: purpose, preferred: preferred, until: end)
    return outcomes.map { family, hasAddresses in
      wait.note(family, !hasAddresses ? Self.empty : family == .ipv4 ? Self.good4 : Self.good6, at: now)
      return wait.isOver ? .done : wait.end == end ? .wait : .waitAtMost(wait.end - now)
    }
  }

  @Test(arguments: IPAddress.Family.allCases)
  func `whoever is handed addresses waits 50 ms for the second family, whichever came first`(
    _ first: IPAddress.Family
  ) {
    let second = first.other
    #expect(steps(.handingOut, (first, true)) == [Self.delay])
    #expect(steps(.handingOut, (first, true), (second, true)) == [Self.delay, .done])
    #expect(steps(.handingOut, (first, true), (second, false)) == [Self.delay, .done])
  }

  @Test(arguments: IPAddress.Family.allCases)
  func `a connection begins with the preferred family at once, and gives it 50 ms when the other is first`(
    _ preferred: IPAddress.Family
  ) {
    let other = preferred.other
    #expect(steps(.connecting, preferred: preferred, (preferred, true)) == [.done])
    #expect(steps(.connecting, preferred: preferred, (other, true)) == [Self.delay])
    #expect(steps(.connecting, preferred: preferred, (other, true), (preferred, true)) == [Self.delay, .done])
    #expect(steps(.connecting, preferred: preferred, (other, true), (preferred, false)) == [Self.delay, .done])
  }

  @Test(arguments: IPAddress.Family.allCases, [FamilyWait.Purpose.handingOut, .connecting, .keeping])
  func `a family that has nothing does not end the lookup while the other is open`(
    _ family: IPAddress.Family, _ purpose: FamilyWait.Purpose
  ) {
    #expect(steps(purpose, (family, false), (family.other, true)) == [.wait, .done])
    #expect(steps(purpose, (family, false), (family.other, false)) == [.wait, .done])
  }

  @Test(arguments: IPAddress.Family.allCases)
  func `who keeps them waits for both families, however long`(_ family: IPAddress.Family) {
    #expect(steps(.keeping, (family, true), (family.other, false)) == [.wait, .done])
  }

  @Test(arguments: IPAddress.Family.allCases, [FamilyWait.Purpose.handingOut, .connecting, .keeping])
  func `a single family is waited for and nothing else`(_ family: IPAddress.Family, _ purpose: FamilyWait.Purpose) {
    #expect(steps(purpose, of: AddressFamilies(family), (family, true)) == [.done])
    #expect(steps(purpose, of: AddressFamilies(family), (family, false)) == [.done])
  }
}

extension IPAddress.Family {
  var other: Self { self == .ipv4 ? .ipv6 : .ipv4 }
}
