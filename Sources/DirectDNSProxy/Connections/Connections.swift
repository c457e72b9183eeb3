// SPDX-License-Identifier: Apache-2.0
internal import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// What all connections have in common, clients' and origins'.
enum Connections {
  /// Above the high mark nothing more is read from the other side; below the low one it goes on.
  static let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 64 * 1024, high: 256 * 1024)
  /// What is kept of a client's bytes while they cannot go on.
  static let heldLimit = 65_536
  /// How long what was written last may take to go out, when nothing else is left to do.
  static let writingLimit = TimeAmount.minutes(5)
}

extension Channel {
  /// Has a handler carry what the connection brings.
  ///
  /// Options are set at once: a bootstrap's own cost a future each.
  func carry(by handler: some ChannelHandler) throws {
    if let options = syncOptions {
      try options.setOption(.allowRemoteHalfClosure, value: true)
      try options.setOption(.writeBufferWaterMark, value: Connections.waterMark)
      try options.setOption(.maxMessagesPerRead, value: 2)
    }
    try pipeline.syncOperations.addHandler(handler)
  }

  /// Has closing send a reset.
  func setReset() {
    _ = (self as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
  }
}

extension ChannelHandlerContext {
  /// Closes when all that was written has gone out.
  func closeBehindWrites(_ mode: CloseMode) {
    guard !isWrittenOut else { return close(mode: mode, promise: nil) }
    // One who has stopped reading would keep the connection for ever.
    let end =
      mode != .all
      ? nil
      : eventLoop.assumeIsolated().scheduleTask(in: Connections.writingLimit) { [self] in
        channel.setReset()
        close(mode: .all, promise: nil)
      }
    writeAndFlush(NIOAny(ByteBuffer())).assumeIsolated().whenComplete { [self] _ in
      end?.cancel()
      close(mode: mode, promise: nil)
    }
  }

  /// Whether nothing waits to be written.
  var isWrittenOut: Bool { (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) == 0 }
}

extension ByteBuffer {
  /// Whether a request for a tunnel stands there, well-formed or not.
  var beginsConnect: Bool { readableBytesView.prefix(8).elementsEqual("CONNECT ".utf8) }

  /// Appends bytes, or takes them over where there are none yet.
  mutating func appendOrTake(_ other: inout ByteBuffer) {
    if readableBytes == 0 { self = other } else { writeBuffer(&other) }
  }
}

extension Duration {
  init(_ amount: TimeAmount) { self = .nanoseconds(amount.nanoseconds) }
}

extension TimeAmount {
  init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    self = .nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
  }
}
