// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

@Suite struct StoreHealthTests {
  private var health = StoreHealth()

  @Test mutating func `a store works until it fails`() {
    #expect(health.breaker(at: Sample.at(0)) == .usable)
    let seen1 = health.succeeded()
    #expect(seen1 == false)
    let seen2 = health.failed(at: Sample.at(0))
    #expect(seen2 == true)
    #expect(health.breaker(at: Sample.at(1).before) == .open)
    #expect(health.breaker(at: Sample.at(1)) == .probe)
  }

  @Test mutating func `it is not used for twice as long after each failed try, up to 30 s`() {
    _ = health.failed(at: Sample.at(0))
    var now = 1.0
    for rest in [2.0, 4, 8, 16, 30, 30] {
      #expect(health.breaker(at: Sample.at(now)) == .probe)
      health.tried(at: Sample.at(now))
      #expect(health.breaker(at: Sample.at(now)) == .open)
      let seen3 = health.failed(at: Sample.at(now))
      #expect(seen3 == false)
      #expect(health.breaker(at: Sample.at(now + rest).before) == .open)
      now += rest
    }
  }

  @Test mutating func `of calls that fail together one counts`() {
    let seen4 = health.failed(at: Sample.at(0))
    #expect(seen4 == true)
    for _ in 0..<100 {
      let worked = health.failed(at: Sample.at(0.5))
      #expect(!worked)
    }
    #expect(health.breaker(at: Sample.at(1)) == .probe)
  }

  @Test mutating func `a success ends all that`() {
    _ = health.failed(at: Sample.at(0))
    health.tried(at: Sample.at(1))
    let seen5 = health.succeeded()
    #expect(seen5 == true)
    #expect(health.breaker(at: Sample.at(1)) == .usable)
    #expect(health == StoreHealth())
  }

  @Test mutating func `three calls in a row that were late are a failure, fewer are none`() {
    for _ in 0..<5 {
      let first = health.late(at: Sample.at(0))
      let second = health.late(at: Sample.at(0))
      let recovered = health.succeeded()
      #expect(!first && !second && !recovered)
      #expect(health.breaker(at: Sample.at(0)) == .usable)
    }
    let late = (0..<3).map { _ in health.late(at: Sample.at(0)) }
    #expect(late == [false, false, true])
    #expect(health.breaker(at: Sample.at(0)) == .open)
    // A try that is late has failed.
    health.tried(at: Sample.at(1))
    let again = health.late(at: Sample.at(1))
    #expect(!again)
    #expect(health.breaker(at: Sample.at(3).before) == .open)
  }

  @Test mutating func `a try that never returns does not keep others from trying`() {
    _ = health.failed(at: Sample.at(0))
    health.tried(at: Sample.at(1))
    #expect(health.breaker(at: Sample.at(2)) == .probe)
  }
}
