import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTP2

/// Sends one reply, or does instead what the misbehaviour says.
struct ReplySender: Sendable {
  let plan: PlannedReply
  /// The connection, or the HTTP/2 stream.
  let channel: any Channel
  let connection: ProviderConnection
  let state: Watched<ProviderState>
  let version: HTTPVersion
  let keepsAlive: Bool
  let isHead: Bool

  /// Whether the server sends this when released.
  var isHeld: Bool { if case .held = plan.distortion.gate { true } else { false } }

  /// Sends now or later; what is held or never sent is left alone.
  func begin() {
    switch plan.distortion.gate {
    case .open: send()
    case .delayed(let duration): channel.eventLoop.scheduleTask(in: TimeAmount(duration)) { send() }
    case .held, .shut: break
    }
  }

  private func hold(_ body: @escaping @Sendable () -> Void) {
    state.change { $0.held.append { channel.eventLoop.execute(body) } }
  }

  /// Sends now.
  func send() {
    switch plan.distortion.ending {
    case .answered: sendBody(Array(plan.reply.body)[...])
    case .closed: connection.close()
    case .reset: connection.reset()
    case .cut: sendHalf().whenComplete { _ in cut() }
    case .refused:
      guard version == .http2 else { return connection.close() }
      channel.triggerUserOutboundEvent(StreamRefusal(), promise: nil)
    case .goAway(let processed):
      guard version == .http2 else { return connection.close() }
      let sent = processed ? sendHalf() : channel.eventLoop.makeSucceededVoidFuture()
      sent.whenComplete { _ in goAway(processed: processed) }
    }
  }

  private func head() -> HTTPServerResponsePart {
    var headers = HTTPHeaders()
    if let type = plan.reply.contentType { headers.add(name: "content-type", value: type) }
    for field in plan.reply.fields { headers.add(name: field.name.rawName, value: field.value) }
    // 204 and 304 have no body, so no length either (RFC 9110 §8.6).
    if plan.distortion.hasLength, plan.reply.status != 204, plan.reply.status != 304 {
      headers.add(name: "content-length", value: "\(plan.reply.body.count)")
    }
    if version == .http1, !keepsAlive { headers.add(name: "connection", value: "close") }
    return .head(
      HTTPResponseHead(
        version: .http1_1, status: HTTPResponseStatus(statusCode: plan.reply.status), headers: headers))
  }

  private func write(_ bytes: ArraySlice<UInt8>) -> EventLoopFuture<Void> {
    channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: bytes))))
  }

  private func sendBody(_ bytes: ArraySlice<UInt8>) {
    channel.write(head(), promise: nil)
    guard !isHead, !bytes.isEmpty else { return end() }
    switch plan.distortion.pace {
    case .whole:
      _ = write(bytes)
      end()
    case .heldHalfway:
      let middle = bytes.startIndex + bytes.count / 2
      _ = write(bytes[..<middle])
      hold {
        _ = write(bytes[middle...])
        end()
      }
    case .dripping(let count, let pause):
      channel.flush()
      drip(bytes, count, TimeAmount(pause))
    }
  }

  private func drip(_ bytes: ArraySlice<UInt8>, _ count: Int, _ pause: TimeAmount) {
    guard !bytes.isEmpty else { return end() }
    channel.eventLoop.scheduleTask(in: pause) {
      // A client that has gone ends the drip.
      write(bytes.prefix(count)).whenSuccess { drip(bytes.dropFirst(count), count, pause) }
    }
  }

  private func end() {
    let done = channel.writeAndFlush(HTTPServerResponsePart.end(nil))
    guard version == .http1, !keepsAlive else { return }
    done.whenComplete { _ in channel.close(promise: nil) }
  }

  private func sendHalf() -> EventLoopFuture<Void> {
    channel.write(head(), promise: nil)
    return write(plan.reply.body.prefix(plan.reply.body.count / 2))
  }

  /// HTTP/2 ends the stream below its promised length; HTTP/1.1 can only close the connection.
  private func cut() {
    guard version == .http2 else { return channel.close(promise: nil) }
    channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
  }

  private func goAway(processed: Bool) {
    channel.getOption(HTTP2StreamChannelOptions.streamID).whenSuccess { stream in
      let last = processed ? stream : HTTP2StreamID(max(0, Int(stream) - 2))
      let frame = HTTP2Frame(
        streamID: .rootStream,
        payload: .goAway(lastStreamID: last, errorCode: .noError, opaqueData: nil))
      connection.channel.writeAndFlush(frame).whenComplete { _ in connection.close() }
    }
  }
}

/// Asks a stream's ``StreamRefuser`` to refuse it.
struct StreamRefusal: Sendable {}

/// Refuses its HTTP/2 stream as one that was not processed; closing the stream's channel would say CANCEL.
final class StreamRefuser: ChannelOutboundHandler {
  typealias OutboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard event is StreamRefusal else {
      return context.triggerUserOutboundEvent(event, promise: promise)
    }
    context.writeAndFlush(wrapOutboundOut(.rstStream(.refusedStream)), promise: promise)
  }
}
