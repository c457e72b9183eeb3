// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTP2

/// Writes one response, in parts.
struct ResponseWriter: Sendable {
  /// The connection, or the HTTP/2 stream.
  let channel: any Channel
  let version: HTTPProtocolVersion
  let isHead: Bool
  /// Whether neither side wants to close the connection after the response.
  private let keepsAlive: Bool
  /// Whether the response does not wait for the request's body.
  private let isEarly: Bool
  /// Whether the response also resets an HTTP/2 stream whose request has not ended.
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

  /// Writes the status and the fields, and the length if there is one.
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

  /// Whether a status is an interim one (RFC 9110 §15.2).
  ///
  /// 101 is the last HTTP response on a connection. SwiftNIO traps if a body follows an interim response, and if
  /// anything else comes before the response.
  static func isInterim(_ status: HTTPResponse.Status) -> Bool {
    status.kind == .informational && status != .switchingProtocols
  }

  /// Writes the head of an interim response, after which another one follows.
  ///
  /// - Returns: a future that succeeds once the system has taken it.
  @discardableResult
  func writeInformational(_ head: HTTPResponse) -> EventLoopFuture<Void> {
    let headers = HTTPHeaders(head.headerFields.map { ($0.name.rawName, $0.value) })
    let status = HTTPResponseStatus(statusCode: head.status.code)
    let part = HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers))
    return channel.writeAndFlush(part)
  }

  func write(_ bytes: ArraySlice<UInt8>) -> EventLoopFuture<Void> { write(ByteBuffer(bytes: bytes)) }

  /// - Returns: a future that succeeds once the system has taken the bytes.
  func write(_ buffer: ByteBuffer) -> EventLoopFuture<Void> {
    channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(buffer)))
  }

  /// - Returns: a future that succeeds once the system has taken the end.
  @discardableResult
  func end(trailers: HTTPFields = [:]) -> EventLoopFuture<Void> {
    let trailers = trailers.isEmpty ? nil : HTTPHeaders(trailers.map { ($0.name.rawName, $0.value) })
    let done = channel.write(HTTPServerResponsePart.end(trailers))
    // Sent together with the end of the response, so that a client does not lose the response because of the reset (RFC
    // 9113 §8.1).
    if resetsStream { channel.triggerUserOutboundEvent(StreamRefusal(code: .noError), promise: nil) }
    channel.flush()
    guard version == .http1, !keepsAlive else { return done }
    // A client that still sends would get a reset, and might lose the response because of it (RFC 9112 §9.6).
    let mode = isEarly ? CloseMode.output : .all
    done.whenComplete { _ in channel.close(mode: mode, promise: nil) }
    return done
  }
}
