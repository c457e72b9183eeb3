// SPDX-License-Identifier: Apache-2.0
/// The order in which endpoints are asked.
enum EndpointOrder {
  /// Usable ones as configured, then those with open breakers, the one that opened first before the others: an open
  /// breaker changes the order and nothing else.
  static func order(_ healths: [EndpointHealth], at now: ResolverInstant) -> [Int] {
    var usable: [Int] = []
    var open: [(index: Int, since: ResolverInstant)] = []
    for index in healths.indices {
      switch healths[index].standing(at: now) {
      case .usable, .probe: usable.append(index)
      case .open(let since): open.append((index, since))
      }
    }
    guard !open.isEmpty else { return usable }
    return usable + open.sorted { ($0.since, $0.index) < ($1.since, $1.index) }.map(\.index)
  }
}
