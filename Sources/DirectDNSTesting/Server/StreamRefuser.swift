// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP2

/// Asks a stream's ``StreamRefuser`` to reset it, by default with `REFUSED_STREAM`.
struct StreamRefusal: Sendable {
  var code = HTTP2ErrorCode.refusedStream
}

/// Resets its HTTP/2 stream with any error code; closing the stream's channel would send CANCEL.
final class StreamRefuser: ChannelOutboundHandler {
  typealias OutboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard let refusal = event as? StreamRefusal else {
      return context.triggerUserOutboundEvent(event, promise: promise)
    }
    context.writeAndFlush(wrapOutboundOut(.rstStream(refusal.code)), promise: promise)
  }
}
