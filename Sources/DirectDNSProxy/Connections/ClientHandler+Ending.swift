// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// How a client's connection ends: by the client, by the proxy, and by time.
extension ClientHandler {
  /// Ends it at once, in such a way that what was cut off is seen to be.
  func abort() {
    leave(isBroken: true, "connection_terminated")
    reset()
  }

  /// The proxy is ending: what waits for a request is closed, and what is under way closes behind its response.
  func drain() {
    switch state {
    case .head(since: nil): isWrittenOut ? close() : linger()
    default: break
    }
  }

  /// The client is gone, or has to go.
  func leave(isBroken: Bool, _ error: String? = nil) {
    switch state {
    case .connecting(let pending): settings.ended(pending.cancel(), loop.shared.telemetry)
    case .exchange(let exchange): exchange.abandon()
    case .tunnel(let tunnel): tunnel.end(isBroken: isBroken, error)
    case .head, .socks, .judging, .draining, .lingering, .closed: break
    }
    state = .closed
  }

  /// Whether the client is gone: a flush may find that out, and everything has ended by the time that it returns.
  var isGone: Bool { if case .closed = state { true } else { false } }

  /// Closes when all that was written has gone out.
  func closeBehindWrites() { context?.closeBehindWrites(.all) }

  /// Says that nothing more follows, and reads on for a while: a client that is still sending would lose the response to
  /// a reset.
  func linger() {
    guard let context, !isGone else { return }
    guard !hasStopped else {
      state = .closed
      return closeBehindWrites()
    }
    let now = NIODeadline.now()
    state = .lingering(end: now + .seconds(2), last: now + .seconds(30))
    held = ByteBuffer()
    context.closeBehindWrites(.output)
    resume()
  }

  func close() {
    state = .closed
    context?.close(mode: .all, promise: nil)
  }

  /// Closes by a reset: what was cut off must not look whole.
  func reset() {
    state = .closed
    context?.channel.setReset()
    context?.close(mode: .all, promise: nil)
  }

  /// Ends a tunnel for its silence.
  ///
  /// Whoever has not heard the end of what the other side sends sees a reset: much that goes through tunnels ends with its
  /// connection, and must not look whole.
  private func cutOff(_ tunnel: Tunnel, _ error: String) {
    let hasAll = tunnel.hasOriginStopped && isWrittenOut
    tunnel.end(isBroken: !(tunnel.hasClientStopped && tunnel.origin.isWrittenOut), error)
    hasAll ? close() : reset()
  }

  /// Closes, in such a way that what has not gone out is seen to be missing.
  private func end() { isWrittenOut ? close() : reset() }

  private var isWrittenOut: Bool { context?.isWrittenOut ?? true }

  func timePassed(_ now: NIODeadline) {
    let limits = settings.limits
    ownPool?.closeIdle(at: now)
    switch state {
    case .head(since: nil):
      if now - lastActivity > TimeAmount(limits.idleTimeout) { end() }
    case .head(.some(let since)):
      if now - since > TimeAmount(limits.headTimeout) {
        refuse(
          ProxyRefusal(408, nil, "The request's header did not come in time.", closes: true), nil,
          mayBeConnect: held.beginsConnect)
      }
    case .socks(_, let since): if now - since > TimeAmount(limits.headTimeout) { close() }
    case .exchange(let exchange): exchange.timePassed(now, limits)
    // It has been answered: who still sends the body would lose that to a reset.
    case .draining(_, let limit): if now >= limit { linger() }
    case .lingering(let end, _):
      guard now >= end else { break }
      // A client that reads slowly has yet to get what was said; one that has stopped reading is cut off, and sees that.
      if isWrittenOut {
        close()
      } else if now - end > TimeAmount(limits.responseTimeout) {
        reset()
      }
    case .tunnel(let tunnel):
      let limit = tunnel.isHalfOver ? min(limits.tunnelTimeout, limits.halfClosedTimeout) : limits.tunnelTimeout
      if now - max(lastActivity, tunnel.lastActivity) > TimeAmount(limit) {
        let isRead = canTakeMore && tunnel.origin.isWritable
        cutOff(tunnel, isRead ? "connection_read_timeout" : "connection_write_timeout")
      }
    case .judging, .connecting, .closed: break
    }
  }
}
