// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// What is wrong in a configuration: where, what stands there, and what should.
package struct ConfigurationFault: Error, Sendable, Hashable {
  package var message: String
  /// Whether an option is written wrongly, rather than well and of no use.
  package var isSlip: Bool
  /// Whether it may be over without a change of the file, such as a lack of descriptors.
  var mayPass = false

  package init(_ message: String, isSlip: Bool = false) {
    self.message = message.printable
    self.isSlip = isSlip
  }

  /// The same, of something that may be over without a change of the file.
  static func passing(_ message: String) -> Self {
    var fault = Self(message)
    fault.mayPass = true
    return fault
  }

  /// What the library's callers are told.
  var error: DirectDNSError { DirectDNSError(.invalidConfiguration, message) }
}
