// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct ResolverClockTests {
  private struct UnmovingClock: ResolverClock {
    var now: ResolverInstant { ResolverInstant(nanoseconds: 42) }
    var secondsSince1970: Int64 { 0 }
    func sleep(until instant: ResolverInstant) async throws {}
  }

  @Test func `instants and durations add up to the nanosecond`() {
    let instant = Sample.at(10)
    #expect(instant + .seconds(5) == Sample.at(15))
    #expect(instant - .milliseconds(500) == Sample.at(9.5))
    #expect(Sample.at(15) - instant == .seconds(5))
    #expect(instant - Sample.at(15) == .seconds(-5))
    #expect(instant + .nanoseconds(1) == ResolverInstant(nanoseconds: 10_000_000_001))
    #expect(instant < instant + .nanoseconds(1))
  }

  @Test func `an instant beyond the end of time is the end of time`() {
    let last = ResolverInstant(nanoseconds: .max)
    #expect(Sample.at(10) + .seconds(Int64.max) == last)
    #expect(Sample.at(10) + .nanoseconds(Int64.max) == last)
    #expect(Sample.at(-10) - .seconds(Int64.max) == ResolverInstant(nanoseconds: .min))
    #expect(Sample.at(10) - .seconds(Int64.min) == last)
  }

  @Test(arguments: [
    (Duration.seconds(1), Int64(1_000_000_000)), (.nanoseconds(1), 1), (.nanoseconds(-1), -1), (.zero, 0),
    (.milliseconds(-1500), -1_500_000_000), (.seconds(Int64.max), .max), (.seconds(Int64.min), .min),
  ])
  func `a duration is its nanoseconds, as far as they go`(_ duration: Duration, _ nanoseconds: Int64) {
    #expect(duration.wholeNanoseconds == nanoseconds)
  }

  @Test(arguments: [
    (Duration.zero, Int64(0)), (.nanoseconds(1), 1), (.milliseconds(1), 1), (.microseconds(1001), 2),
    (.seconds(3), 3000), (.seconds(Int64.max), Int64.max / 1_000_000 + 1),
  ])
  func `a duration in milliseconds is rounded up`(_ duration: Duration, _ milliseconds: Int64) {
    #expect(duration.wholeMilliseconds == milliseconds)
  }

  @Test func `instants that are too far apart are 292 years apart`() {
    let (first, last) = (ResolverInstant(nanoseconds: .min), ResolverInstant(nanoseconds: .max))
    #expect(last - first == .nanoseconds(Int64.max))
    #expect(first - last == .nanoseconds(Int64.min))
    #expect(last - Sample.at(-1) == .nanoseconds(Int64.max))
    #expect(first - Sample.at(1) == .nanoseconds(Int64.min))
  }

  @Test(arguments: [
    (0.0, Int64(0)), (1.5, 1), (-1.5, -1), (0x1p62, 1 << 62), (0x1p63, .max), (-0x1p63, .min), (1e300, .max),
    (-1e300, .min), (.infinity, .max), (-.infinity, .min), (.nan, 0), (.signalingNaN, 0),
  ])
  func `a calculated duration has the nanoseconds that there is room for`(_ count: Double, _ nanoseconds: Int64) {
    #expect(Duration.nanoseconds(saturating: count) == .nanoseconds(nanoseconds))
  }

  @Test(
    arguments: [
      (.seconds(1), 0, .seconds(30), .seconds(1)), (.seconds(1), 3, .seconds(30), .seconds(8)),
      (.seconds(1), 5, .seconds(30), .seconds(30)), (.seconds(1), Int.max, .seconds(30), .seconds(30)),
      (.seconds(1), -1, .seconds(30), .seconds(1)), (.zero, Int.max, .seconds(30), .zero),
      (.seconds(Int64.max), 20, .seconds(Int64.max), .seconds(Int64.max)),
      (.seconds(60), 20, .seconds(30), .seconds(30)),
      (.nanoseconds(1), Int.max, .seconds(Int64.max), .seconds(Int64.max)),
    ] as [(Duration, Int, Duration, Duration)])
  func `a duration doubles up to a limit, however large`(
    _ duration: Duration, _ times: Int, _ limit: Duration, _ result: Duration
  ) {
    #expect(duration.doubled(times, atMost: limit) == result)
  }

  @Test func `a clock without a cheap present shows its own`() {
    #expect(UnmovingClock().coarseNow == UnmovingClock().now)
  }
}

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
