internal import HTTPTypes

/// When a request is sent a second time.
///
/// Before anything of it was sent, other addresses are tried instead. After that the server may have acted on it: only
/// what does no more harm when it comes twice is repeated, and once.
enum RepeatRule {
  /// RFC 9110 §9.2.2.
  private static let idempotent: Set<HTTPRequest.Method> = [.get, .head, .options, .trace, .put, .delete]

  static func isIdempotent(_ method: HTTPRequest.Method) -> Bool { idempotent.contains(method) }

  static func allows(_ failure: CurlFailure, isRepeatable: Bool, hasRepeated: Bool) -> Bool {
    guard isRepeatable, !hasRepeated, !failure.wasRepeated, failure.mayHaveArrived, failure.bodyFailure == nil else {
      return false
    }
    // A server that is slow is not helped by a second request.
    guard case .connectionLost = failure.reason else { return false }
    return true
  }
}
