// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOPosix
import NIOSSL

/// HTTP/2 frame by frame (RFC 9113 §4.1), to see what a server really puts on the wire.
enum HTTP2Wire {
  struct Frame {
    let type: UInt8
    let stream: UInt32
    let payload: [UInt8]

    /// The payload's 32-bit number at an offset.
    func number(at offset: Int) -> UInt32 {
      payload.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
  }

  static let settings: UInt8 = 4
  static let reset: UInt8 = 3
  static let goAway: UInt8 = 7

  /// Opens a connection, sends one GET on stream 1, and returns the frames up to one of that type.
  static func get(_ path: String, port: Int, until last: UInt8) async throws -> [Frame] {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.certificateVerification = .none
    configuration.applicationProtocols = ["h2"]
    let context = try NIOSSLContext(configuration: configuration)
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            NIOSSLClientHandler(context: context, serverHostname: nil))
          return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
      }
    return try await channel.executeThenClose { inbound, outbound in
      try await outbound.write(ByteBuffer(bytes: request(path)))
      var unread = ByteBuffer()
      var frames: [Frame] = []
      for try await buffer in inbound {
        unread.writeImmutableBuffer(buffer)
        while let frame = next(&unread) { frames.append(frame) }
        if frames.contains(where: { $0.type == last }) { break }
      }
      return frames
    }
  }

  /// The preface, empty SETTINGS, and HEADERS whose fields stand in HPACK's static table or are literals.
  private static func request(_ path: String) -> [UInt8] {
    let text = Array(path.utf8)
    // :method GET, :scheme https, :path, :authority (RFC 7541 appendix A).
    let block: [UInt8] = [0x82, 0x87, 0x04, UInt8(text.count)] + text + [0x01, 1, 0x61]
    return Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
      + [0, 0, UInt8(block.count), 1, 0x05, 0, 0, 0, 1] + block
  }

  private static func next(_ buffer: inout ByteBuffer) -> Frame? {
    guard let head = buffer.getBytes(at: buffer.readerIndex, length: 9) else { return nil }
    let length = head[..<3].reduce(0) { $0 << 8 | Int($1) }
    guard buffer.readableBytes >= 9 + length else { return nil }
    buffer.moveReaderIndex(forwardBy: 9)
    return Frame(
      type: head[3], stream: head[5...].reduce(0) { $0 << 8 | UInt32($1) },
      payload: buffer.readBytes(length: length) ?? [])
  }
}
