// SPDX-License-Identifier: Apache-2.0
/// The result of a check, and what to do about it.
struct Finding: Sendable, Hashable {
  enum Grade: String, Sendable, Hashable, Comparable {
    case ok, warn, fail

    private var rank: Int { self == .ok ? 0 : self == .warn ? 1 : 2 }

    static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
  }

  /// What was checked, such as `clock` or `provider google`.
  var subject: String
  var grade: Grade
  /// What was found.
  var detail: String
  /// What to do; nil if nothing is wrong.
  var advice: String?

  static func ok(_ subject: String, _ detail: String) -> Self { Finding(subject: subject, grade: .ok, detail: detail) }

  static func warn(_ subject: String, _ detail: String, _ advice: String) -> Self {
    Finding(subject: subject, grade: .warn, detail: detail, advice: advice)
  }

  static func fail(_ subject: String, _ detail: String, _ advice: String) -> Self {
    Finding(subject: subject, grade: .fail, detail: detail, advice: advice)
  }
}
