internal import CDirectDNSCurl

/// What libcurl asks and tells while it carries an attempt.
extension CurlExchanges: CurlAttemptEvents {
  func mayDial(_ address: IPAddress, _ attempt: CurlAttempt) -> Bool {
    guard let order = attempt.exchange?.order, machine.mayDial(attempt.id, attempt: attempt.number) else {
      return false
    }
    // The proxy's own address is the caller's choice.
    guard order.route.proxy == nil else { return true }
    guard order.policy.objection(to: address, host: order.host) == nil else {
      machine.forbid(address, attempt.id)
      return false
    }
    order.observer?(.connecting(address))
    return true
  }

  func dialled(_ socket: curl_socket_t, _ attempt: CurlAttempt) {
    machine.dialled(socket, attempt.id, attempt: attempt.number)
  }

  func mayPass(_ attempt: CurlAttempt) -> Bool {
    guard let exchange = attempt.exchange else { return false }
    if exchange.carrier === attempt { attempt.isClean = false }
    switch machine.mayPass(attempt.id, attempt: attempt.number, at: now) {
    case .no: return false
    case .again: exchange.lines.startOver()
    case .first(let carrier, let isReused):
      exchange.carrier = attempt
      exchange.order.observer?(.connected(carrier.address, isReused: isReused))
    }
    return true
  }

  func receivedLine(_ bytes: UnsafeRawBufferPointer, _ attempt: CurlAttempt) -> Bool {
    guard let exchange = attempt.exchange, exchange.carrier === attempt else { return true }
    switch unsafe exchange.lines.take(bytes) {
    case .tooMuch: return false
    case .more: machine.moved(attempt.id, at: now)
    case .head: completeHead(exchange, attempt)
    }
    return true
  }

  private func completeHead(_ exchange: CurlExchange, _ attempt: CurlAttempt) {
    let route = exchange.order.route
    let tells = route.proxy == nil || route.usesTLS
    let isHTTP2 = exchange.lines.isHTTP2
    machine.headIsComplete(attempt.id, isMultiplexed: tells ? isHTTP2 : nil)
    if tells, isHTTP2 { attempt.multi?.sharesConnections = true }
    let (bytes, now) = (exchange.lines.takeHead(), now)
    let found = machine.transfers.read(attempt.id) { transfer -> CurlHead? in
      guard let carrier = transfer.state.carrier else { return nil }
      return CurlHead(
        bytes: bytes, address: carrier.address, isReused: transfer.state.attempt(carrier.attempt)?.socket == nil,
        connect: nil, tls: nil, wait: now - carrier.since, slower: transfer.state.slower,
        attempts: transfer.state.failed)
    }
    guard case .some(.some(var head)) = found else { return }
    if !head.isReused {
      let connected = attempt.time(CURLINFO_CONNECT_TIME_T)
      head.connect = connected
      if route.usesTLS { head.tls = max(0, attempt.time(CURLINFO_APPCONNECT_TIME_T) - connected) }
    }
    exchange.handover.head = head
    noteHandover(exchange)
  }

  func received(_ bytes: UnsafeRawBufferPointer, _ attempt: CurlAttempt) -> Int {
    guard let exchange = attempt.exchange, exchange.carrier === attempt else { return 0 }
    if !exchange.lines.isHeadComplete {
      exchange.lines.completeHead()
      completeHead(exchange, attempt)
    }
    if case .drain(let left) = exchange.sink {
      guard left >= bytes.count else { return 0 }
      exchange.sink = .drain(left: left - bytes.count)
      exchange.progress.received += Int64(bytes.count)
      return bytes.count
    }
    guard !exchange.pauses(adding: bytes.count, limit: settings.bufferSize) else { return Int(CURL_WRITEFUNC_PAUSE) }
    exchange.progress.received += Int64(bytes.count)
    if exchange.incoming.isEmpty, bytes.count >= Self.longPiece { makeRoom(exchange, attempt, for: bytes.count) }
    unsafe exchange.incoming.append(contentsOf: bytes)
    noteHandover(exchange)
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
    machine.moved(attempt.id, at: now)
    exchange.progress.sent += Int64(count)
    if exchange.order.progress != nil { noteHandover(exchange) }
  }

  func ended(_ handle: UnsafeMutableRawPointer, _ code: CURLcode) {
    guard let attempt = unsafe CurlAttempt.object(of: handle) else { return }
    guard attempt.exchange != nil else { return emptied(attempt) }
    let (id, number) = (attempt.id, attempt.number)
    if let refusal = attempt.refusal {
      return act { $0.asked(id, wasRefused: refusal.isRemembered) }
    }
    let ending: Machine.Ending
    switch code {
    case CURLE_OK: ending = .complete
    case CURLE_ABORTED_BY_CALLBACK: ending = .aborted(attempt.failure(code))
    default: ending = .failed(attempt.failure(code))
    }
    if code != CURLE_OK { attempt.isClean = false }
    act { $0.ended(id, attempt: number, ending, at: now) }
  }
}
