// SPDX-License-Identifier: Apache-2.0
/// Misbehaviours of a server, and the requests that they apply to.
struct MisbehaviourRules<Kind: Sendable, Request>: Sendable {
  private struct Rule: Sendable {
    let misbehaviours: [Kind]
    var remaining: Int?
    let condition: (@Sendable (Request) -> Bool)?
  }

  private var rules: [Rule] = []

  /// Adds a rule behind the others: for any number of requests, or for all of them, where there is nil.
  mutating func add(_ misbehaviours: [Kind], times: Int?, when condition: (@Sendable (Request) -> Bool)?) {
    guard times.map({ $0 > 0 }) ?? true else { return }
    rules.append(Rule(misbehaviours: misbehaviours, remaining: times, condition: condition))
  }

  mutating func removeAll() { rules = [] }

  /// Only the first matching rule applies; it is removed after its number of requests.
  mutating func take(for request: Request) -> [Kind] {
    guard let index = rules.firstIndex(where: { $0.condition?(request) ?? true }) else { return [] }
    let misbehaviours = rules[index].misbehaviours
    if let remaining = rules[index].remaining {
      rules[index].remaining = remaining - 1
      if remaining <= 1 { rules.remove(at: index) }
    }
    return misbehaviours
  }
}
