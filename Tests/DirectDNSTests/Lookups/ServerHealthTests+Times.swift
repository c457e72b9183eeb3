// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// How long replies take, and what follows for a second query.
extension ServerHealthTests {
  @Test func `the hedging delay is 150 ms until enough replies are known`() {
    var health = ServerHealth()
    for _ in 0..<7 {
      #expect(health.hedgingDelay == .milliseconds(150))
      health.answered(in: .milliseconds(20), at: Sample.at(0))
    }
    #expect(health.hedgingDelay == .milliseconds(150))
    health.answered(in: .milliseconds(20), at: Sample.at(0))
    #expect(health.hedgingDelay == .milliseconds(20))
  }

  @Test func `the hedging delay is the 95th percentile of the last replies`() {
    var health = ServerHealth()
    for milliseconds in (1...64).shuffled() { health.answered(in: .milliseconds(milliseconds), at: Sample.at(0)) }
    // 61 of 64 are 95 %.
    #expect(health.hedgingDelay == .milliseconds(61))
    for _ in 0..<64 { health.answered(in: .milliseconds(200), at: Sample.at(0)) }
    #expect(health.hedgingDelay == .milliseconds(200))
  }

  @Test func `the last 64 replies count, the oldest goes first`() {
    var health = ServerHealth()
    for number in 0..<64 { health.answered(in: .milliseconds(number < 4 ? 200 : 20), at: Sample.at(0)) }
    #expect(health.hedgingDelay == .milliseconds(200) && health.percentile(100) == .milliseconds(200))
    health.answered(in: .milliseconds(20), at: Sample.at(0))
    #expect(health.hedgingDelay == .milliseconds(20), "three of 64 are less than a twentieth")
    for _ in 0..<3 { health.answered(in: .milliseconds(20), at: Sample.at(0)) }
    #expect(health.percentile(100) == .milliseconds(20))
  }

  @Test(arguments: [(0, 1), (1, 1), (50, 33), (95, 61), (99, 64), (100, 64)])
  func `a percentile is the time that so many replies in a hundred stay below`(_ percent: Int, _ expected: Int) {
    var health = ServerHealth()
    #expect(health.percentile(percent) == nil)
    health.answered(in: .milliseconds(7), at: Sample.at(0))
    #expect(health.percentile(percent) == .milliseconds(7))
    health = ServerHealth()
    for milliseconds in (1...64).shuffled() { health.answered(in: .milliseconds(milliseconds), at: Sample.at(0)) }
    #expect(health.percentile(percent) == .milliseconds(expected))
  }

  @Test func `timeouts do not make the hedging delay longer`() {
    var health = ServerHealth()
    for _ in 0..<8 { health.answered(in: .milliseconds(20), at: Sample.at(0)) }
    for number in 0..<50 {
      health.failed(.transport, of: Self.lookup(number), in: .seconds(3), at: Sample.at(0))
    }
    #expect(health.hedgingDelay == .milliseconds(20))
  }

  @Test func `a hedge waits for 1 ms at least`() {
    var health = ServerHealth()
    for _ in 0..<8 { health.answered(in: .zero, at: Sample.at(0)) }
    #expect(health.hedgingDelay == .milliseconds(1))
  }
}
