// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct HedgeBudgetTests {
  private func hedges(_ budget: inout HedgeBudget, at seconds: Double) -> Int {
    var count = 0
    while budget.take(at: Sample.at(seconds)) { count += 1 }
    return count
  }

  @Test(arguments: [(0, 0), (1, 1), (10, 1), (11, 2), (20, 2), (100, 10), (1000, 100)])
  func `hedges are a tenth of the queries, rounded up`(_ queries: Int, _ expected: Int) {
    var budget = HedgeBudget()
    for _ in 0..<queries { budget.queried(at: Sample.at(5)) }
    #expect(hedges(&budget, at: 5) == expected)
  }

  @Test func `queries of more than a minute ago buy no hedge`() {
    var budget = HedgeBudget()
    for _ in 0..<100 { budget.queried(at: Sample.at(0)) }
    budget.queried(at: Sample.at(60))
    #expect(hedges(&budget, at: 60) == 1)
  }

  @Test
  func `whenever a hedge is sent, hedges were at most a tenth of the last minute's queries, rounded up`() {
    var random = SeededGenerator(seed: 5)
    var budget = HedgeBudget()
    var log: [(second: Int, isHedge: Bool)] = []
    for second in 0..<300 {
      for _ in 0..<Int.random(in: 0...8, using: &random) {
        budget.queried(at: Sample.at(Double(second)))
        log.append((second, false))
        guard budget.take(at: Sample.at(Double(second))) else { continue }
        log.append((second, true))
        let minute = log.filter { $0.second > second - 60 }
        let hedges = minute.count { $0.isHedge }
        #expect(hedges <= (minute.count - hedges + 9) / 10, "second \(second)")
      }
    }
    #expect(log.count { $0.isHedge } > 50)
  }
}
