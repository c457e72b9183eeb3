import NIOCore
import NIOHTTP1
import NIOPosix

/// An HTTP/1.1 server on loopback that notes the head of each request and answers all of them alike.
final class ScriptedOrigin: Sendable {
  let port: Int
  private let channel: any Channel
  private let heads: AsyncStream<HTTPRequestHead>

  init(_ status: HTTPResponseStatus = .ok, fields: [(String, String)] = []) async throws {
    let (heads, continuation) = AsyncStream<HTTPRequestHead>.makeStream()
    self.heads = heads
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(
            Answering(status: status, fields: HTTPHeaders(fields), heads: continuation))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    port = channel.localAddress?.port ?? 0
  }

  /// The head of the next request, in the order of coming.
  func nextRequest() async -> HTTPRequestHead? {
    for await head in heads { return head }
    return nil
  }

  func close() async throws { try await channel.close() }
}

private final class Answering: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  let status: HTTPResponseStatus
  let fields: HTTPHeaders
  let heads: AsyncStream<HTTPRequestHead>.Continuation

  init(status: HTTPResponseStatus, fields: HTTPHeaders, heads: AsyncStream<HTTPRequestHead>.Continuation) {
    self.status = status
    self.fields = fields
    self.heads = heads
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): heads.yield(head)
    case .body: break
    case .end:
      var fields = fields
      fields.add(name: "Content-Length", value: "0")
      context.write(
        wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: fields))), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
  }
}
