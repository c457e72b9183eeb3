// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import NIOCore
import NIOHTTP2

/// Sends one response, or carries out a fault.
struct OriginAnswer: Sendable {
  let incoming: IncomingRequest
  let connection: ServerConnection
  /// The connection, or the HTTP/2 stream.
  let channel: any Channel
  /// Whether the response is sent without waiting for the request's body.
  var isEarly = false

  func send(_ response: @Sendable () async throws -> OriginResponse) async {
    do {
      try await write(try await response())
    } catch let fault as OriginFault {
      fail(fault)
    } catch {
      // A client that has disconnected, or ended its stream, is no fault: the connection's other streams go on.
      let isCancelled = error is CancellationError && Task.isCancelled
      if !(error is ChannelError || error is any NIOHTTP2Error || isCancelled) { fail(.close) }
    }
  }

  private func write(_ response: OriginResponse) async throws {
    let writer = ResponseWriter(
      answering: incoming, on: channel, closes: response.closes, isEarly: isEarly,
      resetsStream: response.resetsStream)
    guard response.informational.allSatisfy({ ResponseWriter.isInterim($0.status) }) else { return fail(.close) }
    for head in response.informational { writer.writeInformational(head) }
    guard !ResponseWriter.isInterim(response.status) else {
      let head = HTTPResponse(status: response.status, headerFields: response.fields)
      return writer.writeInformational(head).whenComplete { _ in connection.close() }
    }
    writer.writeHead(response.status, response.fields, length: response.length)
    if !writer.isHead {
      switch response.content {
      case .bytes(let bytes): if !bytes.isEmpty { _ = writer.write(bytes[...]) }
      case .stream(let stream):
        channel.flush()
        try await stream.write(OriginBodyWriter(response: writer))
      }
    }
    // A request that comes between the last byte and the close would be read and dropped. In HTTP/2 a response may need
    // more from its client.
    if response.hangsUp, incoming.version == .http1 { connection.stopReading() }
    let end = writer.end(trailers: response.trailers)
    if response.hangsUp { end.whenComplete { _ in connection.close() } }
  }

  private func fail(_ fault: OriginFault) {
    switch (fault, incoming.version) {
    case (.reset, _): connection.reset()
    case (.refuseStream, .http2): channel.triggerUserOutboundEvent(StreamRefusal(), promise: nil)
    case (.requireHTTP1, .http2):
      channel.triggerUserOutboundEvent(StreamRefusal(code: .http11Required), promise: nil)
    case (.resetStream, .http2):
      channel.triggerUserOutboundEvent(StreamRefusal(code: .internalError), promise: nil)
    case (.goAway(let processed), .http2): connection.goAway(from: channel, processed: processed)
    case (.bytes(let bytes), .http1):
      channel.triggerUserOutboundEvent(WireTap.RawBytes(bytes: bytes)).whenComplete { _ in connection.close() }
    default: connection.close()
    }
  }
}
