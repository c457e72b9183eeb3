// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// A client's connection: reads its requests, and carries data in both directions.
///
/// Used only on its event loop's thread.
final class ClientHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  enum State {
    /// Waits for a head; `since` is when its first byte came.
    case head(since: NIODeadline?)
    case socks(SOCKSHandshake, since: NIODeadline)
    /// A password is being checked.
    case authenticating(PasswordQueue.Ticket, since: NIODeadline)
    /// A tunnel is being connected.
    case connecting(PendingTunnel)
    /// A request is under way.
    case exchange(Exchange)
    /// The body of an answered request is dropped, so that the next request can be read.
    case draining(BodyProgress, end: NIODeadline)
    case tunnel(Tunnel)
    /// Everything was sent. What still comes is read and dropped, since closing at once could lose the response. A
    /// client that goes on sending has until `last`.
    case lingering(end: NIODeadline, last: NIODeadline)
    case closed
  }

  let loop: ProxyLoop
  var state = State.head(since: nil)
  var buffered = ByteBuffer()
  var searched = 0
  /// Whether the connection began with something other than SOCKS.
  var speaksHTTP = false
  private(set) var context: ChannelHandlerContext?
  private var heldRead = HeldRead()
  /// Whether it is one of as many clients as there may be.
  private(set) var isCounted = false
  /// Whether its bytes are being read or passed on: what happens meanwhile is seen to behind it.
  var isProcessingInput = false
  /// Whether the client has stopped sending; what it has asked for is still answered.
  private(set) var hasStopped = false
  /// Whether either direction was closed in order; if not, the connection was reset, which no error reports if a write
  /// met the reset.
  private var hasEnded = false
  var lastActivity = NIODeadline.now()
  /// Whether the client takes what was written to it.
  private(set) var writes = WriteProgress()
  private var pending = PendingWrites()
  /// Why what has not been written will never be, once the connection has ended.
  var unwrittenError = "connection_terminated"
  /// Whether everything was out before the sending direction was closed.
  private var hasSentAll = false
  private(set) var address: IPAddress?
  /// The origin of its last request that was answered.
  var lastOrigin: ForwardOrigin?
  /// The connections to origins that only this client uses.
  private(set) var ownPool: OriginPool?

  /// The settings of the present request: taken once when a head begins, so that an update in between does not mix two
  /// configurations.
  private(set) var settings: ProxySettings

  init(_ loop: ProxyLoop) {
    self.loop = loop
    settings = loop.shared.settings
  }

  /// When the first byte of the head that is being read came.
  var headBegan: NIODeadline? { if case .head(let since) = state { since } else { nil } }

  /// Takes the current settings for a new request.
  func takeSettings() { settings = loop.shared.settings }

  // MARK: Life

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    // A socket at [::] shows IPv4 clients in mapped form (RFC 4291 §2.5.5.2).
    address = context.channel.remoteAddress?.ipAddressValue?.unmapped
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelActive(context: ChannelHandlerContext) {
    let clients = loop.shared.clients
    isCounted = clients.enter(limit: settings.limits.clients)
    loop.add(self)
    loop.shared.telemetry.clients(clients)
    guard isCounted else {
      return refuse(
        ProxyRefusal(503, "connection_limit_reached", "The proxy has reached its limit of clients.", closes: true), nil,
        mayBeConnect: true)
    }
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    if hasStopped, case .tunnel(let tunnel) = state { tunnel.clientGone() }
    leave(isBroken: !hasEnded, hasEnded ? nil : "connection_terminated")
    state = .closed
    ownPool?.closeAll()
    loop.remove(self)
    if isCounted {
      isCounted = false
      loop.shared.clients.leave()
      loop.shared.telemetry.clients(loop.shared.clients)
    }
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // Many clients close a connection that their server has ended without reading the last of its bytes, of which their
    // systems make a reset (RFC 2525 §2.17).
    leave(isBroken: true, hasWholeTunnel ? nil : "connection_terminated")
    close()
  }

  /// Whether its tunnel's origin has ended, and it has all that came of that.
  private var hasWholeTunnel: Bool {
    if case .tunnel(let tunnel) = state { tunnel.hasOriginStopped && hasArrived } else { false }
  }

  /// The pool in which a connection to an origin waits for the next request.
  func pool(for handler: OriginHandler) -> OriginPool {
    guard handler.isConnectionAuthenticated else { return loop.pool }
    let pool = ownPool ?? OriginPool()
    ownPool = pool
    return pool
  }

  // MARK: Bytes

  func write(_ buffer: ByteBuffer) {
    writes.wrote()
    guard let context else { return }
    guard pending.wrote() else { return context.write(wrapOutboundOut(buffer), promise: nil) }
    context.write(wrapOutboundOut(buffer)).assumeIsolated().whenSuccess { [self] in
      pending.wentOut()
      if canTakeMore { tookMore() }
    }
  }

  func flush() { context?.flush() }

  /// Looks whether the client has taken some of what was written to it.
  func lookAtWrites(_ now: NIODeadline) { if let context { writes.look(at: now) { context.unsentBytes } } }

  /// Calls back once everything was written, or never will be: with the error then.
  func whenWrittenOut(_ completion: @escaping (String?) -> Void) {
    guard let context, !isGone else { return completion(unwrittenError) }
    context.whenWrittenOut { [self] isWritten in completion(isWritten ? nil : unwrittenError) }
  }

  /// Whether something waits to be written to a connection that has not ended.
  var hasUnwritten: Bool { context?.hasUnwritten ?? false }

  /// Calls back once everything was written to a client that is told that nothing follows, or never will be: with the
  /// error then.
  func whenSentAll(_ completion: @escaping (String?) -> Void) {
    guard let context, context.hasUnwritten else { return completion(nil) }
    // What `finishSending` waits for comes before that, and may close the connection under it.
    context.whenWrittenOut { [self] isWritten in completion(isWritten || hasSentAll ? nil : unwrittenError) }
  }

  /// The other side has stopped sending: the client is told so, and may still send.
  func finishSending() {
    context?.whenWrittenOut { [self] isWritten in
      hasSentAll = isWritten
      context?.close(mode: .output, promise: nil)
    }
  }

  var canTakeMore: Bool { !pending.isFull && context?.channel.isWritable ?? true }

  func resume() {
    if let context, heldRead.released(isWanted: wantsRead) { context.read() }
  }

  private var wantsRead: Bool {
    switch state {
    case .tunnel(let tunnel): tunnel.origin.isWritable
    case .lingering, .closed, .draining: true
    // A client that does not read its responses has to wait with further requests. One byte more than a head may have
    // shows that it is too large.
    case .head: canTakeMore && buffered.readableBytes <= max(Connections.bufferLimit, settings.limits.headSize)
    case .socks, .authenticating, .connecting, .exchange: buffered.readableBytes < Connections.bufferLimit
    }
  }

  // MARK: Channel events

  func read(context: ChannelHandlerContext) {
    if heldRead.asked(isWanted: wantsRead) { context.read() }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    // Between requests the next one's first byte counts: a client that sends nothing but empty lines is idle.
    if case .head(since: nil) = state {} else { lastActivity = .now() }
    switch state {
    case .tunnel(let tunnel): tunnel.clientSent(buffer)
    case .lingering(_, let last): state = .lingering(end: min(lastActivity + .seconds(2), last), last: last)
    case .closed: break
    case .head, .socks, .authenticating, .connecting, .exchange, .draining:
      buffered.appendOrTake(&buffer)
      processInput()
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    switch state {
    case .tunnel(let tunnel):
      // SwiftNIO tells of this when a connection was reset, too, before it closes it.
      tunnel.lookAtClient()
      tunnel.origin.flush()
    case .exchange(let exchange): exchange.flush()
    default: break
    }
    context.fireChannelReadComplete()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if canTakeMore { tookMore() }
    context.fireChannelWritabilityChanged()
  }

  /// The client has taken so much that it can take more.
  private func tookMore() {
    lastActivity = .now()
    switch state {
    case .tunnel(let tunnel): tunnel.origin.resume()
    case .exchange(let exchange): exchange.clientCanTakeMore()
    case .head:
      processInput()
      resume()
    default: break
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if let end = event as? ChannelEvent {
      hasEnded = true
      if end == .inputClosed {
        hasStopped = true
        processInput()
      }
    }
    context.fireUserInboundEventTriggered(event)
  }
}
