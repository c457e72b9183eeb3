internal import DirectDNS

/// What the process ends with.
enum ExitStatus: Int32, Sendable, Hashable {
  /// Every name was answered.
  case answered = 0
  /// A name does not exist, has no such address, or is no valid name.
  case noAnswer = 1
  /// Providers or network failed.
  case upstreamFailed = 2
  /// A policy refused a name.
  case refused = 3
  /// The command line is wrong (sysexits.h: EX_USAGE).
  case usage = 64
  /// Standard input could not be read, or standard output not written (EX_IOERR).
  case streams = 74
  /// The configuration is wrong (EX_CONFIG).
  case configuration = 78
  /// SIGINT: 128 + 2, as shells have it.
  case interrupted = 130
  /// Our reader has gone: 128 + 13, what grep and cat end with there.
  case closedPipe = 141

  /// What one name's error means for the process.
  init(_ error: DirectDNSError) {
    switch error.code {
    case .nameNotFound, .noAddress, .invalidName, .invalidURL: self = .noAnswer
    case .refused, .addressForbidden: self = .refused
    case .invalidConfiguration: self = .configuration
    // Codes are open: what is not known here is something that went wrong on the way.
    default: self = .upstreamFailed
    }
  }

  /// The status of several names: the highest.
  func joined(_ other: ExitStatus) -> ExitStatus { rawValue >= other.rawValue ? self : other }
}
