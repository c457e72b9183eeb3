// SPDX-License-Identifier: Apache-2.0
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
    ("retry", { $0.retry.limit = -1 }),
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
