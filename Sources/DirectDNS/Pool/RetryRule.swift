// SPDX-License-Identifier: Apache-2.0
/// When a request is sent again after it has failed.
///
/// As long as nothing of it was sent, other addresses are tried. Afterwards the server may have acted on it: it is
/// retried only if that does no harm, and only once.
enum RetryRule {
  /// The failures of one request so far.
  struct History {
    /// Whether it was retried, so that it may have reached a server twice.
    private(set) var hasRetried = false
    private var refusals = 0

    /// Notes that libcurl itself has retried the request: it is not retried again.
    mutating func noteRetried() { hasRetried = true }

    /// Whether the request is sent again after a failure; notes that it is.
    ///
    /// - Parameters:
    ///   - failure: why there is no response.
    ///   - isRetryable: whether it does no harm if the server gets it twice.
    ///   - canBeReplayed: whether its body can be sent again.
    /// - Returns: whether to send it.
    mutating func allows(_ failure: TransferFailure, isRetryable: Bool, canBeReplayed: Bool) -> Bool {
      if failure.facts.delivery == .refused {
        // It was sent more than once, and only the last time is known to have been refused.
        if failure.facts.wasRetried { hasRetried = true }
        refusals += 1 + failure.facts.refusals
        return canBeReplayed && refusals <= RetryRule.refusalLimit
      }
      guard isRetryable, !hasRetried, !failure.facts.wasRetried, failure.facts.delivery == .mayHaveArrived,
        failure.facts.bodyFailure == nil, failure.facts.forbidden == nil
      else {
        return false
      }
      // A server that is slow is not helped by a second request.
      guard case .connectionLost = failure.facts.reason else { return false }
      hasRetried = true
      return true
    }
  }

  /// How often a request may be refused unprocessed by HTTP/2, and is sent again; libcurl retries it up to five times by
  /// itself, so that the last ones may be more.
  ///
  /// Such a request counts as not sent. A server that is shutting down, or that limits the requests of a connection,
  /// may refuse it on several connections in a row.
  static let refusalLimit = 10
}
