// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// What is wrong in a configuration: where, what stands there, and what should.
package struct ConfigurationFault: Error, Sendable, Hashable {
  package var message: String
  /// Whether an option is written wrongly, rather than well and of no use.
  package var isSlip: Bool

  package init(_ message: String, isSlip: Bool = false) {
    self.message = message.printable
    self.isSlip = isSlip
  }

  /// What the library's callers are told.
  var error: DirectDNSError { DirectDNSError(.invalidConfiguration, message) }
}
