// SPDX-License-Identifier: Apache-2.0
/// Why a request brought no response, or not all of it.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum HTTPTransportError: Error, Hashable, Sendable {
  /// No connection could be made.
  case connect(String)
  /// This machine has no socket to connect with, which says nothing about the address.
  case noSocket(String)
  /// The proxy opened no tunnel: its status.
  case refusedByProxy(status: Int)
  /// The server's certificate was refused, or TLS failed otherwise.
  case tls(String)
  /// This machine could not set up TLS, for example because of a certificate, a key or a CA file of its own, which says
  /// nothing about the server.
  case tlsSetup(String)
  /// No response within the time that was given.
  case timedOut
  /// The body was larger than the limit; for a provider's reply, ``HTTPReply/bodyLimit``.
  case bodyTooLarge
  /// Header fields and trailers were larger than the limit; for a provider's reply, ``HTTPReply/fieldLimit``.
  case fieldsTooLarge
  /// The connection ended before all of the response had come.
  case connectionLost(String)
  /// What came is no HTTP response, or a part of it cannot be decoded: another try would most likely bring the same.
  case malformedResponse(String)
  /// The request could not be sent as it is.
  case invalidRequest(String)
  /// The task was cancelled.
  case cancelled
  /// The transport was shut down.
  case shutDown

  /// The code of the library's own error, a word without dynamic parts.
  var code: DirectDNSError.Code {
    switch self {
    case .connect, .noSocket, .refusedByProxy: .connectFailed
    case .tls, .tlsSetup: .tlsFailed
    case .timedOut: .timedOut
    case .bodyTooLarge: .bodyTooLarge
    case .fieldsTooLarge: .fieldsTooLarge
    case .connectionLost: .connectionLost
    case .malformedResponse: .malformedResponse
    case .invalidRequest: .invalidRequest
    case .cancelled: .cancelled
    case .shutDown: .shutDown
    }
  }

  /// Whether the server may have moved: nobody answered at the address.
  var mayBeTheAddress: Bool {
    switch self {
    case .connect, .refusedByProxy, .timedOut: true
    case .noSocket, .tls, .tlsSetup, .bodyTooLarge, .fieldsTooLarge, .connectionLost, .malformedResponse,
      .invalidRequest, .cancelled, .shutDown:
      false
    }
  }

  /// Whether the cause is on this machine, so that it says nothing about the address or the server.
  var isLocal: Bool {
    switch self {
    case .noSocket, .tlsSetup, .invalidRequest, .cancelled, .shutDown: true
    case .connect, .refusedByProxy, .tls, .timedOut, .bodyTooLarge, .fieldsTooLarge, .connectionLost,
      .malformedResponse:
      false
    }
  }
}

extension HTTPTransportError: CustomStringConvertible {
  /// What happened, in words.
  public var description: String {
    switch self {
    case .connect, .noSocket, .refusedByProxy: "no connection: \(text)"
    case .connectionLost: "connection lost: \(text)"
    case .malformedResponse: "malformed response: \(text)"
    case .invalidRequest: "the request cannot be sent: \(text)"
    case .tls, .tlsSetup, .timedOut, .bodyTooLarge, .fieldsTooLarge, .cancelled, .shutDown: text
    }
  }

  /// The same, for a message that already says what failed.
  var text: String {
    switch self {
    case .connect(let reason), .noSocket(let reason), .connectionLost(let reason), .malformedResponse(let reason),
      .invalidRequest(let reason):
      reason
    case .refusedByProxy(let status): "the proxy answered \(status)"
    case .tls(let reason): "TLS: \(reason)"
    case .tlsSetup(let reason): "TLS could not be set up on this machine: \(reason)"
    case .timedOut: "timed out"
    case .bodyTooLarge: "the body is larger than what is read"
    case .fieldsTooLarge: "header fields and trailers are more than what is read"
    case .cancelled: "cancelled"
    case .shutDown: "shut down"
    }
  }
}
