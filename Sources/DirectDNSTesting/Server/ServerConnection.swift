// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP2

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// One accepted TCP connection.
final class ServerConnection: Sendable {
  /// The connection's place in the order of acceptance, from 1.
  let number: Int
  let channel: any Channel

  init(number: Int, channel: any Channel) {
    self.number = number
    self.channel = channel
  }

  /// Closes the connection at once: without TLS's close_notify, and dropping what was not sent yet.
  func close() { channel.triggerUserOutboundEvent(ConnectionGate.Closing(), promise: nil) }

  /// Reads nothing more.
  func stopReading() { channel.setOption(.autoRead, value: false).whenComplete { _ in } }

  /// Resets the connection (RST), as a broken middlebox does.
  func reset() {
    guard let provider = channel as? any SocketOptionProvider else { return close() }
    provider.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenComplete { _ in self.close() }
  }

  /// Sends GOAWAY from one of the connection's streams, then closes it (RFC 9113 §6.8).
  ///
  /// - Parameters:
  ///   - stream: the stream's channel.
  ///   - processed: whether the stream is the last one that was processed, or one above it.
  func goAway(from stream: any Channel, processed: Bool) {
    stream.getOption(HTTP2StreamChannelOptions.streamID).whenSuccess { id in
      let last = processed ? id : HTTP2StreamID(max(0, Int(id) - 2))
      let frame = HTTP2Frame(
        streamID: .rootStream, payload: .goAway(lastStreamID: last, errorCode: .noError, opaqueData: nil))
      self.channel.writeAndFlush(frame).whenComplete { _ in self.close() }
    }
  }
}

/// The handler nearest to the socket, which can close the connection without TLS and HTTP taking part.
final class ConnectionGate: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer

  /// What any handler after this one can ask for.
  struct Closing: Sendable {}

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard event is Closing else { return context.triggerUserOutboundEvent(event, promise: promise) }
    context.close(mode: .all, promise: promise)
  }
}
