// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOHTTP1

/// Collects requests, one after the other, and passes each on with its body.
///
/// It is the last handler of an HTTP/1.1 connection, and of each HTTP/2 stream.
final class RequestCollector: ChannelInboundHandler {
  /// What a server does with a request; the channel is the connection, or the HTTP/2 stream.
  typealias Receiver = @Sendable (IncomingRequest, ServerConnection, any Channel) -> Void

  /// Decides on a request by its head; until then its body stays with the client.
  typealias Gatekeeper = @Sendable (IncomingRequest, ServerConnection, any Channel) -> EventLoopFuture<Decision>

  /// What is done with a request's body.
  enum Decision: Sendable {
    /// It is read; a client that sent `Expect: 100-continue` gets `100 Continue`, if `announced`.
    case read(announced: Bool)
    /// The request was answered without it: it is dropped as it comes.
    case discard
  }

  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let connection: ServerConnection
  private let service: HTTPService
  private let version: HTTPProtocolVersion
  private let wire: WireTap?
  private var incoming: IncomingRequest?
  private var isDeciding = false
  private var isComplete = false

  init(connection: ServerConnection, service: HTTPService, version: HTTPProtocolVersion, wire: WireTap? = nil) {
    self.connection = connection
    self.service = service
    self.version = version
    self.wire = wire
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): begin(head, context)
    case .body(let buffer): incoming?.body.append(buffer)
    case .end(let trailers):
      wire?.expectHead()
      isComplete = true
      incoming?.trailers = trailers ?? [:]
      if !isDeciding { finish(context) }
    }
  }

  private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    let incoming = IncomingRequest(
      head: head, version: version, rawHead: wire?.head ?? [], body: ReceivedBody(keeping: service.bodyLimit))
    self.incoming = incoming
    isComplete = false
    guard let admit = service.admit else { return announce(context) }
    isDeciding = true
    let channel = context.channel
    channel.setOption(.autoRead, value: false).whenComplete { _ in }
    let context = context.loopBound
    admit(incoming, connection, channel).hop(to: channel.eventLoop).assumeIsolated().whenSuccess { decision in
      channel.setOption(.autoRead, value: true).whenComplete { _ in }
      // An HTTP/2 stream does not start to read again by itself.
      channel.read()
      self.decided(decision, context.value)
    }
  }

  private func decided(_ decision: Decision, _ context: ChannelHandlerContext) {
    isDeciding = false
    switch decision {
    case .read(let announced):
      if announced { announce(context) }
      if isComplete { finish(context) }
    case .discard: incoming = nil
    }
  }

  /// Sends `100 Continue` to a client that waits for it, unless its body has begun to come.
  private func announce(_ context: ChannelHandlerContext) {
    guard let incoming, incoming.expectsContinue, incoming.body.length == 0, !isComplete else { return }
    let head = HTTPResponseHead(version: .http1_1, status: .continue)
    context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
  }

  private func finish(_ context: ChannelHandlerContext) {
    guard let incoming else { return }
    self.incoming = nil
    service.receive(incoming, connection, context.channel)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}

/// What a server does with requests.
struct HTTPService: Sendable {
  /// How many bytes of each request's body are kept.
  var bodyLimit = Int.max
  /// Decides by the head; nil means that every request is read.
  var admit: RequestCollector.Gatekeeper?
  /// Called with every request that was read.
  let receive: RequestCollector.Receiver
}
