internal import CDirectDNSCurl

/// What comes in and goes out once an exchange has its connection.
extension CurlExchanges {
  func receivedLine(_ bytes: UnsafeRawBufferPointer, _ attempt: CurlAttempt) -> Bool {
    guard let exchange = attempt.exchange, exchange.winner === attempt else { return true }
    // Before it is kept: libcurl keeps one of its own, which ends with the transfer.
    guard exchange.fieldAllowance.take(bytes.count) else { return false }
    unsafe keep(bytes, exchange)
    return true
  }

  private func keep(_ bytes: UnsafeRawBufferPointer, _ exchange: CurlExchange) {
    exchange.movedAt = now
    let isBlank = bytes.count <= 2
    if exchange.isHeadComplete {
      if !isBlank { unsafe exchange.trailerBytes.append(contentsOf: bytes) }
      return
    }
    // What came before was an interim response (RFC 9110 §15.2), or one that libcurl answers by itself.
    if unsafe bytes.starts(with: Self.statusLine) { exchange.headBytes.removeAll(keepingCapacity: true) }
    guard isBlank else {
      // Most heads need no more, and none has to grow into its size line by line.
      if exchange.headBytes.isEmpty { exchange.headBytes.reserveCapacity(512) }
      return unsafe exchange.headBytes.append(contentsOf: bytes)
    }
    let status = exchange.status
    guard status >= 200 || status == 101 else { return }
    complete(exchange)
  }

  private static let statusLine = Array("HTTP/".utf8)

  func complete(_ exchange: CurlExchange) {
    exchange.isHeadComplete = true
    if let lane = exchange.lane, exchange.order.route.proxy == nil || exchange.order.route.usesTLS {
      let isMultiplexed = exchange.headBytes.starts(with: Self.http2)
      if (lane.load.multiplexing == .always) != isMultiplexed || lane.load.multiplexing == .unknown {
        note(lane) { $0.learned(isMultiplexed: isMultiplexed) }
        if isMultiplexed { lane.multi.sharesConnections = true }
      }
    }
    markDirty(exchange)
  }

  private static let http2 = Array("HTTP/2".utf8)

  func received(_ bytes: UnsafeRawBufferPointer, _ attempt: CurlAttempt) -> Int {
    guard let exchange = attempt.exchange, exchange.winner === attempt else { return 0 }
    if !exchange.isHeadComplete { complete(exchange) }
    exchange.progress.received += Int64(bytes.count)
    if let left = exchange.drainLeft {
      guard left >= bytes.count else { return 0 }
      exchange.drainLeft = left - bytes.count
      return bytes.count
    }
    if exchange.shouldPause(adding: bytes.count, limit: settings.bufferSize) {
      exchange.progress.received -= Int64(bytes.count)
      return Int(CURL_WRITEFUNC_PAUSE)
    }
    if exchange.incoming.isEmpty, bytes.count >= Self.longPiece { makeRoom(exchange, attempt, for: bytes.count) }
    unsafe exchange.incoming.append(contentsOf: bytes)
    markDirty(exchange)
    return bytes.count
  }

  /// Room for what is to come in one piece, instead of room that doubles and is copied each time.
  private func makeRoom(_ exchange: CurlExchange, _ attempt: CurlAttempt, for count: Int) {
    let expected = Int(clamping: attempt.time(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T))
    let left = expected < 0 ? settings.bufferSize : expected - Int(exchange.progress.received) + count
    exchange.incoming.reserveCapacity(max(count, min(left, settings.bufferSize)))
  }

  /// A body that comes in pieces of so many bytes is a long one.
  private static let longPiece = 8 * 1024

  func sent(_ count: Int, _ attempt: CurlAttempt) {
    guard let exchange = attempt.exchange else { return }
    exchange.movedAt = now
    exchange.progress.sent += Int64(count)
    if exchange.order.progress != nil { markDirty(exchange) }
  }

  /// Gives the reader what has come.
  func handOver(_ exchange: CurlExchange) {
    exchange.isDirty = false
    if let result = exchange.result {
      exchange.result = nil
      return exchange.deliver(head: exchange.lastHead.take(), end: result)
    }
    reportProgress(exchange, isLast: false)
    let head = newHead(exchange)
    if head != nil || !exchange.incoming.isEmpty { exchange.deliver(head: head) }
  }

  /// The head, if it is complete and nobody has it yet.
  func newHead(_ exchange: CurlExchange) -> CurlHead? {
    guard exchange.isHeadComplete, !exchange.hasDeliveredHead, let winner = exchange.winner else { return nil }
    exchange.hasDeliveredHead = true
    var head = CurlHead(
      bytes: [], address: winner.address, isReused: winner.socket == nil, connect: nil, tls: nil,
      wait: now - exchange.connectedAt, slower: exchange.slower, attempts: exchange.failedAttempts)
    swap(&head.bytes, &exchange.headBytes)
    guard !head.isReused else { return head }
    let connected = winner.time(CURLINFO_CONNECT_TIME_T)
    head.connect = connected
    if exchange.order.route.usesTLS { head.tls = max(0, winner.time(CURLINFO_APPCONNECT_TIME_T) - connected) }
    return head
  }

  func reportProgress(_ exchange: CurlExchange, isLast: Bool) {
    guard let report = exchange.order.progress, let winner = exchange.winner else { return }
    guard isLast || now - exchange.progressedAt >= Self.progressInterval else { return }
    exchange.progressedAt = now
    exchange.progress.expected = winner.time(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
    report(exchange.progress)
  }

  /// Milliseconds from one report to the next.
  private static let progressInterval: Int64 = 100
}

extension CurlExchange {
  /// The status of the head that has come so far; 0 without one.
  var status: Int {
    // "HTTP/1.1 200 OK", "HTTP/2 200".
    guard let space = headBytes.firstIndex(of: ASCII.space) else { return 0 }
    return headBytes[(space + 1)...].prefix(3).reduce(0) { $0 * 10 + Int($1 &- 0x30) }
  }
}
