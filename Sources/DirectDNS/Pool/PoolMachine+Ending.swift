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
    if transfer.state.isTurnedAway, transfer.state.terms.canStartOver {
      let joins = pools.read(transfer.pool) { $0.joins } ?? 0
      transfers.change(id) { $0.state.noteRetry(joins: joins) }
      return requeue(id)
    }
    switch ending {
    case .complete: finish(id, .success(()))
    case .aborted where isAnswered(transfer.state): finish(id, .success(()))
    case .aborted(let reason), .failed(let reason):
      guard transfer.state.isStranded else { return finish(id, .failure(transfer.state.breakdown(reason))) }
      guard pools.read(transfer.pool, { $0.load.multiplexing }) != .never else {
        return asked(id, wasRefused: false)
      }
      transfers.change(id) { $0.state.ask(at: now) }
      actions.append(.ask(id, attempt: number))
    }
  }

  /// Whether a response was complete when libcurl was kept from sending the request without its expectation.
  private func isAnswered(_ state: TransferState) -> Bool {
    if case .receiving = state.phase { state.terms.expectsContinue } else { false }
  }

  /// Whether HTTP/2 refused a request unprocessed is known.
  mutating func asked(_ id: TransferID, wasRefused: Bool) {
    guard let failure = transfers.read(id, { $0.state.stranding(wasRefused: wasRefused) }) else { return }
    finish(id, .failure(failure))
  }

  private mutating func failed(_ id: TransferID, _ number: Int, _ ending: Ending, at now: Int64) {
    guard let state = transfers[id]?.state else { return }
    guard !state.isTurnedAway else { return requeue(id) }
    let reason: HTTPTransportError =
      switch ending {
      case .complete: .connectionLost("the connection ended before the request went out")
      case .aborted(let reason), .failed(let reason): reason
      }
    if let address = state.attempts[number]?.address { actions.append(.tell(id, failed: address, reason)) }
    transfers.change(id) { $0.state.attempts.fail(number, reason) }
    actions.append(.close(id, attempt: number))
    if case .invalidRequest = reason { return finish(id, .failure(TransferFailure(reason))) }
    // What was judged before and is dialled now is not the same: nothing else is tried.
    guard state.attempts.isRacing, state.forbidden == nil else {
      return lose(id, TransferFailure(reason, forbidden: state.forbidden), at: now)
    }
    step(id, at: now)
    noteDue(id)
  }

  /// A transfer found no connection.
  mutating func lose(_ id: TransferID, _ failure: TransferFailure, at now: Int64) {
    if let transfer = transfers[id] {
      pools.change(transfer.pool) { pool in
        guard pool.load.established == 0 else { return }
        if let loss = PoolLoss(failure, of: transfer.state, after: pool.loss, at: now) { pool.loss = loss }
      }
    }
    finish(id, .failure(failure))
  }

  /// Why one that has waited finds no connection either; nil where it may.
  func loss(of id: TransferID, in pool: SlabID<Pool>, at now: Int64) -> TransferFailure? {
    guard let loss = pools.read(pool, { $0.load.established == 0 ? $0.loss : nil }) else { return nil }
    return transfers.read(id) { transfer in
      // One that waits once more has waited for something else before.
      guard case .first = transfer.state.turn else { return nil }
      return loss?.failure(of: transfer.state.terms, waitingSince: transfer.arrivedAt, at: now)
    } ?? nil
  }

  /// What is left of a transfer has to end by then.
  mutating func hasten(_ id: TransferID, until deadline: Int64) {
    transfers.change(id) { $0.state.terms.deadline = min($0.state.terms.deadline, deadline) }
    noteDue(id)
  }
}
