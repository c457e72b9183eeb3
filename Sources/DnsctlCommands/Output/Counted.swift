// SPDX-License-Identifier: Apache-2.0
extension BinaryInteger {
  /// `1 name`, `2 names`: a count with its noun, which is the plural but for one.
  func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
