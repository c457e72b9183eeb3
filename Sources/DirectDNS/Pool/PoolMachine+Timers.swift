// SPDX-License-Identifier: Apache-2.0
/// What is due when. Only those that run are looked at again and again: there are no more of them than connections have
/// room for, and any number may wait.
extension PoolMachine {
  // MARK: What moves them on

  /// Something of the request went out, or of the response came in.
  mutating func moved(_ id: TransferID, at now: Int64) {
    transfers.change(id) { $0.state.moved(at: now) }
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
    if nextWaitingDue <= now { checkWaiting(at: now) }
    for id in running {
      if let timer = transfers.read(id, { $0.state.exceeded(at: now) }) ?? nil {
        timeOut(id, timer)
      } else {
        step(id, at: now)
      }
    }
    nextDue = nextWaitingDue
    for id in running { noteDue(id) }
  }

  private mutating func checkWaiting(at now: Int64) {
    nextWaitingDue = .max
    for id in transfers.ids {
      guard let deadline = transfers.read(id, { $0.state.isWaiting ? $0.state.due : nil }) ?? nil else { continue }
      if deadline <= now { timeOut(id, .whole) } else { nextWaitingDue = min(nextWaitingDue, deadline) }
    }
  }

  private mutating func timeOut(_ id: TransferID, _ timer: TransferFailure.Timer) {
    let found = transfers.change(id) { ($0.state.attempts.failed.count, $0.state.timeOut(timer)) }
    guard let (known, failure) = found else { return }
    for attempt in failure.attempts.dropFirst(known) {
      actions.append(.tell(id, failed: attempt.address, attempt.reason))
    }
    finish(id, .failure(failure))
  }

  /// Wakes the timers for a transfer that runs and whose state has changed.
  mutating func noteDue(_ id: TransferID) {
    nextDue = min(nextDue, transfers.read(id) { $0.state.due } ?? .max)
  }

  /// Wakes them for one that waits.
  mutating func noteWaiting(until deadline: Int64) {
    nextWaitingDue = min(nextWaitingDue, deadline)
    nextDue = min(nextDue, deadline)
  }

  /// Takes one that runs no more from its place, which the last one gets.
  mutating func noteStopped(_ id: TransferID, _ place: Int) {
    guard let last = running.popLast(), last != id else { return }
    running[place] = last
    transfers.change(last) { $0.place = place }
  }
}
