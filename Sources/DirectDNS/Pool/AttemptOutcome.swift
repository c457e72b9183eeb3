// SPDX-License-Identifier: Apache-2.0
/// What libcurl says at the end of a transfer, as far as the pools decide by it.
enum AttemptEnd: Hashable {
  case complete
  /// The connection ended while the request was being sent.
  case sendFailed
  /// The connection ended before the whole response had come.
  case connectionEnded
  /// The server has ended the HTTP/2 stream, of which it wants no more.
  case streamEnded
  /// The server refuses what HTTP/2 has carried.
  case http2
  case other
}

/// How an attempt to get a response has ended.
enum AttemptOutcome: Hashable {
  case complete
  /// The response ended within its head: libcurl asks for no more of one than its status line.
  case brokenOff
  /// The server has answered with success, and stopped reading before it had the whole request.
  case inPart(HTTPTransportError)
  /// The server has said that it has not processed the request.
  case refused
  case failed(HTTPTransportError)

  /// Creates an outcome.
  ///
  /// - Parameters:
  ///   - end: what libcurl says.
  ///   - isHeadCut: whether the attempt carries the request, and the response's head is not complete.
  ///   - isUnprocessed: whether the server has said that it has not processed the request.
  ///   - hasWholeBody: whether the whole response has come.
  ///   - isAccepted: whether its status is one of success.
  ///   - hasSentBody: whether the whole request was sent.
  ///   - failure: what is wrong, if anything is.
  init(
    _ end: AttemptEnd, isHeadCut: Bool, isUnprocessed: @autoclosure () -> Bool, hasWholeBody: @autoclosure () -> Bool,
    isAccepted: @autoclosure () -> Bool, hasSentBody: @autoclosure () -> Bool,
    failure: @autoclosure () -> HTTPTransportError
  ) {
    switch end {
    case .complete: self = isHeadCut ? .brokenOff : .complete
    case _ where isUnprocessed(): self = .refused
    // The server has sent its whole response, and then stopped reading the request (RFC 9112 §9.5, RFC 9113 §8.1).
    case .sendFailed where hasWholeBody(), .streamEnded where hasWholeBody():
      // One that refuses wants no more of it; one that has answered with success may still have wanted the rest.
      self = isAccepted() && !hasSentBody() ? .inPart(.connectionLost(failure().text)) : .complete
    case .sendFailed, .streamEnded, .connectionEnded, .http2, .other: self = .failed(failure())
    }
  }

  /// What is wrong, where there is no response.
  var reason: HTTPTransportError {
    switch self {
    case .complete: .connectionLost("the connection ended before the request went out")
    case .brokenOff: .connectionLost("the response ended before its head")
    case .refused: .connectionLost("the server refused the request unprocessed")
    case .inPart(let reason), .failed(let reason): reason
    }
  }
}
