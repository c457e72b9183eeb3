// SPDX-License-Identifier: Apache-2.0
/// How a transfer goes on once it was sent, and how it ends.
extension PoolMachine {
  /// A response's head is complete.
  ///
  /// - Parameters:
  ///   - id: the transfer.
  ///   - isMultiplexed: whether the connection carries several requests; nil where the response does not tell.
  mutating func headIsComplete(_ id: TransferID, isMultiplexed: Bool?) {
    let found = transfers.change(id) {
      $0.state.headIsComplete() ? ($0.pool, isTimed: $0.state.terms.idleTimeout != nil) : nil
    }
    guard let found, let (pool, isTimed) = found else { return }
    // Its silence may be over sooner than the time for a first byte would have been.
    if isTimed { noteDue(id) }
    guard let isMultiplexed, let multiplexing = pools.read(pool, { $0.load.multiplexing }) else { return }
    if multiplexing == .unknown || (multiplexing == .always) != isMultiplexed {
      note(pool) { $0.learned(isMultiplexed: isMultiplexed) }
    }
  }

  /// How an attempt of libcurl's ended.
  enum Ending: Hashable {
    case complete
    /// One of our decisions ended it.
    case aborted(HTTPTransportError)
    case failed(HTTPTransportError)
  }

  /// libcurl is done with an attempt.
  mutating func ended(_ id: TransferID, attempt number: Int, _ ending: Ending, at now: Int64) {
    if ending == .complete, transfers.read(id, { $0.state.isReceiving(from: number) }) == true {
      return finish(id, .success(()))
    }
    guard let transfer = transfers[id], transfer.state.attempts[number] != nil else { return }
    guard let carrier = transfer.state.carrier else { return failed(id, number, ending, at: now) }
    guard carrier.attempt == number else {
      transfers.change(id) { $0.state.attempts.drop(number) }
      return actions.append(.close(id, attempt: number))
    }
    if transfer.state.mustRequeue, transfer.state.terms.canStartOver {
      let joins = pools.read(transfer.pool) { $0.joins } ?? 0
      transfers.change(id) { $0.state.noteRetry(joins: joins) }
      return requeue(id)
    }
    switch ending {
    case .complete: finish(id, .success(()))
    case .aborted where isAnswered(transfer.state): finish(id, .success(()))
    case .aborted(let reason), .failed(let reason):
      guard transfer.state.wasRetryRefused else { return finish(id, .failure(transfer.state.failure(reason))) }
      guard pools.read(transfer.pool, { $0.load.multiplexing }) != .never else {
        return checked(id, wasRefused: false)
      }
      transfers.change(id) { $0.state.checkRefusal(at: now) }
      actions.append(.checkRefusal(id, attempt: number))
    }
  }

  /// Whether a response was complete when libcurl was kept from sending the request without its expectation.
  private func isAnswered(_ state: TransferState) -> Bool {
    if case .receiving = state.phase { state.terms.expectsContinue } else { false }
  }

  /// Whether HTTP/2 refused a request unprocessed is known.
  mutating func checked(_ id: TransferID, wasRefused: Bool) {
    guard let failure = transfers.read(id, { $0.state.failureWithoutRetry(wasRefused: wasRefused) }) else { return }
    finish(id, .failure(failure))
  }

  private mutating func failed(_ id: TransferID, _ number: Int, _ ending: Ending, at now: Int64) {
    guard let state = transfers[id]?.state else { return }
    guard !state.mustRequeue else { return requeue(id) }
    let reason: HTTPTransportError =
      switch ending {
      case .complete: .connectionLost("the connection ended before the request went out")
      case .aborted(let reason), .failed(let reason): reason
      }
    if let address = state.attempts[number]?.address { actions.append(.report(id, failed: address, reason)) }
    transfers.change(id) { $0.state.attempts.fail(number, reason) }
    actions.append(.close(id, attempt: number))
    switch reason {
    // Nor could it go to any other address.
    case .invalidRequest, .tlsSetup: return finish(id, .failure(TransferFailure(reason)))
    default: break
    }
    // What was judged before and is dialled now is not the same: nothing else is tried.
    guard state.attempts.isRacing, state.forbidden == nil else {
      return failToConnect(id, TransferFailure(reason, forbidden: state.forbidden), at: now)
    }
    step(id, at: now)
    noteDue(id)
  }

  /// A transfer found no connection.
  mutating func failToConnect(_ id: TransferID, _ failure: TransferFailure, at now: Int64) {
    if let transfer = transfers[id] {
      pools.change(transfer.pool) { pool in
        guard pool.load.established == 0 else { return }
        if let outage = PoolOutage(failure, of: transfer.state, after: pool.outage, at: now) { pool.outage = outage }
      }
    }
    finish(id, .failure(failure))
  }

  /// Why one that has waited finds no connection either; nil where it may.
  func outageFailure(of id: TransferID, in pool: SlabID<Pool>, at now: Int64) -> TransferFailure? {
    guard let outage = pools.read(pool, { $0.load.established == 0 ? $0.outage : nil }) else { return nil }
    return transfers.read(id) { transfer in
      // One that waits once more has waited for something else before.
      guard case .none = transfer.state.requeueing else { return nil }
      return outage?.failure(of: transfer.state.terms, waitingSince: transfer.arrivedAt, at: now)
    } ?? nil
  }

  /// What is left of a transfer has to end by then.
  mutating func hasten(_ id: TransferID, until deadline: Int64) {
    transfers.change(id) { $0.state.terms.deadline = min($0.state.terms.deadline, deadline) }
    noteDue(id)
  }
}

/// What is due when. Only those that run are looked at again and again: there are no more of them than connections have
/// room for, and any number may wait.
extension PoolMachine {
  // MARK: What moves them on

  /// Something of the response came in.
  mutating func moved(_ id: TransferID, at now: Int64) {
    transfers.change(id) { $0.state.moved(at: now) }
  }

  /// A request's body has nothing to send for now.
  mutating func starved(_ id: TransferID) { transfers.change(id) { $0.state.starved() } }

  /// Something of a request went out, or its body has come to its end.
  mutating func sent(_ id: TransferID, at now: Int64) {
    let wasStarved = transfers.change(id) { transfer in
      defer { transfer.state.sent(at: now) }
      return transfer.state.isStarved
    }
    // The server's time runs again.
    if wasStarved == true { noteDue(id) }
  }

  /// A response's reader has enough for now.
  mutating func heldBack(_ id: TransferID) { transfers.change(id) { $0.state.heldBack() } }

  /// A response's reader has caught up.
  mutating func resumed(_ id: TransferID, at now: Int64) {
    transfers.change(id) { $0.state.resumed(at: now) }
    noteDue(id)
  }

  // MARK: What is due

  /// Ends those whose time is over, and goes on with the others.
  mutating func checkTimers(at now: Int64) {
    while let id = waitingDeadlines.takeDue(at: now) { timeOut(id, .whole, at: now) }
    for id in running {
      if let timer = transfers.read(id, { $0.state.exceeded(at: now) }) ?? nil {
        timeOut(id, timer, at: now)
      } else {
        step(id, at: now)
      }
    }
    nextDue = waitingDeadlines.next() ?? .max
    for id in running { noteDue(id) }
  }

  private mutating func timeOut(_ id: TransferID, _ timer: TransferFailure.Timer, at now: Int64) {
    let found = transfers.change(id) { ($0.state.attempts.failed.count, $0.state.timeOut(timer, at: now)) }
    guard let (known, failure) = found else { return }
    for attempt in failure.attempts.dropFirst(known) {
      actions.append(.report(id, failed: attempt.address, attempt.reason))
    }
    failToConnect(id, failure, at: now)
  }

  /// Wakes the timers for a transfer whose state has changed.
  mutating func noteDue(_ id: TransferID) {
    guard let (due, isWaiting) = transfers.read(id, { ($0.state.due, $0.state.isWaiting) }) else { return }
    if isWaiting { waitingDeadlines.set(id, at: due) }
    nextDue = min(nextDue, due)
  }

  /// Takes one that runs no more from its place, which the last one gets.
  mutating func noteStopped(_ id: TransferID, _ place: Int) {
    guard let last = running.popLast(), last != id else { return }
    running[place] = last
    transfers.change(last) { $0.place = place }
  }
}
