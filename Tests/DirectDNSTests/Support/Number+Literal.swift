// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// Tests name lookups, questions and queries by the places that they come at.
extension Number: ExpressibleByIntegerLiteral, CustomStringConvertible {
  init(integerLiteral value: Int) { self.init(rawValue: value) }

  var description: String { "\(rawValue)" }
}
