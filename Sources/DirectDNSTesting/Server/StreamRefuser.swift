import NIOCore
import NIOHTTP2

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
