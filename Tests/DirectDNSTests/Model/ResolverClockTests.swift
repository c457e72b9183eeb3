import Testing

@testable import DirectDNS

struct ResolverClockTests {
  @Test func `instants are moved and compared by durations`() {
    let start = ResolverInstant(nanoseconds: 5)
    #expect(start + .seconds(2) == ResolverInstant(nanoseconds: 2_000_000_005))
    #expect(start + .seconds(2) - .seconds(2) == start)
    #expect((start + .milliseconds(3)) - start == .milliseconds(3))
    #expect(start < start + .nanoseconds(1))
  }

  @Test(arguments: [
    (Duration.seconds(1), Int64(1_000_000_000)), (.nanoseconds(7), 7), (.seconds(Int64.max), .max),
    (.seconds(Int64.min), .min), (.zero, 0),
  ])
  func `a duration is taken in nanoseconds, and one beyond 292 years as 292 years`(
    _ duration: Duration, _ expected: Int64
  ) {
    #expect(duration.wholeNanoseconds == expected)
  }

  @Test(arguments: [(Duration.microseconds(1), Int64(1)), (.milliseconds(1), 1), (.microseconds(1001), 2), (.zero, 0)])
  func `milliseconds are rounded up, so that no time-out becomes none`(_ duration: Duration, _ expected: Int64) {
    #expect(duration.wholeMilliseconds == expected)
  }
}
