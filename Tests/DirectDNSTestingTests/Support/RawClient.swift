// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOPosix

/// A TCP client that sends text as it is given and returns what comes.
struct RawClient {
  private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
  private let inbound: NIOAsyncChannelInboundStream<ByteBuffer>

  static func connected<Result>(to port: Int, _ body: (RawClient) async throws -> Result) async throws -> Result {
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
            wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
      }
    return try await channel.executeThenClose { inbound, outbound in
      try await body(RawClient(outbound: outbound, inbound: inbound))
    }
  }

  func send(_ text: String) async throws { try await outbound.write(ByteBuffer(string: text)) }

  /// What comes until the server closes the connection; only once.
  func rest() async throws -> String {
    var text = ""
    for try await buffer in inbound { text += String(buffer: buffer) }
    return text
  }

  /// Sends a text and returns what comes until the server closes the connection.
  static func exchange(_ text: String, with port: Int) async throws -> String {
    try await connected(to: port) { client in
      try await client.send(text)
      return try await client.rest()
    }
  }
}
