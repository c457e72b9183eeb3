// SPDX-License-Identifier: Apache-2.0
/// How many extra queries hedging may send: in any minute at most a tenth of the others, rounded up, or five.
///
/// A lookup mostly waits for both families of a name, and a hedge for one of them alone would bring it nothing: where one
/// has a hedge, the other may have one as well, which counts too.
struct HedgeBudget: Sendable {
  /// As many as there may be in any minute, so that the first lookups of a process need not wait for a silent server.
  static let least = 5

  private var seconds: [(second: Int64, queries: Int, hedges: Int)] = []
  /// Questions that may have a hedge because the name's other family has one, and when their lookups end.
  private var others: [AddressQuestion: ResolverInstant] = [:]

  private mutating func current(_ now: ResolverInstant) -> Int {
    let second = now.nanoseconds / 1_000_000_000
    if seconds.last?.second != second {
      seconds.removeAll { $0.second <= second - 60 }
      seconds.append((second, 0, 0))
    }
    return seconds.count - 1
  }

  /// Counts a query that is not a hedge.
  mutating func queried(at now: ResolverInstant) { seconds[current(now)].queries += 1 }

  /// Counts a hedge if the budget has room for it.
  ///
  /// - Parameters:
  ///   - question: what is asked for, if that is a family's addresses.
  ///   - end: when the lookup ends, which is the same for both families.
  ///   - now: the present.
  /// - Returns: whether it may be sent.
  mutating func take(for question: AddressQuestion?, until end: ResolverInstant, at now: ResolverInstant) -> Bool {
    let index = current(now)
    if let question, others[question] == end {
      others[question] = nil
    } else {
      let queries = seconds.reduce(0) { $0 + $1.queries }
      let hedges = seconds.reduce(0) { $0 + $1.hedges }
      guard hedges < max(Self.least, (queries + 9) / 10) else { return false }
      others = others.filter { $0.value > now }
      if let question { others[question.ofOtherFamily] = end }
    }
    seconds[index].hedges += 1
    return true
  }
}
