// SPDX-License-Identifier: Apache-2.0
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
      actions.append(.tell(id, failed: attempt.address, attempt.reason))
    }
    lose(id, failure, at: now)
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
