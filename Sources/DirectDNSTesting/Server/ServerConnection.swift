import NIOConcurrencyHelpers
import NIOCore

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
  /// The name in TLS's SNI, once the client's first message was read.
  let serverName = NIOLockedValueBox<String?>(nil)

  init(number: Int, channel: any Channel) {
    self.number = number
    self.channel = channel
  }

  /// Closes the connection at once: without TLS's goodbye, and with what was not sent yet thrown away.
  func close() { send(.close) }

  /// Resets the connection (RST), as a broken middlebox does.
  func reset() {
    guard let provider = channel as? any SocketOptionProvider else { return close() }
    let setting = provider.setSoLinger(linger(l_onoff: 1, l_linger: 0))
    setting.whenComplete { _ in self.send(.close) }
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
