// SPDX-License-Identifier: Apache-2.0
package import DirectDNSConfiguration

/// Why the command cannot start, for example since the command line or the configuration is wrong.
package struct SettingsError: Error, Sendable, Hashable {
  /// `usage`, `configuration` or `streams`.
  package var status: ExitStatus
  package var message: String

  package init(_ status: ExitStatus, _ message: String) {
    self.status = status
    self.message = message
  }

  package init(_ fault: ConfigurationFault) { self.init(fault.isSyntaxError ? .usage : .configuration, fault.message) }
}
