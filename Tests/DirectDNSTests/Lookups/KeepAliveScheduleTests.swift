// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct KeepAliveScheduleTests {
  private func next(
    _ life: CacheLife?, failures: Int = 0, jitter: Double = 0, now: Double = 0
  ) -> ResolverInstant {
    KeepAliveSchedule.next(
      life, failures: failures, jitter: jitter, policy: CachePolicy(), now: Sample.at(now))
  }

  @Test(arguments: [(1.0, 0.75), (10, 7.5), (60, 45), (3600, 2700)])
  func `a name is refreshed at 75 % of its TTL, for any TTL of 1 s or more`(_ ttl: Double, _ expected: Double) {
    #expect(next(Sample.life(100, 100 + ttl)) == Sample.at(100 + expected))
  }

  @Test(arguments: [(-1.0, 65.0), (-0.5, 70), (0, 75), (0.5, 80), (1, 85), (-7, 65), (7, 85)])
  func `jitter moves it by a tenth of the TTL at most`(_ jitter: Double, _ expected: Double) {
    let instant = next(Sample.life(0, 100), jitter: jitter)
    #expect(abs(instant.nanoseconds - Sample.at(expected).nanoseconds) <= 1)
  }

  @Test func `a name that is not known is asked for at once, and one that is late too`() {
    #expect(next(nil, now: 7) == Sample.at(7))
    #expect(next(Sample.life(0, 100), now: 90) == Sample.at(90))
  }

  @Test(arguments: [(1, 1.0), (2, 2), (3, 4), (5, 16), (6, 30), (50, 30)])
  func `after failures it waits for as long as failures are remembered`(_ failures: Int, _ seconds: Double) {
    #expect(next(Sample.life(0, 10), failures: failures, now: 50) == Sample.at(50 + seconds))
    #expect(next(nil, failures: failures, now: 50) == Sample.at(50 + seconds))
  }

  @Test func `where failures are not remembered it waits for 1 s`() {
    let policy = CachePolicy(minimumFailureTTL: .zero)
    #expect(
      KeepAliveSchedule.next(nil, failures: 1, jitter: 0, policy: policy, now: Sample.at(0)) == Sample.at(1))
  }
}
