import HTTPTypes
import NIOCore
import NIOHTTP1

/// Writes one response, bit by bit.
struct ResponseWriter: Sendable {
  /// The connection, or the HTTP/2 stream.
  let channel: any Channel
  let version: HTTPVersion
  let isHead: Bool
  /// Whether neither side wants the connection to end with the response.
  private let keepsAlive: Bool

  init(answering request: IncomingRequest, on channel: any Channel, closes: Bool = false) {
    self.channel = channel
    version = request.version
    isHead = request.head.method == .HEAD
    keepsAlive = request.head.isKeepAlive && !closes
  }

  /// Writes the status and the fields, with a length where there is one to tell.
  func writeHead(_ status: HTTPResponse.Status, _ fields: HTTPFields, length: Int?) {
    var headers = HTTPHeaders(fields.map { ($0.name.rawName, $0.value) })
    // 204 and 304 have no body, so no length either (RFC 9110 §8.6).
    if let length, status != .noContent, status != .notModified {
      headers.add(name: "content-length", value: "\(length)")
    }
    if version == .http1, !keepsAlive { headers.replaceOrAdd(name: "connection", value: "close") }
    let head = HTTPResponseHead(
      version: .http1_1, status: HTTPResponseStatus(statusCode: status.code), headers: headers)
    channel.write(HTTPServerResponsePart.head(head), promise: nil)
  }

  func write(_ bytes: ArraySlice<UInt8>) -> EventLoopFuture<Void> {
    channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: bytes))))
  }

  func end() {
    let done = channel.writeAndFlush(HTTPServerResponsePart.end(nil))
    guard version == .http1, !keepsAlive else { return }
    done.whenComplete { _ in channel.close(promise: nil) }
  }
}
