// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// How a client's connection ends: by the client, by the proxy, and by timeouts.
extension ClientHandler {
  /// Ends it at once, by a reset if something was cut off, so that it does not look complete.
  func abort() {
    switch state {
    // The kernel goes on sending what it holds.
    case .head(since: nil) where isWrittenOut, .draining where isWrittenOut, .lingering where isWrittenOut:
      return close()
    // It has the whole response; what is cut off is the rest of its request.
    case .exchange(let exchange) where exchange.isAnswered && isWrittenOut:
      leave(isBroken: true, "connection_terminated")
      return close()
    default: break
    }
    leave(isBroken: true, "connection_terminated")
    reset()
  }

  /// The proxy is stopping: closes a connection that waits for a request; others close after their response.
  ///
  /// - Parameter isLast: whether a client whose next request may be on its way is not waited for any longer.
  func drain(isLast: Bool) {
    guard case .head(since: nil) = state else { return }
    // One that has just got a response sends its next request at once, or not soon.
    let isIdle = speaksHTTP && NIODeadline.now() - lastActivity >= ProxyLoop.nextRequestTime
    if isIdle, hasArrived {
      close()
    } else if isIdle || isLast {
      // Its request may come at this moment.
      linger()
    }
  }

  /// Ends what is in progress: the client is gone, or is to be disconnected.
  func leave(isBroken: Bool, _ error: String? = nil) {
    switch state {
    case .connecting(let pending):
      if let access = pending.cancel() { settings.ended(access, since: pending.began, loop.shared.telemetry) }
    case .exchange(let exchange): exchange.abandon()
    case .tunnel(let tunnel):
      // SwiftNIO does not say that a read is over whose next one fails: what it brought is not flushed yet.
      tunnel.origin.flush()
      tunnel.end(isBroken: isBroken, error)
    case .authenticating(let ticket, _): loop.shared.passwords.cancel(ticket)
    case .head, .socks, .draining, .lingering, .closed: break
    }
    state = .closed
  }

  /// Whether the client is gone: a flush may find that out, and has then ended everything when it returns.
  var isGone: Bool { if case .closed = state { true } else { false } }

  /// Closes after everything that was written has been sent.
  func closeBehindWrites() {
    context?.closeBehindWrites(.all) { [self] in unwrittenError = "connection_write_timeout" }
  }

  /// Closes the sending direction, and reads on for a while: otherwise a client that is still sending would get a reset
  /// and lose the response.
  ///
  /// - Parameter time: how long, and again after everything that comes; 2 s by default, and no longer than 30 s.
  func linger(for time: TimeAmount = .seconds(2)) {
    guard let context, !isGone else { return }
    // A client above the limit must not keep its descriptor.
    guard !hasStopped, isCounted else {
      state = .closed
      return closeBehindWrites()
    }
    let now = NIODeadline.now()
    state = .lingering(end: now + time, last: now + time * 15)
    buffered = ByteBuffer()
    context.closeBehindWrites(.output)
    resume()
  }

  func close() {
    state = .closed
    context?.close(mode: .all, promise: nil)
  }

  /// Closes by a reset, so that what was cut off does not look complete.
  func reset() {
    state = .closed
    context?.channel.setReset()
    context?.close(mode: .all, promise: nil)
  }

  /// Resets the connection of a client that has taken nothing for too long.
  private func cutOffUnread() {
    unwrittenError = "connection_write_timeout"
    reset()
  }

  /// Ends a tunnel that was silent for too long.
  ///
  /// A side that has not received the end of the other's data gets a reset: in many protocols a message ends with its
  /// connection, and a part of it must not look complete.
  private func cutOff(_ tunnel: Tunnel, _ error: String) {
    let hasAll = tunnel.hasOriginStopped && writes.hasAll
    // For a tunnel that has ended but for that.
    if !hasAll { unwrittenError = "connection_write_timeout" }
    tunnel.end(isBroken: !(tunnel.hasClientStopped && tunnel.origin.writes.hasAll), error)
    hasAll ? close() : reset()
  }

  /// No request is under way: closes if none comes, but not before the last response was taken.
  private func endIdle(_ now: NIODeadline, _ limits: ProxyLimits) {
    let silence = now - max(lastActivity, writes.last)
    guard writes.hasAll else {
      if silence > TimeAmount(limits.tunnelTimeout) { cutOffUnread() }
      return
    }
    let limit = TimeAmount(limits.idleTimeout)
    if silence > (loop.isDraining && speaksHTTP ? min(limit, ProxyLoop.nextRequestTime) : limit) { close() }
  }

  /// Whether a client takes too long for the rest of what it has begun to ask for.
  private func isLate(since began: NIODeadline, _ now: NIODeadline, _ limits: ProxyLimits) -> Bool {
    guard now - began <= TimeAmount(limits.headTimeout) else { return true }
    // From the end on: the rest may be on its way, however slowly the beginning came.
    guard let end = loop.drainBegan else { return false }
    return now - max(began, end) > ProxyLoop.nextRequestTime
  }

  /// The bytes that were written and that the client has not acknowledged.
  var unsentBytes: Int { context?.unsentBytes ?? 0 }

  /// Whether the client has acknowledged everything that was written.
  var hasArrived: Bool { unsentBytes == 0 }

  private var isWrittenOut: Bool { context?.isWrittenOut ?? true }

  /// Whether it has connected to a Unix socket.
  var isAtUnixSocket: Bool { context?.channel.localAddress?.protocol == .unix }

  func timePassed(_ now: NIODeadline) {
    let limits = settings.limits
    ownPool?.closeIdle(at: now)
    lookAtWrites(now)
    switch state {
    case .head(since: nil): endIdle(now, limits)
    case .head(.some(let since)):
      if isLate(since: since, now, limits) {
        refuse(
          ProxyRefusal(408, nil, "The request's header did not come in time.", closes: true), nil,
          mayBeConnect: buffered.beginsConnect)
      }
    case .socks(_, let since): if isLate(since: since, now, limits) { close() }
    case .exchange(let exchange): exchange.timePassed(now, limits)
    // It has been answered. A client that still sends the body would lose the response to a reset.
    case .draining(_, let limit): if now >= limit || loop.isDraining { linger() }
    case .lingering(let end, _):
      guard now >= end else { break }
      // A client that reads slowly still gets the response; one that has stopped reading gets a reset.
      // Closed earlier, the kernel would give up on one that pauses for minutes.
      if writes.hasAll {
        close()
      } else if now - max(end, writes.last) > TimeAmount(limits.tunnelTimeout) {
        cutOffUnread()
      }
    case .tunnel(let tunnel):
      tunnel.origin.lookAtWrites(now)
      let limit = tunnel.isHalfOver ? min(limits.tunnelTimeout, limits.halfClosedTimeout) : limits.tunnelTimeout
      let last = max(lastActivity, writes.last, tunnel.lastActivity, tunnel.origin.writes.last)
      if now - last > TimeAmount(limit) {
        let isRead = canTakeMore && tunnel.origin.isWritable
        cutOff(tunnel, isRead ? "connection_read_timeout" : "connection_write_timeout")
      }
    case .authenticating(let ticket, let since):
      guard now - since > TimeAmount(limits.headTimeout) else { break }
      loop.shared.passwords.cancel(ticket)
      guard speaksHTTP else { return close() }
      refuse(
        ProxyRefusal(503, nil, "Too many passwords wait to be checked: try again in some seconds.", closes: true), nil,
        mayBeConnect: true)
    case .connecting, .closed: break
    }
  }
}
