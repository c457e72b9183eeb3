// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Why a command that works on a store ends early.
struct StoreFailure: Error, Sendable {
  let status: ExitStatus
  /// The message; nil if there is nobody to read it.
  let message: String?

  init(_ status: ExitStatus, _ message: String?) {
    self.status = status
    self.message = message
  }

  /// The command line or the configuration is wrong.
  init(_ error: SettingsError) { self.init(error.status, error.message) }

  /// The store failed.
  init(_ error: DirectDNSError) { self.init(.streams, error.message) }

  /// Standard output could not be written, or a file.
  init(_ error: StreamError, to place: String = "standard output") {
    self.init(
      error == .closedPipe ? .closedPipe : .streams,
      error == .closedPipe ? nil : "\(place.printable) cannot be written: \(error.reason).")
  }
}
