// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS

struct WarmupPlanTests {
  @Test func `a plan has defaults for all but its names`() throws {
    let plan = WarmupPlan(names: ["a.example"])
    #expect(plan.concurrency == 64 && plan.rate == nil && plan.timeout == .seconds(60))
    #expect(plan.minimum == .all && plan.shortfall == .accepted && plan.keepAlive == .none)
    #expect(plan.retry == WarmupRetry() && plan.families == nil)
    try plan.validate()
  }

  private typealias Change = @Sendable (inout WarmupPlan) -> Void

  private static let wrong: [(String, Change)] = [
    ("concurrency", { $0.concurrency = 0 }), ("rate", { $0.rate = 0 }), ("rate", { $0.rate = .infinity }),
    ("rate", { $0.rate = .nan }), ("timeout", { $0.timeout = .zero }), ("families", { $0.families = [] }),
    ("minimum", { $0.minimum = .share(1.5) }), ("minimum", { $0.minimum = .share(.nan) }),
    ("minimum", { $0.minimum = .names(-1) }), ("retry", { $0.retry.limit = -1 }),
    ("retry", { $0.retry.backoff = .seconds(-1) }), ("retry", { $0.retry.maximumBackoff = .seconds(-1) }),
  ]

  @Test func `a value that cannot be used is named`() {
    for (name, change) in Self.wrong {
      var plan = WarmupPlan(names: [])
      change(&plan)
      let error = #expect(throws: DirectDNSError.self) { try plan.validate() }
      #expect(error?.code == .invalidConfiguration)
      #expect(error?.message.hasPrefix(name) == true)
    }
  }
}

struct WarmupRetryTests {
  private func next(
    _ rule: WarmupRetry = WarmupRetry(), _ code: DirectDNSError.Code = .upstreamFailed, failures: Int = 1,
    rejections: Int = 0, failureTTL: Duration = .zero, jitter: Double = 0
  ) -> ResolverInstant? {
    rule.next(
      after: code, failures: failures, rejections: rejections, failureTTL: failureTTL, jitter: jitter,
      at: Sample.at(100))
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
      next(rule, failures: 1_000_000, failureTTL: .seconds(Int64.max), jitter: 1) == ResolverInstant(nanoseconds: .max))
  }

  @Test(arguments: [
    (DirectDNSError.Code.upstreamFailed, true), (.timedOut, true), (.nameNotFound, false), (.noAddress, false),
    (.refused, false), (.cancelled, false), (.shutDown, false),
  ])
  func `what another try could change is tried again`(_ code: DirectDNSError.Code, _ isTried: Bool) {
    #expect((next(WarmupRetry(), code) != nil) == isTried)
  }

  @Test func `no try comes while the resolver remembers the failure`() {
    #expect(next(failureTTL: .seconds(4)) == Sample.at(104))
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

struct WarmupMinimumTests {
  @Test(arguments: [
    ("95%", WarmupMinimum.share(0.95)), ("100%", .all), ("0%", .share(0)), ("99.5%", .share(0.995)), ("40", .names(40)),
    ("0", .names(0)), ("0.01%", .share(0.0001)), ("0.001%", .share(0.00001)), ("99.999%", .share(99.999 / 100)),
    ("12.345678912%", .share(12.345678912 / 100)),
  ])
  func `a minimum is a count or a percentage, and reads as it is written`(_ text: String, _ expected: WarmupMinimum) {
    #expect(WarmupMinimum(text) == expected)
    #expect(expected.description == text)
  }

  @Test(arguments: ["", "%", "101%", "-1%", "-1", "1.5", "x%", "95 %", "1e1%", "inf%", "+5", "0x10%"])
  func `anything else is none`(_ text: String) { #expect(WarmupMinimum(text) == nil) }

  @Test(arguments: [
    (WarmupMinimum.share(0.95), 100, 95), (.share(0.95), 10, 10), (.share(0.07), 100, 7), (.share(0.29), 100, 29),
    (.share(0.5), 3, 2), (.all, 7, 7), (.all, 0, 1), (.share(0.01), 0, 1), (.share(0), 0, 0), (.names(0), 0, 0),
    (.share(0), 9, 0), (.names(4), 3, 4), (.share(1.0 / 3), 3, 1),
  ])
  func `a share is rounded up, and not by what binary fractions lose`(
    _ minimum: WarmupMinimum, _ names: Int, _ needed: Int
  ) {
    #expect(minimum.needed(of: names) == needed)
  }

  @Test(arguments: [
    (Double.nan, Int.max, "100%"), (.infinity, .max, "100%"), (1e300, .max, "100%"), (1, .max, "100%"),
    (-1e300, 0, "0%"),
  ])
  func `no share asks for more than all names`(_ share: Double, _ needed: Int, _ text: String) {
    #expect(WarmupMinimum.share(share).needed(of: .max) == needed)
    #expect(WarmupMinimum.share(share).description == text)
  }

  @Test func `a share of a list that was not read to its end is not reached`() {
    #expect(WarmupMinimum.share(0.5).isReached(9, of: 10, isListComplete: true))
    #expect(!WarmupMinimum.share(0.5).isReached(9, of: 10, isListComplete: false))
    #expect(WarmupMinimum.names(9).isReached(9, of: 10, isListComplete: false))
    #expect(WarmupMinimum.share(0).isReached(0, of: 0, isListComplete: false))
    #expect(!WarmupMinimum.names(10).isReached(9, of: 10, isListComplete: true))
  }

  @Test func `it is coded as its text`() throws {
    let text = try JSONEncoder().encode([WarmupMinimum.share(0.95), .names(4)])
    #expect(String(decoding: text, as: UTF8.self) == #"["95%","4"]"#)
    #expect(try JSONDecoder().decode([WarmupMinimum].self, from: text) == [.share(0.95), .names(4)])
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([WarmupMinimum].self, from: Data(#"["x"]"#.utf8))
    }
  }
}
