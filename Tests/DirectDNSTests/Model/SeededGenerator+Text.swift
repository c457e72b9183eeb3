// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

extension SeededGenerator {
  /// Joins up to `count` of the pieces, each drawn at random.
  mutating func text(of pieces: [String], upTo count: Int) -> String {
    (0..<Int.random(in: 0...count, using: &self)).map { _ in pieces.randomElement(using: &self) ?? "" }
      .joined()
  }
}
