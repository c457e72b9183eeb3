// SPDX-License-Identifier: Apache-2.0
/// How many extra queries hedging may send: at most a tenth, rounded up, over any minute.
struct HedgeBudget: Sendable {
  private var seconds: [(second: Int64, queries: Int, hedges: Int)] = []

  private mutating func current(_ now: ResolverInstant) -> Int {
    let second = now.nanoseconds / 1_000_000_000
    if seconds.last?.second != second {
      seconds.removeAll { $0.second <= second - 60 }
      seconds.append((second, 0, 0))
    }
    return seconds.count - 1
  }

  /// Notes a query that is no hedge.
  mutating func queried(at now: ResolverInstant) { seconds[current(now)].queries += 1 }

  /// Takes the right to one hedge, if there is one left.
  mutating func take(at now: ResolverInstant) -> Bool {
    let index = current(now)
    let queries = seconds.reduce(0) { $0 + $1.queries }
    let hedges = seconds.reduce(0) { $0 + $1.hedges }
    guard hedges < (queries + 9) / 10 else { return false }
    seconds[index].hedges += 1
    return true
  }
}
