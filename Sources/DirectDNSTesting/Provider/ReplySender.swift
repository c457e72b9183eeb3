// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Sends one reply, or misbehaves instead.
struct ReplySender: Sendable {
  let reply: ProviderReply
  let distortion: Distortion
  let writer: ResponseWriter
  let connection: ServerConnection
  let state: Watched<ProviderState>

  private var channel: any Channel { writer.channel }
  private var version: HTTPProtocolVersion { writer.version }

  /// Whether the server sends this on `release()`.
  var isHeld: Bool { if case .held = distortion.gate { true } else { false } }

  /// Sends now or later; does nothing for an answer that is held or never sent.
  func begin() {
    switch distortion.gate {
    case .open: send()
    case .delayed(let duration): channel.eventLoop.scheduleTask(in: TimeAmount(duration)) { send() }
    case .held, .shut: break
    }
  }

  private func hold(_ body: @escaping @Sendable () -> Void) {
    state.change { $0.held.append { channel.eventLoop.execute(body) } }
  }

  /// Sends now.
  func send() {
    switch distortion.ending {
    case .answered where isInterim, .cut where isInterim:
      sendInterim().whenComplete { _ in connection.close() }
    case .answered: sendBody(Array(reply.body)[...])
    case .closed: connection.close()
    case .reset: connection.reset()
    case .cut: sendHalf().whenComplete { _ in cut() }
    case .refused:
      guard version == .http2 else { return connection.close() }
      channel.triggerUserOutboundEvent(StreamRefusal(), promise: nil)
    case .goAway(let processed):
      guard version == .http2 else { return connection.close() }
      let sent = processed ? sendHalf() : channel.eventLoop.makeSucceededVoidFuture()
      sent.whenComplete { _ in connection.goAway(from: channel, processed: processed) }
    }
  }

  private var status: HTTPResponse.Status { HTTPResponse.Status(code: reply.status) }
  private var isInterim: Bool { ResponseWriter.isInterim(status) }

  private var fields: HTTPFields {
    var fields = reply.fields
    if let type = reply.contentType { fields.insert(HTTPField(name: .contentType, value: type), at: 0) }
    return fields
  }

  private func writeHead() {
    writer.writeHead(status, fields, length: distortion.hasLength ? reply.body.count : nil)
  }

  private func sendInterim() -> EventLoopFuture<Void> {
    writer.writeInformational(HTTPResponse(status: status, headerFields: fields))
  }

  private func sendBody(_ bytes: ArraySlice<UInt8>) {
    writeHead()
    guard !writer.isHead, !bytes.isEmpty else { return finish() }
    switch distortion.pace {
    case .whole:
      _ = writer.write(bytes)
      finish()
    case .heldHalfway:
      let middle = bytes.startIndex + bytes.count / 2
      _ = writer.write(bytes[..<middle])
      hold {
        _ = writer.write(bytes[middle...])
        finish()
      }
    case .dripping(let count, let pause):
      channel.flush()
      drip(bytes, count, TimeAmount(pause))
    }
  }

  private func finish() { writer.end() }

  private func drip(_ bytes: ArraySlice<UInt8>, _ count: Int, _ pause: TimeAmount) {
    guard !bytes.isEmpty else { return finish() }
    channel.eventLoop.scheduleTask(in: pause) {
      // It ends when the client has disconnected.
      writer.write(bytes.prefix(count)).whenSuccess { drip(bytes.dropFirst(count), count, pause) }
    }
  }

  private func sendHalf() -> EventLoopFuture<Void> {
    guard !isInterim else { return sendInterim() }
    writeHead()
    return writer.write(reply.body.prefix(reply.body.count / 2))
  }

  /// HTTP/2 ends the stream before its announced length; HTTP/1.1 can only close the connection.
  private func cut() {
    guard version == .http2 else { return channel.close(promise: nil) }
    channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
  }
}
