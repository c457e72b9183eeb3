// SPDX-License-Identifier: Apache-2.0
internal import NIOCore

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Limits of all connections, to clients and to origins.
enum Connections {
  /// Above the high mark nothing more is read from the other side; below the low one reading goes on.
  static let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 64 * 1024, high: 256 * 1024)
  /// The most bytes of a client that are kept while they cannot be passed on.
  static let bufferLimit = 65_536
  /// How long a peer may take none of the last bytes before the connection is reset.
  static let writingLimit = TimeAmount.minutes(5)
}

extension Channel {
  /// Adds the handler of a new connection, and sets its options.
  ///
  /// Options are set synchronously: each one set by a bootstrap costs a future.
  func carry(by handler: some ChannelHandler) throws {
    if let options = syncOptions {
      try options.setOption(.allowRemoteHalfClosure, value: true)
      try options.setOption(.writeBufferWaterMark, value: Connections.waterMark)
      try options.setOption(.maxMessagesPerRead, value: 2)
    }
    try pipeline.syncOperations.addHandler(handler)
  }

  /// Makes closing send a reset.
  func setReset() {
    _ = (self as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
  }
}

extension ChannelHandlerContext {
  /// Closes after everything that was written has been sent.
  ///
  /// - Parameters:
  ///   - mode: what is closed.
  ///   - stuck: called before the connection is reset because its peer has taken nothing for the writing limit.
  func closeBehindWrites(_ mode: CloseMode, stuck: @escaping () -> Void = {}) {
    // Nothing of a connection that has ended waits, either: a write and its timer would only cost their time.
    guard channel.isActive, !isWrittenOut else { return close(mode: mode, promise: nil) }
    let end = mode == .all ? resetIfStuck(stuck) : nil
    writeAndFlush(NIOAny(ByteBuffer())).assumeIsolated().whenComplete { [self] _ in
      end?.cancel()
      close(mode: mode, promise: nil)
    }
  }

  /// Calls back once everything was written, or never will be, and says which.
  func whenWrittenOut(_ completion: @escaping (Bool) -> Void) {
    guard !isWrittenOut else { return completion(true) }
    writeAndFlush(NIOAny(ByteBuffer())).assumeIsolated().whenComplete { result in
      if case .success = result { completion(true) } else { completion(false) }
    }
  }

  /// Resets the connection once its peer has taken nothing for the writing limit: it would keep it for ever.
  private func resetIfStuck(_ stuck: @escaping () -> Void) -> RepeatedTask {
    let bound = NIOLoopBound((self, stuck), eventLoop: eventLoop)
    let left = NIOLoopBoundBox(unsentBytes, eventLoop: eventLoop)
    let limit = Connections.writingLimit
    return eventLoop.scheduleRepeatedTask(initialDelay: limit, delay: limit) { task in
      let (context, stuck) = bound.value
      let count = context.unsentBytes
      guard count >= left.value else { return left.value = count }
      task.cancel()
      stuck()
      context.channel.setReset()
      context.close(mode: .all, promise: nil)
    }
  }

  /// Whether nothing waits to be written.
  var isWrittenOut: Bool { (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) == 0 }

  /// Whether something does, and the connection has not ended.
  var hasUnwritten: Bool { channel.isActive && !isWrittenOut }
}

extension ByteBuffer {
  /// Whether it begins with a CONNECT request, well-formed or not.
  var beginsConnect: Bool { readableBytesView.prefix(8).elementsEqual("CONNECT ".utf8) }

  /// Takes a head; nil if its end has not come yet, which was looked for up to `searched`.
  mutating func readHead(
    _ kind: HeadParser.Kind, searched: inout Int, size: Int, fieldLimit: Int
  ) throws(MessageFault) -> MessageHead? {
    if kind == .response { try HeadParser.checkBeginning(ofResponse: readableBytesUInt8Span) }
    let place = try HeadParser.end(in: readableBytesUInt8Span, from: searched)
    switch place {
    case .missing(let reached):
      searched = reached
      guard readableBytes <= size else { throw .tooLarge }
      return nil
    case .at(let end):
      searched = 0
      guard end <= size else { throw .tooLarge }
      return try HeadParser.parse(readBytes(length: end) ?? [], kind, fieldLimit: fieldLimit)
    }
  }

  /// Appends a buffer; if this one is empty, takes the other one's storage instead of copying.
  ///
  /// What was read is let go first: a sender whose every read ends inside a head would otherwise make the storage grow by
  /// all that it sends.
  mutating func appendOrTake(_ other: inout ByteBuffer) {
    guard readableBytes > 0 else { return self = other }
    discardReadBytes()
    writeBuffer(&other)
  }

  /// The bytes that were not read yet; none are left.
  mutating func takeRest() -> ByteBuffer {
    defer { self = ByteBuffer() }
    return self
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
