// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// When a request is sent a second time.
///
/// Before anything of it was sent, other addresses are tried instead. After that the server may have acted on it: only
/// what does no more harm when it comes twice is repeated, and once.
enum RetryRule {
  /// RFC 9110 §9.2.2.
  static func isIdempotent(_ method: HTTPRequest.Method) -> Bool {
    switch method {
    case .get, .head, .options, .trace, .put, .delete: true
    default: false
    }
  }

  /// What a request has gone through.
  struct History {
    /// Whether it may have reached a server twice.
    private(set) var hasRetried = false
    private var refusals = 0

    /// A response came to a request that libcurl had sent before: what goes out after it goes out once.
    mutating func noteRetried() { hasRetried = true }

    /// Whether a request that failed so is sent again; if so, that is noted.
    ///
    /// - Parameters:
    ///   - failure: why there is no response.
    ///   - isRetryable: whether it does no harm when it comes twice.
    ///   - canBeReplayed: whether its body can be sent again.
    /// - Returns: whether to send it.
    mutating func allows(_ failure: TransferFailure, isRetryable: Bool, canBeReplayed: Bool) -> Bool {
      if failure.wasRefused {
        // It was refused one of the times.
        if failure.wasRetried { hasRetried = true }
        refusals += 1
        return canBeReplayed && refusals <= RetryRule.refusalLimit
      }
      guard isRetryable, !hasRetried, !failure.wasRetried, failure.mayHaveArrived, failure.bodyFailure == nil else {
        return false
      }
      // A server that is slow is not helped by a second request.
      guard case .connectionLost = failure.reason else { return false }
      hasRetried = true
      return true
    }
  }

  /// A request that was refused unprocessed was not sent, so it may go out again: a server that is shutting down, or
  /// that limits the requests of a connection, may refuse it on several connections in a row.
  static let refusalLimit = 10
}
