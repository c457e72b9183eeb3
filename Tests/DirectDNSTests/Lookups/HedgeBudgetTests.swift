// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct HedgeBudgetTests {
  private func take(_ budget: inout HedgeBudget, _ question: AddressQuestion? = nil, at seconds: Double) -> Bool {
    budget.take(for: question, until: Sample.at(seconds + 5), at: Sample.at(seconds))
  }

  private func hedges(_ budget: inout HedgeBudget, at seconds: Double) -> Int {
    var count = 0
    while take(&budget, at: seconds) { count += 1 }
    return count
  }

  @Test(arguments: [(1, 5), (50, 5), (51, 6), (60, 6), (100, 10), (1000, 100)])
  func `hedges are a tenth of the queries, rounded up, or five`(_ queries: Int, _ expected: Int) {
    var budget = HedgeBudget()
    for _ in 0..<queries { budget.queried(at: Sample.at(5)) }
    #expect(hedges(&budget, at: 5) == expected)
  }

  @Test func `queries of more than a minute ago buy no hedge`() {
    var budget = HedgeBudget()
    for _ in 0..<100 { budget.queried(at: Sample.at(0)) }
    budget.queried(at: Sample.at(60))
    #expect(hedges(&budget, at: 60) == 5)
  }

  @Test func `where one family of a name has a hedge, the other one of that lookup has it too, once, and it counts`() {
    var budget = HedgeBudget()
    let question = AddressQuestion(ResolverFixture.host, .ipv6)
    for _ in 0..<51 { budget.queried(at: Sample.at(0)) }
    for _ in 0..<5 { #expect(take(&budget, at: 0)) }
    #expect(take(&budget, question, at: 0))
    #expect(!take(&budget, at: 0) && !take(&budget, question, at: 0))
    #expect(!take(&budget, question.ofOtherFamily, at: 0.1), "another lookup, which ends later")
    #expect(take(&budget, question.ofOtherFamily, at: 0))
    #expect(!take(&budget, question.ofOtherFamily, at: 0))
    // Seven hedges are as many as 70 queries have: 61 would have had one more.
    for _ in 0..<10 { budget.queried(at: Sample.at(1)) }
    #expect(!take(&budget, at: 1))
    for _ in 0..<10 { budget.queried(at: Sample.at(1)) }
    #expect(take(&budget, at: 1))
  }

  @Test
  func `whenever a hedge is sent, hedges were at most a tenth of the last minute's queries, rounded up, or five`() {
    var random = SeededGenerator(seed: 5)
    var budget = HedgeBudget()
    var log: [(second: Int, isHedge: Bool)] = []
    for second in 0..<300 {
      for _ in 0..<Int.random(in: 0...8, using: &random) {
        budget.queried(at: Sample.at(Double(second)))
        log.append((second, false))
        guard take(&budget, at: Double(second)) else { continue }
        log.append((second, true))
        let minute = log.filter { $0.second > second - 60 }
        let hedges = minute.count { $0.isHedge }
        #expect(hedges <= max(5, (minute.count - hedges + 9) / 10), "second \(second)")
      }
    }
    #expect(log.count { $0.isHedge } > 50)
  }
}
