// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes

/// When `--retry` tries again, and after how long: pure functions.
enum FetchRetryRule {
  /// Statuses after which another try may help, as in curl.
  static let statuses: Set<Int> = [408, 429, 500, 502, 503, 504]

  /// Whether a request may be sent again after a temporary failure: one that may have reached a server only if that does
  /// no harm twice (RFC 9110 §9.2.2).
  ///
  /// - Parameters:
  ///   - method: the request's.
  ///   - isReplayable: whether its body can be sent again.
  ///   - error: what went wrong; nil for a status.
  /// - Returns: whether it may.
  static func allows(_ method: HTTPRequest.Method, isReplayable: Bool, after error: DirectDNSError?) -> Bool {
    guard isReplayable else { return false }
    // A status is a server's answer.
    guard let error else { return method.isIdempotent }
    return error.isTransient && (method.isIdempotent || !error.mayHaveReachedServer)
  }

  /// The longest `Retry-After` that is waited out: where a server asks for more, an earlier try would be too early (RFC
  /// 9110 §10.2.3), so there is none.
  static let longestPause = Duration.seconds(3600)

  /// The pause before the next try: what the server asks for, or 1 s, 2 s, 4 s … up to 10 min.
  ///
  /// - Parameters:
  ///   - tries: the number of tries so far.
  ///   - retryAfter: what the server asks for, if it does; ``longestPause`` at most.
  /// - Returns: the pause.
  static func pause(afterTries tries: Int, retryAfter: Duration?) -> Duration {
    retryAfter ?? .seconds(min(Int64(1) << Int64(min(max(0, tries - 1), 10)), 600))
  }
}
