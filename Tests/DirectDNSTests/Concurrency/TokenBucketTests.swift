// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct TokenBucketTests {
  private func take(_ bucket: inout TokenBucket, _ now: ResolverInstant) -> Bool { bucket.take(at: now) }

  @Test func `without a burst a second's worth may go out at once`() {
    #expect(RateLimit(perSecond: 20).burst == 20)
    #expect(RateLimit(perSecond: 20, burst: 5).burst == 5)
    #expect(RateLimit(perSecond: 0.5).burst == 1)
    #expect(RateLimit(perSecond: 20, burst: 0).burst == 1)
  }

  @Test func `a bucket is full at first, then empty, then refills by the rate`() {
    var bucket = TokenBucket(RateLimit(perSecond: 4), now: Sample.at(0))
    for _ in 0..<4 { #expect(take(&bucket, Sample.at(0))) }
    #expect(!take(&bucket, Sample.at(0)))
    #expect(bucket.ready(at: Sample.at(0)) == Sample.at(0.25))
    #expect(!take(&bucket, Sample.at(0.25).before))
    #expect(take(&bucket, Sample.at(0.25)))
    #expect(!take(&bucket, Sample.at(0.25)))
    #expect(take(&bucket, Sample.at(0.75)))
    #expect(take(&bucket, Sample.at(0.75)))
    #expect(!take(&bucket, Sample.at(0.75)))
  }

  @Test func `a quiet time saves up a burst and no more`() {
    var bucket = TokenBucket(RateLimit(perSecond: 10, burst: 3), now: Sample.at(0))
    for _ in 0..<3 { #expect(take(&bucket, Sample.at(1000))) }
    #expect(!take(&bucket, Sample.at(1000)))
  }

  @Test func `a token that is there is ready now, and the instant that is told is early enough`() {
    var bucket = TokenBucket(RateLimit(perSecond: 3, burst: 1), now: Sample.at(5))
    #expect(bucket.ready(at: Sample.at(5)) == Sample.at(5))
    var now = Sample.at(5)
    for _ in 0..<30 {
      #expect(take(&bucket, now))
      let next = bucket.ready(at: now)
      #expect(next > now)
      #expect(next - now < .milliseconds(334))
      now = next
    }
  }

  @Test func `an instant that lies back gives nothing twice`() {
    var bucket = TokenBucket(RateLimit(perSecond: 1, burst: 1), now: Sample.at(10))
    #expect(take(&bucket, Sample.at(10)))
    #expect(!take(&bucket, Sample.at(9)))
    #expect(!take(&bucket, Sample.at(10.5)))
    #expect(take(&bucket, Sample.at(11)))
  }

  @Test func `what is given back can be taken again, and is never more than a burst`() {
    var bucket = TokenBucket(RateLimit(perSecond: 4, burst: 1), now: Sample.at(0))
    let turns = (0..<3).map { _ in bucket.reserve(at: Sample.at(0)) }
    #expect(turns == [0, 0.25, 0.5].map(Sample.at))
    for _ in 0..<2 { bucket.giveBack() }
    #expect(bucket.ready(at: Sample.at(0)) == Sample.at(0.25))
    for _ in 0..<2 { bucket.giveBack() }
    #expect(take(&bucket, Sample.at(0)))
    #expect(!take(&bucket, Sample.at(0)))
  }

  @Test func `those who reserve have their turns one after the other`() {
    var bucket = TokenBucket(RateLimit(perSecond: 4, burst: 1), now: Sample.at(0))
    let turns = (0..<4).map { _ in bucket.reserve(at: Sample.at(0)) }
    #expect(turns == [0, 0.25, 0.5, 0.75].map(Sample.at))
    #expect(!take(&bucket, Sample.at(0.9)))
    #expect(bucket.ready(at: Sample.at(0.9)) == Sample.at(1))
    #expect(take(&bucket, Sample.at(1)))
  }

  @Test(arguments: [Double.leastNonzeroMagnitude, 1e-300, 1e-10, 1e300, .infinity])
  func `no rate is too small or too large to wait for`(_ rate: Double) {
    var bucket = TokenBucket(RateLimit(perSecond: rate, burst: 1), now: Sample.at(0))
    _ = bucket.reserve(at: Sample.at(0))
    #expect(bucket.ready(at: Sample.at(1)) >= Sample.at(1))
    #expect(bucket.reserve(at: ResolverInstant(nanoseconds: .max)) == ResolverInstant(nanoseconds: .max))
  }

  @Test func `no more goes out over a long time than the rate and one burst allow`() {
    var random = SeededGenerator(seed: 3)
    var bucket = TokenBucket(RateLimit(perSecond: 20), now: Sample.at(0))
    var now = Sample.at(0)
    var taken = 0
    while now < Sample.at(60) {
      now = now + .microseconds(Int64.random(in: 1...40_000, using: &random))
      while bucket.take(at: now) { taken += 1 }
    }
    #expect(taken <= 60 * 20 + 21)
    #expect(taken >= 60 * 20)
  }
}
