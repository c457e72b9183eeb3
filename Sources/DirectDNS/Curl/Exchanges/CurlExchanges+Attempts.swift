internal import CDirectDNSCurl

/// How an exchange gets its connection: a race of attempts, of which one is let through.
extension CurlExchanges: CurlAttemptEvents {
  // MARK: Starting

  /// Starts the attempts that are due; an exchange without any left has failed.
  func step(_ exchange: CurlExchange, _ now: Int64) {
    while exchange.stage == .running {
      switch exchange.race?.step(at: now) {
      case .start(let address, let number): attempt(exchange, number: number, address: address)
      case .ask: if let known = exchange.order.others?.ask() { join(exchange, known) }
      case .lost: return finish(exchange, .failure(lost(exchange)))
      case .wait, .rest, nil: return
      }
    }
  }

  /// Lets addresses take part in a race, as far as they may be dialled.
  func join(_ exchange: CurlExchange, _ addresses: [IPAddress]) {
    let order = exchange.order
    exchange.race?.add(addresses.filter { order.policy.objection(to: $0, host: order.host) == nil })
  }

  func attempt(_ exchange: CurlExchange, number: Int, address: IPAddress?) {
    guard let attempt = newAttempt(in: exchange.lane) else {
      return finish(exchange, .failure(CurlFailure(.invalidRequest("libcurl has no memory for a transfer"))))
    }
    send(attempt, exchange, number: number, address: address)
  }

  private func lost(_ exchange: CurlExchange) -> CurlFailure {
    let attempts = exchange.failedAttempts
    let reason = attempts.last { if case .tls = $0.reason { true } else { false } } ?? attempts.last
    return CurlFailure(
      reason?.reason ?? .connect("no address is left"), attempts: attempts, forbidden: exchange.forbidden)
  }

  // MARK: What libcurl asks and tells

  func mayDial(_ address: IPAddress, _ attempt: CurlAttempt) -> Bool {
    guard let exchange = attempt.exchange else { return false }
    let order = exchange.order
    guard maySpread(exchange, attempt) else { return false }
    // The proxy's own address is the caller's choice.
    guard order.route.proxy == nil else { return true }
    guard order.policy.objection(to: address, host: order.host) == nil else {
      exchange.forbidden = address
      return false
    }
    order.observer?(.connecting(address))
    return true
  }

  func dialled(_ socket: curl_socket_t, _ attempt: CurlAttempt) {
    guard let exchange = attempt.exchange, let lane = exchange.lane else { return }
    connections[socket] = Connection(lane: lane, address: attempt.address)
    lane.multi.connectionCount += 1
    lane.sockets.append(socket)
    if connections.count > settings.connectionLimit { endIdleConnection(besides: lane.multi) }
  }

  /// Whether a request may open a connection: where several share one, only the one that goes ahead may, and those who
  /// find no room wait for it.
  private func maySpread(_ exchange: CurlExchange, _ attempt: CurlAttempt) -> Bool {
    guard let lane = exchange.lane, !exchange.isOpening else { return true }
    if exchange.winner === attempt {
      // libcurl sends it once more, on a connection of its own: beyond the cap it waits for its turn like all others.
      let isFull = lane.load.multiplexing == .always && lane.sockets.count >= settings.connectionLimitPerName
      exchange.isTurnedAway = isFull && mayBeSentAgain(exchange, lane)
      return !exchange.isTurnedAway
    }
    guard exchange.winner == nil, attempt.number == 0 else { return true }
    switch lane.load.multiplexing {
    case .never: return true
    case .unknown:
      note(lane) { $0.overflowed() }
      return true
    case .always:
      note(lane) { $0.overflowed() }
      // Once: a connection that libcurl will not use any more stands until it is closed.
      guard !exchange.hasBeenPutBack else { return true }
      exchange.isTurnedAway = true
      return false
    }
  }

  func mayPass(_ attempt: CurlAttempt) -> Bool {
    guard let exchange = attempt.exchange, let lane = exchange.lane else { return false }
    if exchange.winner === attempt { return mayRepeat(exchange, attempt, lane) }
    guard exchange.winner == nil, exchange.race?.connected(attempt.number) ?? true else { return false }
    exchange.winner = attempt
    exchange.connectedAt = now
    exchange.movedAt = exchange.connectedAt
    stands(attempt, lane)
    noteJoin(exchange, attempt, lane)
    let (line, opened) = (exchange.line, exchange.isOpening)
    note(lane) { $0.connected(attempt.address, insteadOf: line, opened: opened) }
    exchange.line = attempt.address
    exchange.isOpening = false
    for other in exchange.attempts where other !== attempt {
      if let address = other.address {
        exchange.slower.append(CurlHead.Slower(address: address, time: exchange.connectedAt - other.startedAt))
      }
      markLost(other, of: exchange)
    }
    noteDue(exchange)
    exchange.order.observer?(.connected(attempt.address, isReused: attempt.socket == nil))
    return true
  }

  /// Whether libcurl may send a request once more, on another connection.
  ///
  /// It wants to when HTTP/2 refused the request unprocessed, and when a connection that others had used too ended
  /// without a byte of response: then the server may have got the request and closed only then. It also wants to leave
  /// out an expectation that was refused (417), which ``DirectClient`` does by itself.
  private func mayRepeat(_ exchange: CurlExchange, _ attempt: CurlAttempt, _ lane: Lane) -> Bool {
    attempt.isClean = false
    // libcurl keeps the connection, whatever becomes of the request.
    stands(attempt, lane)
    guard !exchange.isHeadComplete else { return false }
    guard mayBeSentAgain(exchange, lane) else {
      exchange.isStrandedByRepeat = true
      return false
    }
    noteRepeat(exchange, lane)
    exchange.headBytes.removeAll(keepingCapacity: true)
    exchange.movedAt = now
    noteJoin(exchange, attempt, lane)
    return true
  }

  private func wasRefused(_ exchange: CurlExchange, _ lane: Lane) -> Bool { exchange.joinsAtStart == lane.joins }

  private func mayBeSentAgain(_ exchange: CurlExchange, _ lane: Lane) -> Bool {
    wasRefused(exchange, lane) || (exchange.order.isRepeatable && !exchange.hasRepeated)
  }

  /// Counts a repetition, unless the request was refused and so was not sent.
  private func noteRepeat(_ exchange: CurlExchange, _ lane: Lane) {
    if !wasRefused(exchange, lane) { exchange.hasRepeated = true }
  }

  /// Notes whether a request opened its connection: as long as nobody joins it there, libcurl repeats the request for
  /// one reason alone, which is that it was refused.
  private func noteJoin(_ exchange: CurlExchange, _ attempt: CurlAttempt, _ lane: Lane) {
    let isNew = attempt.takeDialled()
    if !isNew { lane.joins += 1 }
    if !isNew, lane.load.multiplexing == .unknown, lane.load.isShared(attempt.address) {
      note(lane) { $0.learned(isMultiplexed: true) }
    }
    exchange.joinsAtStart = isNew ? lane.joins : nil
  }

  private func stands(_ attempt: CurlAttempt, _ lane: Lane) {
    guard let socket = attempt.socket, connections[socket]?.stands == false else { return }
    connections[socket]?.stands = true
    note(lane) { $0.stood(attempt.address) }
  }

  // MARK: The end of attempts and exchanges

  func ended(_ handle: UnsafeMutableRawPointer, _ code: CURLcode) {
    guard let attempt = unsafe CurlAttempt.object(of: handle), let exchange = attempt.exchange else { return }
    if let refusal = attempt.refusal {
      return finish(exchange, .failure(stranded(exchange, wasRefused: refusal.isRemembered)))
    }
    let reason = attempt.failure(code)
    if code != CURLE_OK { attempt.isClean = false }
    if exchange.winner === attempt {
      if exchange.isTurnedAway, let lane = exchange.lane, canStartOver(exchange) {
        noteRepeat(exchange, lane)
        return putBack(exchange)
      }
      if code == CURLE_OK || isAnswered(exchange, code) {
        finish(exchange, .success(CurlEnd(trailers: exchange.trailerBytes)))
      } else if exchange.isStrandedByRepeat {
        settle(exchange, attempt)
      } else {
        finish(exchange, .failure(broken(exchange, reason)))
      }
    } else if exchange.winner != nil {
      retire(attempt)
    } else {
      failed(attempt, exchange, reason)
    }
  }

  /// Whether the request's body is at its beginning again.
  private func canStartOver(_ exchange: CurlExchange) -> Bool {
    guard case .pulled(let upload) = exchange.order.body else { return true }
    return upload.restart()
  }

  private func failed(_ attempt: CurlAttempt, _ exchange: CurlExchange, _ reason: CurlError) {
    guard !exchange.isTurnedAway else { return putBack(exchange) }
    let number = attempt.number
    if let address = attempt.address {
      exchange.failedAttempts.append(CurlFailure.Attempt(address: address, reason: reason))
      exchange.order.observer?(.failed(address, reason))
    }
    retire(attempt)
    if case .invalidRequest = reason { return finish(exchange, .failure(CurlFailure(reason))) }
    // What was judged before and is dialled now is not the same: nothing else is tried.
    guard exchange.race != nil, exchange.forbidden == nil else {
      return finish(exchange, .failure(CurlFailure(reason, forbidden: exchange.forbidden)))
    }
    exchange.race?.failed(number)
    step(exchange, now)
    if exchange.stage == .running { noteDue(exchange) }
  }

  /// Whether a response was complete when libcurl was kept from sending the request without its expectation.
  private func isAnswered(_ exchange: CurlExchange, _ code: CURLcode) -> Bool {
    code == CURLE_ABORTED_BY_CALLBACK && exchange.isHeadComplete && exchange.order.expectsContinue
  }

  /// Ends an exchange that libcurl wanted to repeat, once it is known whether its request was refused.
  private func settle(_ exchange: CurlExchange, _ attempt: CurlAttempt) {
    guard let lane = exchange.lane, lane.load.multiplexing != .never, attempt.askForRefusal(lane.multi) else {
      return finish(exchange, .failure(stranded(exchange, wasRefused: false)))
    }
    exchange.movedAt = now
  }

  private func stranded(_ exchange: CurlExchange, wasRefused: Bool) -> CurlFailure {
    broken(exchange, .connectionLost("the connection ended before a response came"), wasRefused: wasRefused)
  }

  /// Why an exchange that had its connection did not end well.
  private func broken(_ exchange: CurlExchange, _ reason: CurlError, wasRefused: Bool = false) -> CurlFailure {
    var bodyFailure: (any Error)?
    if case .pulled(let upload) = exchange.order.body { bodyFailure = upload.failure }
    var reason = reason
    // What was sent cannot be what libcurl calls wrong: the server speaks no HTTP.
    if case .invalidRequest(let text) = reason { reason = .connectionLost(text) }
    return CurlFailure(
      reason,
      attempts: exchange.failedAttempts, mayHaveArrived: !wasRefused, wasRefused: wasRefused,
      wasRepeated: exchange.hasRepeated, address: exchange.winner?.address, bodyFailure: bodyFailure)
  }

  func timeOut(_ exchange: CurlExchange, _ timer: CurlFailure.Timer) {
    // An address that is silent for the whole of the time is as dead as one that refuses.
    if timer == .connect {
      // Nothing runs: the other family was awaited, and those that were there have failed.
      if exchange.attempts.isEmpty { return finish(exchange, .failure(lost(exchange))) }
      for attempt in exchange.attempts {
        guard let address = attempt.address else { continue }
        exchange.failedAttempts.append(CurlFailure.Attempt(address: address, reason: .timedOut))
        exchange.order.observer?(.failed(address, .timedOut))
      }
    }
    let failure = CurlFailure(
      .timedOut, attempts: exchange.failedAttempts, mayHaveArrived: exchange.winner != nil, timer: timer)
    finish(exchange, .failure(failure))
  }

  func finish(_ exchange: CurlExchange, _ result: Result<CurlEnd, CurlFailure>) {
    guard exchange.stage == .running else { return }
    exchange.stage = .done
    exchange.lastHead = newHead(exchange)
    exchange.result = result
    reportProgress(exchange, isLast: true)
    for attempt in exchange.attempts { retire(attempt) }
    let isConnected = exchange.winner != nil
    exchange.winner = nil
    removeActive(exchange)
    if case .pulled(let upload) = exchange.order.body { upload.stop() }
    if let lane = exchange.lane {
      note(lane) { $0.ended(exchange.line, wasOpening: exchange.isOpening, wasConnected: isConnected) }
    }
    exchange.lane = nil
    markDirty(exchange)
  }
}
