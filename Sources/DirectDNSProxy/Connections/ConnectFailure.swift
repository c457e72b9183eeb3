// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Why an address could not be connected to, directly or through another proxy.
struct ConnectFailure {
  private let code: CInt?
  private let refusal: ProxyRefusal?

  init(_ error: any Error) {
    code = (error as? IOError)?.errnoCode
    refusal = error as? ProxyRefusal
  }

  /// Whether it says something about the address, and not about this process or its policy.
  var isAboutAddress: Bool {
    guard let code else { return !isLoop }
    return ![EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL, EACCES, EPERM].contains(code)
  }

  /// Whether the proxy itself is at the address.
  var isLoop: Bool { refusal?.error == "proxy_loop_detected" }

  /// Whether this process, or its machine, has no file left for a connection.
  var isLackOfFiles: Bool { code == EMFILE || code == ENFILE }

  /// The reason in words, as a part of a sentence.
  var reason: String {
    if let refusal { return DirectDNSError.clause(of: refusal.message) }
    return switch code {
    case ECONNREFUSED?: "connection refused"
    case ECONNRESET?: "the connection was reset"
    case ENETUNREACH?: "no route to its network"
    case EHOSTUNREACH?: "no route to it"
    case ETIMEDOUT?: "no answer in time"
    case EACCES?: "not allowed"
    case EMFILE?, ENFILE?: "this process has no file left: raise its limit (ulimit -n)"
    case let code?: Self.words(code)
    case nil: "the connection failed"
    }
  }

  /// The system's own words, for the middle of a sentence.
  private static func words(_ code: CInt) -> String {
    let words = unsafe String(cString: strerror(code))
    return words.prefix(1).lowercased() + words.dropFirst()
  }

  /// The status of the response.
  var status: Int {
    if let refusal { return refusal.status }
    return switch code {
    case ETIMEDOUT?: 504
    case EACCES?: 403
    default: 502
    }
  }

  /// The type of proxy error (RFC 9209 §2.3).
  var type: String {
    if let refusal { return refusal.error ?? "destination_unavailable" }
    return switch code {
    case ECONNREFUSED?: "connection_refused"
    case ECONNRESET?: "connection_terminated"
    case ENETUNREACH?, EHOSTUNREACH?: "destination_ip_unroutable"
    case ETIMEDOUT?: "connection_timeout"
    case EACCES?: "destination_ip_prohibited"
    case EMFILE?, ENFILE?, ENOBUFS?, ENOMEM?, EADDRNOTAVAIL?: "proxy_internal_error"
    default: "destination_unavailable"
    }
  }
}
