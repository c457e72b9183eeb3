// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP2

/// Asks a stream's ``StreamRefuser`` to end it, by default as one that was not processed.
struct StreamRefusal: Sendable {
  var code = HTTP2ErrorCode.refusedStream
}

/// Ends its HTTP/2 stream with a code of one's choice; closing the stream's channel would say CANCEL.
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
