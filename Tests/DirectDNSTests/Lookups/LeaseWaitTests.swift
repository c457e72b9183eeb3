// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

@Suite struct LeaseWaitTests {
  private let lease = StoreLease(question: AddressQuestion(Sample.name("www.example.net"), .ipv4), holder: "1")
  private let wait = LeaseWait(
    from: Sample.at(0), clientResponseTimeout: .milliseconds(300),
    deadlines: LookupDeadlines(timeout: .seconds(5), from: Sample.at(0)))

  @Test func `who has the lease asks for all`() {
    #expect(wait.step(.taken(lease), at: Sample.at(0)) == .ask(lease))
    #expect(wait.step(.taken(lease), at: Sample.at(10)) == .ask(lease))
  }

  @Test func `where there are no leases everyone asks`() {
    #expect(wait.step(.unavailable, at: Sample.at(0)) == .ask(nil))
  }

  @Test func `another's answer is looked for every 50 ms, and not beyond clientResponseTimeout`() {
    var now = Sample.at(0)
    var looks = 0
    while case .lookAgain(let instant) = wait.step(.held, at: now), looks < 100 {
      #expect(instant > now)
      now = instant
      looks += 1
    }
    #expect(looks == 6)
    #expect(now == Sample.at(0.3))
    #expect(wait.step(.held, at: now) == .ask(nil))
  }

  @Test(arguments: [(0.3, 10.0, 0.3), (300, 5, 2.0), (300, 0.1, 0.04), (0, 5, 0)])
  func `a wait leaves the providers their time`(_ clientResponseTimeout: Double, _ timeout: Double, _ end: Double) {
    let wait = LeaseWait(
      from: Sample.at(0), clientResponseTimeout: .seconds(clientResponseTimeout),
      deadlines: LookupDeadlines(timeout: .seconds(timeout), from: Sample.at(0)))
    #expect(wait.end == Sample.at(end))
  }
}
