// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTP2

/// Writes one response, bit by bit.
struct ResponseWriter: Sendable {
  /// The connection, or the HTTP/2 stream.
  let channel: any Channel
  let version: HTTPProtocolVersion
  let isHead: Bool
  /// Whether neither side wants the connection to end with the response.
  private let keepsAlive: Bool
  /// Whether the request's body has not come yet, and will not be waited for.
  private let isEarly: Bool
  /// Whether the response ends an HTTP/2 stream for the request too.
  private let resetsStream: Bool

  init(
    answering request: IncomingRequest, on channel: any Channel, closes: Bool = false, isEarly: Bool = false,
    resetsStream: Bool = false
  ) {
    self.channel = channel
    version = request.version
    isHead = request.head.method == .HEAD
    self.isEarly = isEarly
    self.resetsStream = resetsStream && isEarly && version == .http2
    keepsAlive = request.head.isKeepAlive && !closes && !isEarly
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

  /// Whether a status only announces a response (RFC 9110 §15.2).
  ///
  /// 101 is the last that HTTP says on a connection. SwiftNIO ends the process where an announcement is followed by a
  /// body, and where anything else stands before the response.
  static func isInterim(_ status: HTTPResponse.Status) -> Bool {
    status.kind == .informational && status != .switchingProtocols
  }

  /// Writes an informational head, after which another one follows.
  ///
  /// - Returns: what succeeds once the system has taken it.
  @discardableResult
  func writeInformational(_ head: HTTPResponse) -> EventLoopFuture<Void> {
    let headers = HTTPHeaders(head.headerFields.map { ($0.name.rawName, $0.value) })
    let status = HTTPResponseStatus(statusCode: head.status.code)
    let part = HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))
    return channel.writeAndFlush(part)
  }

  func write(_ bytes: ArraySlice<UInt8>) -> EventLoopFuture<Void> { write(ByteBuffer(bytes: bytes)) }

  /// - Returns: what succeeds once the system has taken the bytes.
  func write(_ buffer: ByteBuffer) -> EventLoopFuture<Void> {
    channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(buffer)))
  }

  /// - Returns: what succeeds once the system has taken the end.
  @discardableResult
  func end(trailers: HTTPFields = [:]) -> EventLoopFuture<Void> {
    let trailers = trailers.isEmpty ? nil : HTTPHeaders(trailers.map { ($0.name.rawName, $0.value) })
    let done = channel.write(HTTPServerResponsePart.end(trailers))
    // It goes out with the response's end: a client must not lose the one by the other (RFC 9113 §8.1).
    if resetsStream { channel.triggerUserOutboundEvent(StreamRefusal(code: .noError), promise: nil) }
    channel.flush()
    guard version == .http1, !keepsAlive else { return done }
    // A client that still sends would meet a reset, and might lose the response by it (RFC 9112 §9.6).
    let mode = isEarly ? CloseMode.output : .all
    done.whenComplete { _ in channel.close(mode: mode, promise: nil) }
    return done
  }
}
