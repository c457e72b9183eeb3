// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// One client's connection: reads what it asks for, and carries what it sends and gets.
///
/// All of it happens on its event loop's thread.
final class ClientHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  enum State {
    /// A head is awaited; `since` where its first byte has come.
    case head(since: NIODeadline?)
    case socks(SOCKSHandshake, since: NIODeadline)
    /// A password is being checked.
    case judging
    /// A tunnel's way is being found.
    case connecting(PendingTunnel)
    /// A request is under way.
    case exchange(Exchange)
    /// The body of a refused request is read, so that the next one can be.
    case draining(BodyProgress, end: NIODeadline)
    case tunnel(Tunnel)
    /// Everything was said; what still comes is read and dropped, since closing at once would lose what was said. Who
    /// goes on sending gets until `last`.
    case lingering(end: NIODeadline, last: NIODeadline)
    case closed
  }

  let loop: ProxyLoop
  var state = State.head(since: nil)
  var held = ByteBuffer()
  var searched = 0
  private(set) var context: ChannelHandlerContext?
  private var holdsRead = false
  private var isCounted = false
  private var isGoingOn = false
  /// It sends no more; what it has asked for is still answered.
  private(set) var hasStopped = false
  var lastActivity = NIODeadline.now()
  private(set) var address: IPAddress?

  /// What holds for what it asks for: taken once when a head begins, so that a change in between is no mixture.
  private(set) var settings: ProxySettings

  init(_ loop: ProxyLoop) {
    self.loop = loop
    settings = loop.shared.settings
  }

  /// When the first byte of the head that is being read came.
  var headBegan: NIODeadline? { if case .head(let since) = state { since } else { nil } }

  /// Something is asked for.
  func takeSettings() { settings = loop.shared.settings }

  // MARK: Life

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    address = context.channel.remoteAddress?.ipAddressValue
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelActive(context: ChannelHandlerContext) {
    let clients = loop.shared.clients
    isCounted = clients.enter(limit: settings.limits.clients)
    loop.add(self)
    loop.shared.telemetry.clients(clients)
    guard isCounted else {
      return refuse(
        ProxyRefusal(503, "connection_limit_reached", "The proxy serves as many clients as it may.", closes: true), nil)
    }
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    leave(isBroken: false)
    state = .closed
    loop.remove(self)
    if isCounted {
      isCounted = false
      loop.shared.clients.leave()
      loop.shared.telemetry.clients(loop.shared.clients)
    }
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    leave(isBroken: true)
    close()
  }

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
  private func leave(isBroken: Bool, _ error: String? = nil) {
    switch state {
    case .connecting(let pending): settings.ended(pending.cancel(), loop.shared.telemetry)
    case .exchange(let exchange): exchange.abandon()
    case .tunnel(let tunnel): tunnel.end(isBroken: isBroken, error)
    case .head, .socks, .judging, .draining, .lingering, .closed: break
    }
    state = .closed
  }

  // MARK: Bytes

  func write(_ buffer: ByteBuffer) { context?.write(wrapOutboundOut(buffer), promise: nil) }

  func flush() { context?.flush() }

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

  /// Closes, in such a way that what has not gone out is seen to be missing.
  private func end() { isWrittenOut ? close() : reset() }

  private var isWrittenOut: Bool { context?.isWrittenOut ?? true }

  var canTakeMore: Bool { context?.channel.isWritable ?? true }

  func resume() {
    guard holdsRead, wantsRead, let context else { return }
    holdsRead = false
    context.read()
  }

  private var wantsRead: Bool {
    switch state {
    case .tunnel(let tunnel): tunnel.origin.isWritable
    case .lingering, .closed, .draining: true
    // Who does not read what he gets asks for nothing more.
    // One byte more than a head may have tells that it is too large.
    case .head: canTakeMore && held.readableBytes <= max(Connections.heldLimit, settings.limits.headSize)
    case .socks, .judging, .connecting, .exchange: held.readableBytes < Connections.heldLimit
    }
  }

  // MARK: What the connection does

  func read(context: ChannelHandlerContext) {
    guard wantsRead else {
      holdsRead = true
      return
    }
    context.read()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    lastActivity = .now()
    switch state {
    case .tunnel(let tunnel): tunnel.clientSent(buffer)
    case .lingering(_, let last): state = .lingering(end: min(lastActivity + .seconds(2), last), last: last)
    case .closed: break
    case .head, .socks, .judging, .connecting, .exchange, .draining:
      held.appendOrTake(&buffer)
      goOn()
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    switch state {
    case .tunnel(let tunnel): tunnel.origin.flush()
    case .exchange(let exchange): exchange.flush()
    default: break
    }
    context.fireChannelReadComplete()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable {
      lastActivity = .now()
      switch state {
      case .tunnel(let tunnel): tunnel.origin.resume()
      case .exchange(let exchange): exchange.clientCanTakeMore()
      case .head:
        goOn()
        resume()
      default: break
      }
    }
    context.fireChannelWritabilityChanged()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent {
      hasStopped = true
      goOn()
    }
    context.fireUserInboundEventTriggered(event)
  }

  /// Goes on with what has come.
  func goOn() {
    // Once at a time: what ends within goes on in the loop that led to it, and not a call deeper for each request.
    guard !isGoingOn else { return }
    isGoingOn = true
    while held.readableBytes > 0, readOn() {}
    isGoingOn = false
    if hasStopped { inputEnded() }
  }

  /// Reads what has come.
  ///
  /// - Returns: whether there is more to be read.
  private func readOn() -> Bool {
    switch state {
    case .head: return canTakeMore && readHead()
    case .socks: return readSOCKS()
    case .exchange(let exchange):
      exchange.passRequest()
      if case .exchange = state { return false }
      return true
    case .draining(var progress, let end):
      let before = held.readableBytes
      do throws(MessageFault) {
        let isOver = try progress.pass(&held) { _ in }
        state = isOver ? .head(since: nil) : .draining(progress, end: end)
        if isOver, loop.isDraining { linger() }
      } catch {
        linger()
      }
      return held.readableBytes < before
    case .judging, .connecting, .tunnel, .lingering, .closed: return false
    }
  }

  /// The client sends no more (RFC 9112 §9.6 knows that of each side alone): what it has asked for is answered.
  private func inputEnded() {
    switch state {
    case .tunnel(let tunnel): tunnel.clientStopped()
    case .exchange(let exchange):
      guard !exchange.clientStopped() else { break }
      let hasResponse = exchange.hasResponse
      leave(isBroken: false)
      // Should it read on, it must not take what it has for the whole.
      hasResponse ? reset() : close()
    // What it sent ahead is for the tunnel; one without that has no use for it.
    case .connecting where held.readableBytes > 0: break
    // It has asked for more than it has read.
    case .head where held.readableBytes > 0 && !canTakeMore: break
    case .head, .socks, .draining, .connecting, .lingering:
      leave(isBroken: false)
      closeBehindWrites()
    case .judging, .closed: break
    }
  }

  /// What has come and was not looked at, for somebody who puts back what he leaves of it.
  func takeHeld() -> ByteBuffer {
    let taken = held
    held = ByteBuffer()
    return taken
  }

  func putBack(_ rest: ByteBuffer) {
    var rest = rest
    if rest.readableBytes > 0 {
      rest.writeBuffer(&held)
      held = rest
    }
  }

  // MARK: Time

  func timePassed(_ now: NIODeadline) {
    let limits = settings.limits
    switch state {
    case .head(since: nil):
      if now - lastActivity > TimeAmount(limits.idleTimeout) { end() }
    case .head(.some(let since)):
      if now - since > TimeAmount(limits.headTimeout) {
        refuse(ProxyRefusal(408, nil, "The request's header did not come in time.", closes: true), nil)
      }
    case .socks(_, let since): if now - since > TimeAmount(limits.headTimeout) { close() }
    case .exchange(let exchange): exchange.timePassed(now, limits)
    case .draining(_, let limit): if now >= limit { end() }
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
        leave(isBroken: false, isRead ? "connection_read_timeout" : "connection_write_timeout")
        self.end()
      }
    case .judging, .connecting, .closed: break
    }
  }
}
