// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// A handler between TLS and HTTP/1.1, which records heads byte for byte, and can write what the HTTP handler would
/// not.
final class WireTap: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// Bytes to be written as they are, which any handler after this one can send.
  struct RawBytes: Sendable {
    let bytes: [UInt8]
  }

  private var bytes: [UInt8] = []
  private var length: Int?

  /// The bytes of the head that the decoder has just read, including the empty line.
  ///
  /// Empty if the head came together with the end of the previous request.
  var head: [UInt8] { Array(bytes.prefix(length ?? 0)) }

  /// Expects a head again, since the request is complete.
  func expectHead() {
    bytes = []
    length = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if length == nil { look(at: unwrapInboundIn(data)) }
    context.fireChannelRead(data)
  }

  private func look(at buffer: ByteBuffer) {
    // The empty line may have begun in the bytes before.
    var index = max(0, bytes.count - 3)
    bytes += buffer.readableBytesView
    while index + 4 <= bytes.count {
      if bytes[index..<index + 4].elementsEqual([13, 10, 13, 10]) {
        length = index + 4
        return
      }
      index += 1
    }
  }

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard let event = event as? RawBytes else { return context.triggerUserOutboundEvent(event, promise: promise) }
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: event.bytes)), promise: promise)
  }
}
