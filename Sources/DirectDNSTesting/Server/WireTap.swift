// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// Sits between TLS and HTTP/1.1: it sees heads as they were written, and can write what HTTP would not.
final class WireTap: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// Bytes to be written as they are, asked for from any handler behind this one.
  struct RawBytes: Sendable {
    let bytes: [UInt8]
  }

  private var bytes: [UInt8] = []
  private var length: Int?

  /// The bytes of the head that the decoder has just read, with the empty line behind it.
  ///
  /// Empty when the head came together with the end of the request before it.
  var head: [UInt8] { Array(bytes.prefix(length ?? 0)) }

  /// Takes what comes next for a head again: the request is complete.
  func expectHead() {
    bytes = []
    length = nil
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if length == nil { look(at: unwrapInboundIn(data)) }
    context.fireChannelRead(data)
  }

  private func look(at buffer: ByteBuffer) {
    // The empty line may have begun in what came before.
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
