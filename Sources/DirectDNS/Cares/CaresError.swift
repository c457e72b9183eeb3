// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCares

/// Why c-ares brought no answer.
///
/// Its codes are mapped here and nowhere else.
enum CaresError: Error, Hashable, Sendable, CustomStringConvertible {
  case nameNotFound
  case noAddress
  case timedOut
  case refused
  /// Whoever asked has gone.
  case cancelled
  case failed(String)

  init(_ status: Int32) {
    switch status {
    case directdns_ares_notfound: self = .nameNotFound
    case directdns_ares_nodata: self = .noAddress
    case directdns_ares_timeout: self = .timedOut
    case directdns_ares_refused: self = .refused
    default: self = unsafe .failed(String(cString: ares_strerror(status)))
    }
  }

  /// What happened, in words.
  var description: String {
    switch self {
    case .nameNotFound: "name not found"
    case .noAddress: "no address"
    case .timedOut: "timed out"
    case .refused: "refused the query"
    case .cancelled: "cancelled"
    case .failed(let reason): reason
    }
  }
}
