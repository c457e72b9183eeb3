import NIOCore
import NIOHTTP1

/// Collects requests, one after the other, and hands each on with its whole body.
///
/// It ends an HTTP/1.1 connection's pipeline, and each HTTP/2 stream's.
final class RequestCollector: ChannelInboundHandler {
  /// What a server does with a request; the channel is the connection, or the HTTP/2 stream.
  typealias Receiver = @Sendable (IncomingRequest, ServerConnection, any Channel) -> Void

  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let connection: ServerConnection
  private let version: HTTPVersion
  private let receive: Receiver
  private var head: HTTPRequestHead?
  private var body: [UInt8] = []

  init(connection: ServerConnection, version: HTTPVersion, receive: @escaping Receiver) {
    self.connection = connection
    self.version = version
    self.receive = receive
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
      receive(incoming, connection, context.channel)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}
