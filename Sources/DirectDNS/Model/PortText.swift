// SPDX-License-Identifier: Apache-2.0
extension UInt16 {
  /// Reads a port as people write it: digits and nothing else, not even the sign that Swift's own numbers may have.
  ///
  /// - Parameter text: the port, such as `443`.
  package init?(port text: some StringProtocol) {
    guard text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
    self.init(text)
  }
}
