import Testing

@testable import DirectDNS

struct ResolverClockTests {
  private struct Standing: ResolverClock {
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

  @Test func `a clock without a cheap present shows its own`() {
    #expect(Standing().coarseNow == Standing().now)
  }
}
