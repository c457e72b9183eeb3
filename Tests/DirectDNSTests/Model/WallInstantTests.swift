// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

@Suite struct WallInstantTests {
  @Test(arguments: [
    (1000, Duration.milliseconds(5), 1005), (1000, .milliseconds(-5), 995), (1000, .nanoseconds(-1), 999),
    (1000, .nanoseconds(999_999), 1000), (.max, .seconds(1), .max), (.min, .seconds(-1), .min),
  ])
  func `an instant moves by whole milliseconds, and not beyond the end of time`(
    _ start: Int64, _ duration: Duration, _ end: Int64
  ) {
    #expect(WallInstant(milliseconds: start) + duration == WallInstant(milliseconds: end))
  }

  @Test func `taking away is adding the opposite`() {
    let instant = WallInstant(milliseconds: 10_000)
    #expect(instant - .seconds(3) == WallInstant(milliseconds: 7000))
    #expect(WallInstant(milliseconds: .min) - .seconds(1) == WallInstant(milliseconds: .min))
    #expect(instant - WallInstant(milliseconds: 4000) == .seconds(6))
    #expect(WallInstant(milliseconds: 4000) - instant == .seconds(-6))
  }

  @Test func `two instants at the ends of time are far apart`() {
    #expect(WallInstant(milliseconds: .max) - WallInstant(milliseconds: .min) == .milliseconds(Int64.max))
    #expect(WallInstant(milliseconds: .min) < WallInstant(milliseconds: .max))
  }
}
