// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// The proxy's side of one connection to an origin: reads its responses, or carries a tunnel's bytes.
final class OriginHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  enum State {
    /// It is connected, and not used yet.
    case unused
    /// It is connected to another proxy, which has yet to connect to the target.
    case handshaking(UpstreamHandshake, (UpstreamHandshake.Failure?) -> Void)
    case pooled(OriginPool, ForwardOrigin)
    /// It waits for the head of a response.
    case head(isToHEAD: Bool)
    case body(BodyProgress)
    /// The response is over; the request may not be.
    case done
    case tunnel
    case closed
  }

  var state = State.unused
  private var context: ChannelHandlerContext?
  var buffered = ByteBuffer()
  var searched = 0
  private var heldRead = HeldRead()
  private(set) weak var client: ClientHandler?
  private(set) var idleSince = NIODeadline.now()
  private(set) var idleEnd = NIODeadline.distantFuture
  private(set) var connected = NIODeadline.now()
  private(set) var address = IPAddress.ipv4(0)
  /// What it is connected to, and what it carries.
  var hop = ChosenRoute.Hop.direct
  /// Whether its credentials authenticate the whole connection, so that no other client's requests may use it.
  var isConnectionAuthenticated = false
  /// Whether it has served a request before this one.
  private(set) var isReused = false
  /// Whether anything of the response has come.
  private(set) var hasAnswered = false
  /// Whether that came before the request: the response to it may follow, and would be taken for the next one's.
  private(set) var hasAnsweredEarly = false
  var interimCount = 0
  private(set) var hasFinishedSending = false
  /// How long the kernel may wait for an acknowledgement; nil for as long as the system does.
  var allowedSilence: TimeAmount?
  /// Why what has not been written will never be, once the connection has ended.
  private var unwrittenError = "connection_terminated"
  /// Whether everything was out before the sending direction was closed.
  private var hasSentAll = false
  /// Whether nothing came after the response, neither bytes nor the end.
  var isClean = false
  private(set) var headSize = 65_536
  private(set) var fieldLimit = 500
  /// Whether the origin takes what was written to it.
  private(set) var writes = WriteProgress()
  private var pending = PendingWrites()
  /// Whether either direction was closed in order; if not, the connection was reset, which no error reports if a write
  /// met the reset.
  private var hasEnded = false

  // MARK: Life

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  /// It is connected to that address.
  func established(to address: IPAddress) {
    self.address = address
    connected = .now()
  }

  /// Whether it can carry a request: what waits to be read of it, in the kernel too, is no response to that.
  var isUsable: Bool {
    guard case .pooled = state, let context, context.channel.isActive else { return false }
    return !context.hasUnread
  }

  func wait(in pool: OriginPool, as origin: ForwardOrigin, since now: NIODeadline, for time: TimeAmount) {
    client = nil
    idleSince = now
    idleEnd = now + time
    state = .pooled(pool, origin)
    isReused = true
    resume()
  }

  /// Closes after everything that was written has been sent: an origin may answer before it has read the whole request.
  func close() {
    leave()
    context?.closeBehindWrites(.all) { [self] in unwrittenError = "connection_write_timeout" }
  }

  /// The same, and calls back once everything was written, or never will be: with the error then.
  func close(_ completion: @escaping (String?) -> Void) {
    if hasUnwritten {
      // What `finishSending` waits for comes before that, and may close the connection under it.
      whenWrittenOut { [self] isWritten in completion(isWritten || hasSentAll ? nil : unwrittenError) }
      close()
    } else {
      close()
      completion(nil)
    }
  }

  /// Closes by a reset, so that what was cut off does not look complete.
  func reset() {
    leave()
    context?.channel.setReset()
    context?.close(mode: .all, promise: nil)
  }

  /// Leaves its pool, and its client, who hears no more of it: when this side closes, too.
  private func leave() {
    if case .pooled(let pool, let origin) = state { pool.remove(self, of: origin) }
    state = .closed
    client = nil
  }

  // MARK: Use by a client

  var isWritable: Bool { !pending.isFull && context?.channel.isWritable ?? false }

  /// A request begins; its head follows.
  func begin(for client: ClientHandler, isToHEAD: Bool, _ limits: ProxyLimits) {
    self.client = client
    hasAnswered = false
    interimCount = 0
    headSize = limits.headSize
    fieldLimit = limits.fieldCount
    state = .head(isToHEAD: isToHEAD)
    resume()
  }

  /// Reads what has come right behind another proxy's reply: some servers answer a connection before a request.
  ///
  /// The end of it cannot have come yet, since the request is passed on while that reply is read.
  func readEarly() {
    guard buffered.readableBytes > 0 else { return }
    hasAnswered = true
    hasAnsweredEarly = true
    readHead()
  }

  /// It carries a tunnel from now on.
  ///
  /// - Returns: the bytes that the origin has sent already.
  func beginTunnel(for client: ClientHandler) -> ByteBuffer {
    self.client = client
    state = .tunnel
    return buffered.takeRest()
  }

  /// Whether nothing waits to be written.
  var isWrittenOut: Bool { context?.isWrittenOut ?? true }

  /// Whether something waits to be written to a connection that has not ended.
  var hasUnwritten: Bool { context?.hasUnwritten ?? false }

  func write(_ buffer: ByteBuffer) {
    writes.wrote()
    guard let context else { return }
    guard pending.wrote() else { return context.write(wrapOutboundOut(buffer), promise: nil) }
    context.write(wrapOutboundOut(buffer)).assumeIsolated().whenSuccess { [self] in
      pending.wentOut()
      if isWritable { client?.originCanTakeMore() }
    }
  }

  /// Sets how many milliseconds the kernel waits for an acknowledgement; 0 for as long as the system does.
  func setSilence(_ milliseconds: UInt32) { context?.limitSilence(milliseconds) }

  /// Looks whether the origin has taken some of what was written to it.
  func lookAtWrites(_ now: NIODeadline) { if let context { writes.look(at: now) { context.unsentBytes } } }

  /// Whether the origin has acknowledged everything that was written.
  var hasArrived: Bool { context.map { $0.unsentBytes == 0 } ?? true }

  func flush() { context?.flush() }

  /// Calls back once everything was written, or never will be, and says which.
  func whenWrittenOut(_ completion: @escaping (Bool) -> Void) {
    guard let context else { return completion(false) }
    context.whenWrittenOut(completion)
  }

  /// The client has stopped sending.
  func finishSending() {
    guard !hasFinishedSending else { return }
    hasFinishedSending = true
    whenWrittenOut { [self] isWritten in
      hasSentAll = isWritten
      context?.close(mode: .output, promise: nil)
    }
  }

  /// The client can take more.
  func resume() {
    if let context, heldRead.released(isWanted: wantsRead) { context.read() }
  }

  private var wantsRead: Bool {
    switch state {
    // For `head` too, since there may be any number of interim responses.
    case .head, .body, .tunnel: client?.canTakeMore ?? true
    case .unused, .handshaking, .pooled, .done, .closed: true
    }
  }

  // MARK: Channel events

  func read(context: ChannelHandlerContext) {
    if heldRead.asked(isWanted: wantsRead) { context.read() }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    client?.originCanTakeMore()
    context.fireChannelWritabilityChanged()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    switch state {
    case .tunnel: client?.originSent(buffer)
    case .head:
      hasAnswered = true
      buffered.appendOrTake(&buffer)
      readHead()
    case .body: pass(buffer)
    case .unused: buffered.appendOrTake(&buffer)
    case .handshaking:
      buffered.appendOrTake(&buffer)
      continueHandshake()
    // No request is pending: these bytes are not the response to the next one.
    case .pooled: close()
    case .done: isClean = false
    case .closed: break
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    client?.flush()
    context.fireChannelReadComplete()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if let end = event as? ChannelEvent {
      hasEnded = true
      if end == .inputClosed { inputEnded(isBroken: false) }
    }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    noteSilence(error)
    inputEnded(isBroken: true)
    context.close(mode: .all, promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    inputEnded(isBroken: !hasEnded)
    // It has ended after the whole response.
    if case .done = state { client?.exchange?.cutOff("connection_terminated") }
    leave()
    context.fireChannelInactive()
  }
}
