// SPDX-License-Identifier: Apache-2.0
/// The signals by which a process is told to end: a pure function of when they come.
package struct EndRequests: Sendable {
  /// What a signal means.
  package enum Meaning: Equatable {
    /// End in order.
    case first
    /// The same request once more.
    case repeated
    /// End now.
    case second
  }

  /// Nanoseconds within which signals count as one: timeout(1) sends the same one twice, to a process and to its group.
  static let together: UInt64 = 200_000_000

  private var first: UInt64?

  package init() {}

  /// A signal has come, at a time of the monotonic clock in nanoseconds.
  package mutating func take(at now: UInt64) -> Meaning {
    guard let first else {
      first = now
      return .first
    }
    return now - first < Self.together ? .repeated : .second
  }
}
