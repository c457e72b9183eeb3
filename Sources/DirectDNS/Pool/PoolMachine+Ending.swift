// SPDX-License-Identifier: Apache-2.0
/// How a transfer goes on once it has been sent, and how it ends.
extension PoolMachine {
  /// A response's head is complete.
  ///
  /// - Parameters:
  ///   - id: the transfer.
  ///   - isMultiplexed: whether the connection carries several requests; nil if the response does not show that.
  ///   - refusesExpectation: whether its status is 417.
  mutating func headIsComplete(_ id: TransferID, isMultiplexed: Bool?, refusesExpectation: Bool = false) {
    let found = transfers.change(id) {
      $0.state.headIsComplete(refusesExpectation: refusesExpectation)
        ? ($0.pool, isTimed: $0.state.terms.idleTimeout != nil || $0.state.isStarved) : nil
    }
    guard let found, let (pool, isTimed) = found else { return }
    // Its idle timeout may end sooner than the time for the first byte would have, and its upload is looked at.
    if isTimed { noteDue(id) }
    guard let isMultiplexed, let multiplexing = pools.read(pool, { $0.load.multiplexing }) else { return }
    if multiplexing == .unknown || (multiplexing == .always) != isMultiplexed {
      note(pool) { $0.learned(isMultiplexed: isMultiplexed) }
    }
  }

  /// libcurl has ended an attempt.
  mutating func ended(_ id: TransferID, attempt number: Int, _ outcome: AttemptOutcome, at now: Int64) {
    if outcome == .refused { return checked(id, wasRefused: true) }
    if outcome == .brokenOff { noteBrokenOff(id) }
    if outcome == .complete, transfers.read(id, { $0.state.isReceiving(from: number) }) == true {
      return finish(id, .success(()))
    }
    guard let transfer = transfers[id], transfer.state.attempts[number] != nil else { return }
    guard let carrier = transfer.state.carrier else { return failed(id, number, outcome, at: now) }
    guard carrier.attempt == number else {
      transfers.change(id) { $0.state.attempts.drop(number) }
      return actions.append(.close(id, attempt: number))
    }
    if transfer.state.mustRequeue, transfer.state.terms.canStartOver {
      let joins = pools.read(transfer.pool) { $0.joins } ?? 0
      transfers.change(id) { $0.state.noteRetry(joins: joins) }
      return requeue(id)
    }
    switch outcome {
    case .complete: finish(id, .success(()))
    case .inPart(let reason): finish(id, .failure(transfer.state.failure(reason, .inPart)))
    case .failed where isAnswered(transfer.state): finish(id, .success(()))
    case .brokenOff, .refused, .failed:
      guard transfer.state.wasRetryRefused else {
        return finish(id, transfer, transfer.state.failure(outcome.reason, delivery(of: transfer)))
      }
      // That there is a response says that the server has processed the request.
      guard transfer.state.phase != .receiving else {
        return finish(id, .failure(transfer.state.failure(Self.wantsHTTP1)))
      }
      let isUnprocessed = transfer.state.isUnprocessed
      guard !isUnprocessed, pools.read(transfer.pool, { $0.load.multiplexing }) != .never else {
        return checked(id, wasRefused: isUnprocessed)
      }
      transfers.change(id) { $0.state.checkRefusal(at: now) }
      // Its source may have had nothing to send, which no time ran for.
      noteDue(id)
      actions.append(.checkRefusal(id, attempt: number))
    }
  }

  /// How far a request got whose connection has ended without a response.
  private func delivery(of transfer: Transfer) -> TransferFailure.Delivery {
    let joins = pools.read(transfer.pool) { $0.joins } ?? 0
    let wasRefused = transfer.state.dialsAgainSince != nil && transfer.state.wasRefused(joins: joins)
    return wasRefused ? .refused : .mayHaveArrived
  }

  /// Ends a transfer that had a connection, and reports its address if that could not be connected to once more.
  private mutating func finish(_ id: TransferID, _ transfer: Transfer, _ failure: TransferFailure) {
    report(failure, of: id, beyond: transfer.state.attempts.failed.count)
    finish(id, .failure(failure))
  }

  /// Reports the addresses of a failure, less those that were reported before.
  private mutating func report(_ failure: TransferFailure, of id: TransferID, beyond known: Int) {
    for failed in failure.facts.failedAddresses.dropFirst(known) {
      actions.append(.report(id, failed: failed.address, failed.reason))
    }
  }

  /// After a response that broke off in its head no request prefers that connection, which libcurl keeps until it looks
  /// at it next.
  private mutating func noteBrokenOff(_ id: TransferID) {
    guard let transfer = transfers[id], let address = transfer.state.carrier?.address else { return }
    pools.change(transfer.pool) { $0.load.died(address) }
  }

  /// Whether libcurl was stopped from retrying a request without its expectation, although the response was complete.
  private func isAnswered(_ state: TransferState) -> Bool {
    state.phase == .receiving && state.isExpectationRefused && state.wasRetryRefused
  }

  /// Why else libcurl wants to retry a request whose response has begun: its stream was reset (HTTP_1_1_REQUIRED), and
  /// libcurl does not ask what has come (`Curl_h2_http_1_1_error`).
  private static var wantsHTTP1: HTTPTransportError {
    .connectionLost("the server has reset it, and wants the request over HTTP/1.1")
  }

  /// It has been found out whether HTTP/2 refused a request unprocessed.
  mutating func checked(_ id: TransferID, wasRefused: Bool) {
    guard let failure = transfers.read(id, { $0.state.failureWithoutRetry(wasRefused: wasRefused) }) else { return }
    finish(id, .failure(failure))
  }

  private mutating func failed(_ id: TransferID, _ number: Int, _ outcome: AttemptOutcome, at now: Int64) {
    guard let state = transfers[id]?.state else { return }
    guard !state.mustRequeue else { return requeue(id) }
    let reason = outcome.reason
    if let address = state.attempts[number]?.address { actions.append(.report(id, failed: address, reason)) }
    transfers.change(id) { $0.state.attempts.fail(number, reason) }
    actions.append(.close(id, attempt: number))
    switch reason {
    // It would fail at any other address too.
    case .invalidRequest, .tlsSetup: return finish(id, .failure(TransferFailure(reason)))
    default: break
    }
    // With a forbidden address nothing else is tried: libcurl was about to dial one that had not been judged before.
    guard state.attempts.isRacing, state.forbidden == nil else {
      return failToConnect(id, TransferFailure(.init(reason: reason, forbidden: state.forbidden)), at: now)
    }
    step(id, at: now)
    noteDue(id)
  }

  /// Ends a transfer that could not connect.
  mutating func failToConnect(_ id: TransferID, _ failure: TransferFailure, at now: Int64) {
    if let transfer = transfers[id] {
      pools.change(transfer.pool) { pool in
        guard pool.load.established == 0 else { return }
        if let outage = PoolOutage(failure, of: transfer.state, after: pool.outage, at: now) { pool.outage = outage }
      }
    }
    finish(id, .failure(failure))
  }

  /// Why a transfer that has waited in the queue would not get a connection either; nil if it may get one.
  func outageFailure(of id: TransferID, in pool: SlabID<Pool>, at now: Int64) -> TransferFailure? {
    guard let outage = pools.read(pool, { $0.load.established == 0 ? $0.outage : nil }) else { return nil }
    return transfers.read(id) { transfer in
      // Not one that has been back in the queue: it waited for something else before.
      guard case .none = transfer.state.requeueing else { return nil }
      return outage?.failure(of: transfer.state.terms, waitingSince: transfer.arrivedAt, at: now)
    } ?? nil
  }

  /// Makes a transfer end by that time.
  mutating func shortenDeadline(_ id: TransferID, until deadline: Int64) {
    transfers.change(id) { $0.state.terms.deadline = min($0.state.terms.deadline, deadline) }
    noteDue(id)
  }
}

/// Timers.
///
/// Only running transfers are looked at one by one, since the connections limit their number; any number may wait.
extension PoolMachine {
  // MARK: Progress

  /// A part of the response has come.
  mutating func moved(_ id: TransferID, at now: Int64) {
    transfers.change(id) { $0.state.moved(at: now) }
  }

  /// The source of a request's body has nothing to send at the moment.
  mutating func starved(_ id: TransferID, at now: Int64) {
    transfers.change(id) { $0.state.starved(at: now) }
    noteDue(id)
  }

  /// A response is complete, and its request's body may not be.
  mutating func answered(_ id: TransferID, at now: Int64) {
    transfers.change(id) { $0.state.answered(at: now) }
    noteDue(id)
  }

  /// It has been found out why an upload behind a complete response sends nothing.
  ///
  /// Without a reason to wait the response counts, whatever was not sent (RFC 9113 §8.1): libcurl 7.88 shows neither that
  /// the server has reset the stream nor that it would take more.
  mutating func checked(_ id: TransferID, _ upload: UploadFacts) {
    if transfers.read(id, { $0.state.hasToWait(upload) }) == false { finish(id, .success(())) }
  }

  /// A part of a request has been sent, or its body has ended.
  mutating func sent(_ id: TransferID, at now: Int64) {
    let wasStarved = transfers.change(id) { transfer in
      let isStarved = transfer.state.isStarved
      transfer.state.sent(at: now)
      return isStarved
    }
    // From now on the time for the response runs again.
    if wasStarved == true { noteDue(id) }
  }

  /// A response is held back until its reader has caught up.
  mutating func heldBack(_ id: TransferID) { transfers.change(id) { $0.state.heldBack() } }

  /// A response's reader has caught up.
  mutating func resumed(_ id: TransferID, at now: Int64) {
    transfers.change(id) { $0.state.resumed(at: now) }
    noteDue(id)
  }

  // MARK: Timers

  /// Ends the transfers whose time is over, and starts the attempts of others that are due.
  mutating func checkTimers(at now: Int64) {
    while let id = waitingDeadlines.takeDue(at: now) { timeOut(id, .total, at: now) }
    for id in running {
      if let timer = transfers.read(id, { $0.state.exceeded(at: now) }) ?? nil {
        timeOut(id, timer, at: now)
      } else {
        step(id, at: now)
        lookAtUpload(id, at: now)
      }
    }
    nextDue = waitingDeadlines.next() ?? .max
    for id in running { noteDue(id) }
  }

  private mutating func lookAtUpload(_ id: TransferID, at now: Int64) {
    for look in transfers.change(id, { $0.state.takeUploadLooks(at: now) }) ?? [] {
      switch look {
      case .resume: actions.append(.resumeUpload(id))
      case .check: actions.append(.checkUpload(id))
      }
    }
  }

  private mutating func timeOut(_ id: TransferID, _ timer: TransferFailure.Timer, at now: Int64) {
    let found = transfers.change(id) { ($0.state.attempts.failed.count, $0.state.timeOut(timer, at: now)) }
    guard let (known, failure) = found else { return }
    report(failure, of: id, beyond: known)
    failToConnect(id, failure, at: now)
  }

  /// Updates the timers for a transfer whose state has changed.
  mutating func noteDue(_ id: TransferID) {
    guard let (due, isWaiting) = transfers.read(id, { ($0.state.due, $0.state.isWaiting) }) else { return }
    if isWaiting { waitingDeadlines.set(id, at: due) }
    nextDue = min(nextDue, due)
  }

  /// Removes a transfer from ``running``; the last one there gets its place.
  mutating func noteStopped(_ id: TransferID, _ place: Int) {
    guard let last = running.popLast(), last != id else { return }
    running[place] = last
    transfers.change(last) { $0.place = place }
  }
}
