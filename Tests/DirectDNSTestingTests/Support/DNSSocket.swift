// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOCore
import NIOPosix

/// A client of a few lines for plain DNS: one query, the replies as bytes.
enum DNSSocket {
  /// Sends datagrams and returns the first reply to come, without a time limit of its own.
  static func udp(_ messages: [UInt8]..., port: Int) async throws -> [UInt8] {
    let server = try SocketAddress(ipAddress: "127.0.0.1", port: port)
    let channel = try await DatagramBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(host: "127.0.0.1", port: 0) { channel in
        channel.eventLoop.makeCompletedFuture {
          try NIOAsyncChannel<AddressedEnvelope<ByteBuffer>, AddressedEnvelope<ByteBuffer>>(
            wrappingChannelSynchronously: channel)
        }
      }
    return try await channel.executeThenClose { inbound, outbound in
      for message in messages {
        try await outbound.write(
          AddressedEnvelope(remoteAddress: server, data: ByteBuffer(bytes: message)))
      }
      for try await envelope in inbound { return Array(envelope.data.readableBytesView) }
      return []
    }
  }

  /// Sends bytes over one connection and returns what comes until so many messages came, or its end.
  static func tcp(_ bytes: [UInt8], port: Int, replies: Int) async throws -> [[UInt8]] {
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
      }
    return try await channel.executeThenClose { inbound, outbound in
      try await outbound.write(ByteBuffer(bytes: bytes))
      var unread = ByteBuffer()
      var messages: [[UInt8]] = []
      for try await buffer in inbound {
        unread.writeImmutableBuffer(buffer)
        while let message = unread.readLengthPrefixedSlice(as: UInt16.self) {
          messages.append(Array(message.readableBytesView))
        }
        if messages.count >= replies { break }
      }
      return messages
    }
  }

  /// A message behind its length.
  static func framed(_ message: [UInt8]) -> [UInt8] {
    [UInt8(message.count >> 8), UInt8(truncatingIfNeeded: message.count)] + message
  }
}
