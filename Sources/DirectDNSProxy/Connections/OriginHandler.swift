// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// The proxy's side of one connection to an origin: reads its responses, or carries a tunnel's bytes.
final class OriginHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private enum State {
    /// It stands, and nobody uses it.
    case unused
    /// To another proxy, which has yet to connect.
    case shaking(UpstreamHandshake, (UpstreamHandshake.Failure?) -> Void)
    case pooled(OriginPool, ForwardOrigin)
    /// A response's head is awaited.
    case head(isToHEAD: Bool)
    case body(BodyProgress)
    /// The response is over; the request may not be.
    case done
    case tunnel
    case closed
  }

  private var state = State.unused
  private var context: ChannelHandlerContext?
  private var held = ByteBuffer()
  private var searched = 0
  private var holdsRead = false
  private weak var client: ClientHandler?
  private(set) var idleSince = NIODeadline.now()
  private(set) var idleEnd = NIODeadline.distantFuture
  private(set) var connected = NIODeadline.now()
  private(set) var address = IPAddress.ipv4(0)
  /// Whom it is to, and what it carries.
  var hop = Way.Hop.direct
  /// Whether it has served a request before this one.
  private(set) var isReused = false
  /// Whether anything of the response has come.
  private(set) var hasAnswered = false
  private var interimCount = 0
  private var hasFinishedSending = false
  /// More interim responses than any server sends.
  private static let interimLimit = 100
  private var headSize = 65_536
  private var fieldLimit = 500

  // MARK: Life

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  /// It stands, to that address.
  func established(to address: IPAddress) {
    self.address = address
    connected = .now()
  }

  /// Has another proxy connect; the completion is told why it has not, and is called once unless this is closed.
  func shake(_ handshake: UpstreamHandshake, _ completion: @escaping (UpstreamHandshake.Failure?) -> Void) {
    state = .shaking(handshake, completion)
    write(ByteBuffer(bytes: handshake.beginning))
    flush()
    goOnShaking()
  }

  private func goOnShaking() {
    while case .shaking(var handshake, let completion) = state {
      let step = handshake.read(&held)
      switch step {
      case .wait:
        state = .shaking(handshake, completion)
        return
      case .say(let bytes):
        state = .shaking(handshake, completion)
        write(ByteBuffer(bytes: bytes))
        flush()
      case .connected:
        state = .unused
        completion(nil)
      case .failed(let failure):
        state = .unused
        completion(failure)
      }
    }
  }

  var isUsable: Bool {
    guard case .pooled = state else { return false }
    return context?.channel.isActive == true
  }

  func wait(in pool: OriginPool, as origin: ForwardOrigin, since now: NIODeadline, for time: TimeAmount) {
    client = nil
    idleSince = now
    idleEnd = now + time
    state = .pooled(pool, origin)
    isReused = true
    resume()
  }

  func close() {
    leavePool()
    state = .closed
    client = nil
    context?.close(mode: .all, promise: nil)
  }

  /// Closes when all that was written has gone out.
  func closeBehindWrites() { context?.closeBehindWrites(.all) }

  /// Closes by a reset: what was cut off must not look whole.
  func reset() {
    leavePool()
    state = .closed
    client = nil
    context?.channel.setReset()
    context?.close(mode: .all, promise: nil)
  }

  private func leavePool() {
    if case .pooled(let pool, let origin) = state { pool.remove(self, of: origin) }
  }

  // MARK: What a client does with it

  var isWritable: Bool { context?.channel.isWritable ?? false }

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

  /// It carries a tunnel from now on.
  ///
  /// - Returns: what it has sent already.
  func beginTunnel(for client: ClientHandler) -> ByteBuffer {
    self.client = client
    state = .tunnel
    let early = held
    held = ByteBuffer()
    return early
  }

  func write(_ buffer: ByteBuffer) { context?.write(wrapOutboundOut(buffer), promise: nil) }

  func flush() { context?.flush() }

  /// The client sends no more.
  func finishSending() {
    guard !hasFinishedSending else { return }
    hasFinishedSending = true
    context?.closeBehindWrites(.output)
  }

  /// The client can take more.
  func resume() {
    guard holdsRead, wantsRead, let context else { return }
    holdsRead = false
    context.read()
  }

  private var wantsRead: Bool {
    switch state {
    // Of interim responses there may be any number.
    case .head, .body, .tunnel: client?.canTakeMore ?? true
    case .unused, .shaking, .pooled, .done, .closed: true
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
      held.appendOrTake(&buffer)
      readHead()
    case .body: pass(buffer)
    case .unused: held.appendOrTake(&buffer)
    case .shaking:
      held.appendOrTake(&buffer)
      goOnShaking()
    // Nobody has asked for anything: whatever that is, it is no response to what is asked next.
    case .pooled: close()
    case .done, .closed: break
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    client?.originPaused()
    context.fireChannelReadComplete()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent { inputEnded(isBroken: false) }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    inputEnded(isBroken: true)
    context.close(mode: .all, promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    inputEnded(isBroken: false)
    leavePool()
    state = .closed
    client = nil
    context.fireChannelInactive()
  }

  // MARK: Responses

  private func readHead() { while readOneHead() {} }

  /// Reads one of the heads that a response may have.
  ///
  /// - Returns: whether it was an interim one (RFC 9110 §15.2), which others follow.
  private func readOneHead() -> Bool {
    guard case .head(let isToHEAD) = state, let client else { return false }
    // Empty lines that old servers send behind a body or before a response.
    while held.readableBytes >= 2, held.getInteger(at: held.readerIndex, as: UInt16.self) == 0x0d0a {
      held.moveReaderIndex(forwardBy: 2)
    }
    do throws(MessageFault) {
      let bytes = held
      let place = try HeadParser.end(in: bytes.readableBytesUInt8Span, from: searched)
      guard case .at(let end) = place else {
        searched = max(0, held.readableBytes - 3)
        guard held.readableBytes <= headSize else { throw .tooLarge }
        return false
      }
      guard end <= headSize else { throw .tooLarge }
      searched = 0
      let head = try HeadParser.parse(held.readBytes(length: end) ?? [], .response, fieldLimit: fieldLimit)
      guard case .response(let status, _) = head.start else { return false }
      let framing = try BodyFraming.of(response: head, status: status, isToHEAD: isToHEAD)
      switch status {
      case 101:
        let rest = takeHeld()
        state = .tunnel
        client.originSwitched(head, rest)
      case 100..<200:
        interimCount += 1
        guard interimCount <= Self.interimLimit else { throw .malformed("it has interim responses without end") }
        client.originInformed(head)
        return true
      default:
        client.originAnswered(head, status: status, framing)
        // Not where that was nothing to pass on.
        guard case .head = state else { return false }
        state = .body(BodyProgress(framing, isUnwrapped: client.unwrapsChunks))
        if framing == .none { over() } else if held.readableBytes > 0 { pass(takeHeld()) }
      }
    } catch {
      client.originFailed(error)
    }
    return false
  }

  private func takeHeld() -> ByteBuffer {
    let rest = held
    held = ByteBuffer()
    return rest
  }

  private func pass(_ buffer: ByteBuffer) {
    guard case .body(var progress) = state, let client else { return }
    var buffer = buffer
    // Not two copies of one thing.
    state = .done
    do throws(MessageFault) {
      let isOver = try progress.pass(&buffer) { client.originSent($0) }
      if isOver {
        state = .body(progress)
        // What comes behind a response nobody has asked for.
        over(isClean: buffer.readableBytes == 0)
      } else {
        state = .body(progress)
      }
    } catch {
      client.originBroke(isReset: client.unwrapsChunks)
    }
  }

  private func over(isClean: Bool = true) {
    guard case .body(let progress) = state else { return }
    state = .done
    client?.originFinished(
      canBeReused: isClean && held.readableBytes == 0 && progress.framing != .untilClose && !hasFinishedSending)
  }

  private func inputEnded(isBroken: Bool) {
    switch state {
    case .head: client?.originFailed(nil)
    case .body(let progress):
      if progress.framing == .untilClose, !isBroken {
        over()
      } else {
        // Where a client of HTTP/1.0 would take the connection's end for the response's.
        let isWholeByItsEnd = progress.framing == .untilClose || client?.unwrapsChunks == true
        client?.originBroke(isReset: isBroken || isWholeByItsEnd)
      }
    case .tunnel: client?.originStopped(isBroken: isBroken)
    case .pooled: close()
    case .shaking(let handshake, let completion):
      state = .unused
      completion(handshake.cutOff)
    case .unused, .done, .closed: break
    }
  }
}
