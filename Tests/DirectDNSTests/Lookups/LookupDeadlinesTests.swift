// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct LookupDeadlinesTests {
  @Test(arguments: [
    (Duration.seconds(5), Duration.milliseconds(3500), Duration.seconds(3)),
    (.seconds(1), .milliseconds(700), .milliseconds(600)),
    (.seconds(10), .seconds(7), .seconds(6)), (.milliseconds(50), .milliseconds(35), .milliseconds(30)),
  ])
  func `of 5 s the providers have 3.5 s and each query 3 s, and a caller's own deadline scales all of them`(
    _ whole: Duration, _ providers: Duration, _ query: Duration
  ) {
    let deadlines = LookupDeadlines(timeout: whole, from: Sample.at(100))
    #expect(deadlines.whole == Sample.at(100) + whole)
    #expect(deadlines.providers == Sample.at(100) + providers)
    #expect(deadlines.query == query)
  }

  @Test(arguments: [(Duration.seconds(5), 4.9), (.seconds(1), 0.98), (.seconds(10), 9.8)])
  func `without the system's DNS the providers have all but 100 ms of 5 s`(_ whole: Duration, _ providers: Double) {
    let deadlines = LookupDeadlines(timeout: whole, from: Sample.at(0), hasSystem: false)
    #expect(deadlines.providers == Sample.at(providers))
  }

  @Test(arguments: [(Duration.seconds(5), 3.65), (.seconds(1), 0.73), (.milliseconds(100), 0.073)])
  func `a caller goes on to the system's DNS a little after the providers' time`(_ whole: Duration, _ fallback: Double)
  {
    #expect(LookupDeadlines(timeout: whole, from: Sample.at(0)).fallback == Sample.at(fallback))
  }

  @Test func `a caller who would wait for ever has time`() {
    let deadlines = LookupDeadlines(timeout: .seconds(Int64.max), from: Sample.at(100))
    #expect(deadlines.whole == ResolverInstant(nanoseconds: .max))
    #expect(deadlines.providers - Sample.at(100) > .seconds(1_000_000))
  }
}
