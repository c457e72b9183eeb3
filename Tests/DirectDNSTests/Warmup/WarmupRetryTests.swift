// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct WarmupRetryTests {
  private func next(
    _ rule: WarmupRetry = WarmupRetry(), _ code: DirectDNSError.Code = .upstreamFailed, failures: Int = 1,
    rejections: Int = 0, memory: Duration = .zero, jitter: Double = 0
  ) -> ResolverInstant? {
    rule.next(
      after: code, failures: failures, rejections: rejections, memory: memory, jitter: jitter, at: Sample.at(100))
  }

  @Test(arguments: [(1, 101.0), (2, 102)])
  func `the pause doubles with each failure`(_ failures: Int, _ expected: Double) {
    #expect(next(failures: failures) == Sample.at(expected))
  }

  @Test func `after the limit there is no further try`() {
    #expect(next(failures: 3) == nil)
    #expect(next(.never) == nil)
    #expect(next(WarmupRetry(limit: 5), failures: 5) == Sample.at(116))
  }

  @Test func `no pause is longer than the longest`() {
    #expect(next(WarmupRetry(limit: 50), failures: 50) == Sample.at(130))
  }

  @Test func `no pause is too long to reckon with`() {
    let rule = WarmupRetry(limit: .max, backoff: .seconds(Int64.max), maximumBackoff: .seconds(Int64.max))
    #expect(
      next(rule, failures: 1_000_000, memory: .seconds(Int64.max), jitter: 1) == ResolverInstant(nanoseconds: .max))
  }

  @Test(arguments: [
    (DirectDNSError.Code.upstreamFailed, true), (.timedOut, true), (.nameNotFound, false), (.noAddress, false),
    (.refused, false), (.cancelled, false), (.shutDown, false),
  ])
  func `what another try could change is tried again`(_ code: DirectDNSError.Code, _ isTried: Bool) {
    #expect((next(WarmupRetry(), code) != nil) == isTried)
  }

  @Test func `no try comes while the resolver remembers the failure`() {
    #expect(next(memory: .seconds(4)) == Sample.at(104))
  }

  @Test(arguments: [(0.0, 101.0), (0.5, 101.05), (1, 101.1), (9, 101.1), (-9, 101)])
  func `jitter only makes it later, by a tenth at most`(_ jitter: Double, _ expected: Double) {
    #expect(next(jitter: jitter) == Sample.at(expected))
  }

  @Test func `names that were turned away do not use up their tries, and do not come back for ever`() {
    #expect(next(failures: 0, rejections: 1) == Sample.at(101))
    #expect(next(failures: 2, rejections: 10) == Sample.at(130))
    #expect(next(failures: 0, rejections: 11) == nil)
  }
}
