// SPDX-License-Identifier: Apache-2.0
extension BinaryInteger {
  /// `1 name`, `2 names`: a count with its noun, in the plural unless it is 1.
  func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
