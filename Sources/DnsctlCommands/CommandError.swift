// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
package import DirectDNSConfiguration

/// Why a command cannot start or ends early, for example since the command line or the configuration is wrong.
package struct CommandError: Error, Sendable, Hashable {
  /// The command's; with `closedPipe` nobody is there to read the message.
  package var status: ExitStatus
  package var message: String

  package init(_ status: ExitStatus, _ message: String) {
    self.status = status
    self.message = message
  }

  package init(_ fault: ConfigurationFault) { self.init(fault.isSyntaxError ? .usage : .configuration, fault.message) }

  /// Standard output could not be written, or a file.
  init(_ error: StreamError, to place: String = "standard output") {
    self.init(error == .closedPipe ? .closedPipe : .streams, "\(place.printable) cannot be written: \(error.reason).")
  }
}
