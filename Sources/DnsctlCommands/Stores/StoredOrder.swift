// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS

/// What stored answers are sorted by; equal ones by name.
enum StoredOrder: String, ExpressibleByArgument, CaseIterable, Sendable {
  case name, ttl, age, freshness, source

  func sorted(_ rows: [StoredRow], isReversed: Bool) -> [StoredRow] {
    let sorted = rows.sorted { left, right in
      switch self {
      case .name: break
      case .ttl where left.state.timeLeft != right.state.timeLeft:
        return left.state.timeLeft < right.state.timeLeft
      case .age where left.state.age != right.state.age: return left.state.age < right.state.age
      case .freshness where left.freshness != right.freshness: return left.freshness.rank < right.freshness.rank
      case .source where left.answer.provider != right.answer.provider:
        return left.answer.provider < right.answer.provider
      case .ttl, .age, .freshness, .source: break
      }
      return left.answer.question < right.answer.question
    }
    return isReversed ? sorted.reversed() : sorted
  }
}

extension FreshnessOption {
  /// Fresher answers have smaller ranks.
  fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
