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

  /// The pause before the next try: what the server asks for, or 1 s, 2 s, 4 s … up to 10 min.
  ///
  /// - Parameters:
  ///   - tries: the number of tries so far.
  ///   - retryAfter: the value of `Retry-After`, in seconds or as a date.
  ///   - now: the wall clock's seconds since 1970.
  /// - Returns: the pause, 10 min at most.
  static func pause(afterTries tries: Int, retryAfter: String?, now: Int64) -> Duration {
    let most: Int64 = 600
    if let retryAfter, let asked = seconds(retryAfter, now: now) { return .seconds(min(max(0, asked), most)) }
    return .seconds(min(1 << Int64(min(max(0, tries - 1), 10)), most))
  }

  /// RFC 9110 §10.2.3.
  private static func seconds(_ text: String, now: Int64) -> Int64? {
    HTTPFreshness.seconds(text).map { Int64($0) } ?? CookieTime(cookieDate: text).map { $0.secondsSince1970 - now }
  }
}
