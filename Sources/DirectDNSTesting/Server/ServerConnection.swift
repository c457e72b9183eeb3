// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP2

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
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

  /// Closes the connection at once: without TLS's goodbye, and with what was not sent yet thrown away.
  func close() { send(.close) }

  /// Takes up nothing more of what comes.
  func stopReading() { channel.setOption(.autoRead, value: false).whenComplete { _ in } }

  /// Resets the connection (RST), as a broken middlebox does.
  func reset() {
    guard let provider = channel as? any SocketOptionProvider else { return close() }
    let setting = provider.setSoLinger(linger(l_onoff: 1, l_linger: 0))
    setting.whenComplete { _ in self.send(.close) }
  }

  /// Sends GOAWAY from one of the connection's streams, then closes it (RFC 9113 §6.8).
  ///
  /// - Parameters:
  ///   - stream: the stream's channel.
  ///   - processed: whether the stream is the last one that was taken up, or above it.
  func goAway(from stream: any Channel, processed: Bool) {
    stream.getOption(HTTP2StreamChannelOptions.streamID).whenSuccess { id in
      let last = processed ? id : HTTP2StreamID(max(0, Int(id) - 2))
      let frame = HTTP2Frame(
        streamID: .rootStream, payload: .goAway(lastStreamID: last, errorCode: .noError, opaqueData: nil))
      self.channel.writeAndFlush(frame).whenComplete { _ in self.close() }
    }
  }

  private func send(_ order: ConnectionGate.Order) {
    channel.triggerUserOutboundEvent(order, promise: nil)
  }
}

/// The handler nearest to the socket: it can close the connection over the heads of TLS and HTTP.
final class ConnectionGate: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer

  /// What can be asked of the gate, from any handler behind it.
  enum Order: Sendable {
    case close
  }

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard event is Order else { return context.triggerUserOutboundEvent(event, promise: promise) }
    context.close(mode: .all, promise: promise)
  }
}
