// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// An error in a configuration: where it is, what is there, and what is expected.
package struct ConfigurationFault: Error, Sendable, Hashable {
  package var message: String
  /// Whether an option is malformed, rather than well-formed but unusable.
  package var isSyntaxError: Bool
  /// Whether it may pass without a change of the file, such as a lack of file descriptors.
  var mayPass = false

  package init(_ message: String, isSyntaxError: Bool = false) {
    self.message = message.printable
    self.isSyntaxError = isSyntaxError
  }

  /// A fault that may pass without a change of the file.
  static func passing(_ message: String) -> Self {
    var fault = Self(message)
    fault.mayPass = true
    return fault
  }

  /// The error for the library's callers.
  var error: DirectDNSError { DirectDNSError(.invalidConfiguration, message) }
}
