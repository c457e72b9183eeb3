// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// The rest of a request that still goes to its origin after the response: an origin may answer before it has read
/// everything, and read on.
extension Exchange {
  /// Whether an origin that has answered with a status wants the rest of the request: after a failure or a redirect,
  /// clients stop sending (RFC 9112 §9.5).
  static func wantsRest(_ status: Int) -> Bool { status < 300 }

  /// Whether the response is over, and the request goes on.
  func sendsOn(to handler: OriginHandler) -> Bool {
    guard request.framing != .none else { return false }
    let wantsRest = Self.wantsRest(access.status ?? 0)
    guard progress.isOver else { return wantsRest }
    // Otherwise it would wait for the next request with a part of this one.
    return !handler.isWrittenOut && (wantsRest || keepsOrigin && handler.canBeReused)
  }

  /// Gives the client its response, and goes on with the request.
  func sendOn() {
    isAnswered = true
    client.flush()
    guard !client.isGone else { return }
    if endsByClose { client.finishSending() }
    finishIfSent()
  }

  /// Ends it once the origin has the rest of the request too.
  func finishIfSent() {
    guard isAnswered, progress.isOver, case .passing(let handler) = stage else { return }
    handler.whenWrittenOut { [self] isWritten in
      guard case .passing = stage else { return }
      isWritten ? finish(handler) : cutOff("connection_terminated")
    }
  }

  /// Gives up on the rest of the request; the client has the response.
  func cutOff(_ error: String) {
    guard isAnswered, case .passing(let handler) = stage else { return }
    stage = .over
    handler.reset()
    end(error)
    client.linger()
  }

  /// Closes the connection to the origin, which must not take a part of a request for a complete one.
  func leave(_ handler: OriginHandler) { progress.isOver ? handler.close() : handler.reset() }
}
