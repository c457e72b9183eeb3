// SPDX-License-Identifier: Apache-2.0
import NIOCore

extension Watched<NameServerState> {
  /// Answers one message through `send`: now, later, when released, or never.
  func answer(
    _ bytes: [UInt8], over transport: RecordedQuery.Transport, on channel: any Channel,
    send: @escaping @Sendable ([UInt8]) -> Void
  ) {
    // The query and its held answer become visible together, so that a test that waits for the query can release the
    // answer.
    let plan = change { state in
      let plan = state.receive(bytes, over: transport)
      if let plan, case .held = plan.gate {
        state.held.append { channel.eventLoop.execute { send(plan.bytes) } }
      }
      return plan
    }
    guard let plan else { return }
    switch plan.gate {
    case .open: send(plan.bytes)
    case .delayed(let duration):
      channel.eventLoop.scheduleTask(in: TimeAmount(duration)) { send(plan.bytes) }
    case .held, .shut: break
    case .closing: if transport == .tcp { channel.close(promise: nil) }
    }
  }
}

/// Answers each datagram to its sender.
final class NameServerDatagrams: ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>
  typealias OutboundOut = AddressedEnvelope<ByteBuffer>

  private let state: Watched<NameServerState>

  init(state: Watched<NameServerState>) { self.state = state }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let envelope = unwrapInboundIn(data)
    let channel = context.channel
    let sender = envelope.remoteAddress
    state.answer(Array(envelope.data.readableBytesView), over: .udp, on: channel) { bytes in
      channel.writeAndFlush(
        AddressedEnvelope(remoteAddress: sender, data: ByteBuffer(bytes: bytes)), promise: nil)
    }
  }
}

/// Cuts a connection's bytes into messages (RFC 1035 §4.2.2), and answers each on it.
final class NameServerStream: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let state: Watched<NameServerState>
  private var unread = ByteBuffer()

  init(state: Watched<NameServerState>) { self.state = state }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    unread.writeImmutableBuffer(unwrapInboundIn(data))
    let channel = context.channel
    while let message = unread.readLengthPrefixedSlice(as: UInt16.self) {
      state.answer(Array(message.readableBytesView), over: .tcp, on: channel) { bytes in
        var buffer = ByteBuffer(integer: UInt16(bytes.count))
        buffer.writeBytes(bytes)
        channel.writeAndFlush(buffer, promise: nil)
      }
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}
