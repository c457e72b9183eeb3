import NIOCore
import NIOHTTP1

/// Collects requests, one after the other, and hands each with its whole body to the server.
///
/// It ends an HTTP/1.1 connection's pipeline, and each HTTP/2 stream's.
final class ProviderExchange: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let state: Watched<ProviderState>
  private let connection: ProviderConnection
  private let version: HTTPVersion
  private var head: HTTPRequestHead?
  private var body: [UInt8] = []

  init(state: Watched<ProviderState>, connection: ProviderConnection, version: HTTPVersion) {
    self.state = state
    self.connection = connection
    self.version = version
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): self.head = head
    case .body(let buffer): body += buffer.readableBytesView
    case .end:
      guard let head else { return }
      let incoming = IncomingRequest(head: head, body: body, version: version)
      self.head = nil
      body = []
      let channel = context.channel
      // The request and its hold become visible together, so that whoever waits for the one can end the other.
      let sender = state.change { state in
        let sender = ReplySender(
          plan: state.receive(incoming, on: connection), channel: channel, connection: connection,
          state: self.state, version: version, keepsAlive: head.isKeepAlive, isHead: head.method == .HEAD)
        if sender.isHeld { state.held.append { channel.eventLoop.execute { sender.send() } } }
        return sender
      }
      sender.begin()
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}
