// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// Tests name servers by their places.
extension DNSServer.Number: ExpressibleByIntegerLiteral, CustomStringConvertible {
  init(integerLiteral value: Int) { self.init(value: value) }

  var description: String { "\(value)" }
}
