// SPDX-License-Identifier: Apache-2.0
package import DirectDNS

/// The exit status of the process.
package enum ExitStatus: Int32, Sendable, Hashable {
  /// Every name was answered.
  case answered = 0
  /// A name does not exist, has no such address, or is no valid name.
  case noAnswer = 1
  /// Providers or network failed: for a request also the connection, TLS, a timeout, and a response that cannot
  /// be read.
  case upstreamFailed = 2
  /// A policy refused a name, an address or a redirect.
  case refused = 3
  /// `compare`: sources disagree.
  case disagreement = 4
  /// `warmup`: fewer names than required have an address.
  case minimumMissed = 5
  /// `fetch -f`: a server answered with a status of 400 or above; or a file could not be continued. curl's number.
  case httpError = 22
  /// `fetch`: a server redirected too often. curl's number.
  case tooManyRedirects = 47
  /// The command line is wrong (sysexits.h: EX_USAGE).
  case usage = 64
  /// Standard input or a file could not be read, or standard output or a file not written (EX_IOERR).
  case streams = 74
  /// The configuration is wrong (EX_CONFIG).
  case configuration = 78
  /// SIGINT: 128 + 2, as in shells.
  case interrupted = 130
  /// The reader of our output has gone: 128 + 13, as with grep and cat.
  case closedPipe = 141
  /// SIGTERM: 128 + 15.
  case terminated = 143

  /// The status for the error of one name.
  package init(_ error: DirectDNSError) {
    switch error.code {
    case .nameNotFound, .noAddress, .noRecord, .invalidName, .invalidURL: self = .noAnswer
    case .refused, .addressForbidden, .redirectRefused: self = .refused
    case .tooManyRedirects: self = .tooManyRedirects
    case .invalidRequest: self = .usage
    case .fileUnusable, .cannotListen, .bodyFailed: self = .streams
    case .invalidConfiguration: self = .configuration
    // There may be further codes: an unknown one counts as a failure of providers or network.
    default: self = .upstreamFailed
    }
  }

  /// The status of several names: the highest.
  package func joined(_ other: ExitStatus) -> ExitStatus { rawValue >= other.rawValue ? self : other }
}
