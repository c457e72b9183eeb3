// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct WarmupPaceTests {
  @Test func `without a rate nobody waits`() {
    var pace = WarmupPace(rate: nil)
    for _ in 0..<1000 { pace.begin(at: Sample.at(1)) }
    #expect(pace.turn(at: Sample.at(1)) == Sample.at(1))
  }

  @Test func `names begin at even intervals`() {
    var pace = WarmupPace(rate: 4)
    #expect(pace.turn(at: Sample.at(10)) == Sample.at(10))
    pace.begin(at: Sample.at(10))
    #expect(pace.turn(at: Sample.at(10)) == Sample.at(10.25))
    pace.begin(at: Sample.at(10.25))
    #expect(pace.turn(at: Sample.at(10.3)) == Sample.at(10.5))
  }

  @Test func `a late timer is made up for, a quiet time is not saved up`() {
    var pace = WarmupPace(rate: 100)
    pace.begin(at: Sample.at(0))
    // 30 ms late: three names may begin at once.
    var count = 0
    while pace.turn(at: Sample.at(0.04)) <= Sample.at(0.04), count < 100 {
      pace.begin(at: Sample.at(0.04))
      count += 1
    }
    #expect(count == 4)
    count = 0
    while pace.turn(at: Sample.at(60)) <= Sample.at(60), count < 100 {
      pace.begin(at: Sample.at(60))
      count += 1
    }
    #expect(count == 6)
  }

  @Test func `over a long time no more begin than the rate allows`() {
    var random = SeededGenerator(seed: 5)
    var pace = WarmupPace(rate: 500)
    var now = Sample.at(0)
    var count = 0
    while now < Sample.at(20) {
      now = now + .microseconds(Int64.random(in: 1...4000, using: &random))
      while pace.turn(at: now) <= now {
        pace.begin(at: now)
        count += 1
      }
    }
    #expect((9_990...10_026).contains(count))
  }

  @Test(arguments: [Double.leastNonzeroMagnitude, 1e-300, 1e-12, 1e300])
  func `no rate is too small or too large to reckon with`(_ rate: Double) {
    var pace = WarmupPace(rate: rate)
    for _ in 0..<3 { pace.begin(at: Sample.at(1)) }
    #expect(pace.turn(at: Sample.at(1)) >= Sample.at(1))
  }

  // MARK: Width

  @Test(arguments: [nil, 1e300, .infinity] as [Double?])
  func `as many names may be under way as there are numbers`(_ rate: Double?) {
    let limits = [rate.map { RateLimit(perSecond: $0) }]
    #expect(WarmupWidth(concurrency: .max, limits: limits, queries: 2).most == .max)
  }

  @Test(arguments: [
    ([nil] as [Double?], 64), ([20], 10), ([20, nil], 64), ([20, 40], 30), ([0.5], 1), ([1000], 64), ([], 64),
  ])
  func `where every provider has a rate no more names are under way than have their turn within a second`(
    _ rates: [Double?], _ expected: Int
  ) {
    let limits = rates.map { rate in rate.map { RateLimit(perSecond: $0) } }
    #expect(WarmupWidth(concurrency: 64, limits: limits, queries: 2).current == expected)
  }

  @Test func `429 halves it, and answers widen it again one by one`() {
    var width = WarmupWidth(concurrency: 8, limits: [], queries: 2)
    width.narrow()
    #expect(width.current == 4)
    width.narrow()
    width.narrow()
    width.narrow()
    #expect(width.current == 1)
    width.widen()
    #expect(width.current == 2)
    width.widen()
    #expect(width.current == 2)
    width.widen()
    #expect(width.current == 3)
    for _ in 0..<100 { width.widen() }
    #expect(width.current == 8)
  }
}
