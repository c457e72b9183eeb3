// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct QueryRaceTests {
  private static func race(hedges: Bool = false) -> QueryRace {
    QueryRace(time: .seconds(3), hedges: hedges)
  }

  private static let delay = Duration.milliseconds(150)

  @Test func `a query has its time, and is decided about once`() {
    var race = Self.race()
    race.begin(7, hedgingDelay: Self.delay, left: .seconds(5), others: 1, at: Sample.at(1))
    #expect(race.nextInstant == Sample.at(4))
    #expect(race.due(at: Sample.at(4).before) == nil)
    #expect(race.due(at: Sample.at(4)) == .timeout(of: 7))
    #expect(race.due(at: Sample.at(9)) == nil)
    #expect(race.nextInstant == nil)
  }

  @Test func `what was put off is decided about again`() {
    var race = Self.race()
    race.begin(7, hedgingDelay: Self.delay, left: .seconds(5), others: 1, at: Sample.at(0))
    #expect(race.due(at: Sample.at(3)) == .timeout(of: 7))
    race.postpone(7, until: Sample.at(3.2))
    #expect(race.nextInstant == Sample.at(3.2))
    #expect(race.due(at: Sample.at(3.2)) == .timeout(of: 7))
  }

  @Test func `a hedge is decided about once, and comes before what is due later`() {
    var race = Self.race(hedges: true)
    race.begin(0, hedgingDelay: Self.delay, left: .seconds(5), others: 1, at: Sample.at(0))
    #expect(race.nextInstant == Sample.at(0.15))
    #expect(race.due(at: Sample.at(0.15)) == .hedge)
    #expect(race.due(at: Sample.at(0.15)) == nil)
    race.begin(1, hedgingDelay: Self.delay, left: .seconds(5), others: 1, at: Sample.at(0.15))
    #expect(race.nextInstant == Sample.at(3))
    #expect(race.due(at: Sample.at(5)) == .timeout(of: 0))
    #expect(race.due(at: Sample.at(5)) == .timeout(of: 1))
  }

  @Test func `a query that follows a failed one is alone for its own time, and there is one hedge in all`() {
    var race = Self.race(hedges: true)
    race.begin(0, hedgingDelay: Self.delay, left: .seconds(5), others: 2, at: Sample.at(0))
    race.end(0)
    race.begin(1, hedgingDelay: .milliseconds(20), left: .seconds(5), others: 1, at: Sample.at(0.14))
    #expect(race.due(at: Sample.at(0.15)) == nil)
    #expect(race.nextInstant == Sample.at(0.16))
    #expect(race.due(at: Sample.at(0.16)) == .hedge)
    race.end(1)
    race.begin(2, hedgingDelay: Self.delay, left: .seconds(5), others: 0, at: Sample.at(0.17))
    #expect(race.nextInstant == Sample.at(3.17))

    var standingIn = Self.race(hedges: true)
    standingIn.begin(0, hedgingDelay: Self.delay, left: .seconds(5), others: 2, at: Sample.at(0))
    standingIn.end(0)
    standingIn.begin(1, hedgingDelay: Self.delay, left: .seconds(5), others: 1, isStopgap: true, at: Sample.at(0.1))
    #expect(standingIn.due(at: Sample.at(0.25)) == .timeout(of: 1), "a stopgap has no hedge")
  }

  @Test(arguments: [150, 9000] as [Int64])
  func `a stopgap has as long as a hedge would wait, and no hedge, and the next query has its time`(_ delay: Int64) {
    var race = Self.race(hedges: true)
    race.begin(0, hedgingDelay: .milliseconds(delay), left: .seconds(5), others: 1, isStopgap: true, at: Sample.at(0))
    let end = Sample.at(0) + .milliseconds(min(delay, 3000))
    #expect(race.nextInstant == end)
    #expect(race.due(at: end) == .timeout(of: 0))
    race.end(0)
    race.begin(1, hedgingDelay: Self.delay, left: .seconds(5), others: 1, at: end)
    #expect(race.nextInstant == end + .seconds(3))
  }

  @Test func `a query that has ended is decided about no more, and without one nothing is due`() {
    var race = Self.race()
    race.begin(0, hedgingDelay: Self.delay, left: .seconds(5), others: 1, at: Sample.at(0))
    race.begin(1, hedgingDelay: Self.delay, left: .seconds(5), others: 1, at: Sample.at(1))
    race.end(0)
    #expect(race.nextInstant == Sample.at(4))
    race.postpone(0, until: Sample.at(2))
    #expect(race.nextInstant == Sample.at(4))
    race.end(1)
    #expect(race.nextInstant == nil)
  }

  @Test(
    arguments: [
      (left: 3_001, others: 1, another: nil), (left: 3_000, others: 1, another: 1_500),
      (left: 1_900, others: 1, another: 950),
      (left: 1_900, others: 3, another: 475), (left: 1_900, others: 0, another: nil), (left: 0, others: 1, another: 0),
    ] as [(left: Int64, others: Int, another: Int64?)])
  func `where a query may take all the time that is left, another server is asked beside it after its share`(
    _ left: Int64, _ others: Int, _ another: Int64?
  ) {
    var race = Self.race()
    race.begin(0, hedgingDelay: Self.delay, left: .milliseconds(left), others: others, at: Sample.at(7))
    let instant = another.map { Sample.at(7) + .milliseconds($0) }
    #expect(race.nextInstant == instant ?? Sample.at(10))
    if let instant {
      #expect(race.due(at: instant) == .another)
      #expect(race.due(at: instant) == nil)
    }
    #expect(race.nextInstant == Sample.at(10))
  }
}
