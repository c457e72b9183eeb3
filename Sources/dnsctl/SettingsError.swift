internal import DirectDNSConfiguration

/// Why the command cannot begin: the command line or the configuration is wrong.
struct SettingsError: Error, Sendable, Hashable {
  /// `usage` or `configuration`.
  var status: ExitStatus
  var message: String

  init(_ status: ExitStatus, _ message: String) {
    self.status = status
    self.message = message
  }

  init(_ fault: ConfigurationFault) { self.init(fault.isSlip ? .usage : .configuration, fault.message) }
}
