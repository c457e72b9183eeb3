// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// The transfers that have something for the tasks that wait for them: all of it is delivered together, at the end of
/// the loop's turn.
struct PendingDeliveries {
  /// For how many more turns tasks are resumed by this thread: some have run on it a moment ago.
  private var turnsHere = 0
  private var due: [CurlTransfer] = []

  /// Long enough for a task whose next response is some turns away while others are busy; not forever, since it may have
  /// been the last one that ran here.
  private static let turnsOfTask = 64

  /// Tasks are about to run on the loop's thread.
  mutating func willRunTasks() { turnsHere = Self.turnsOfTask }

  /// A transfer has something to deliver.
  mutating func add(_ transfer: CurlTransfer) {
    guard !transfer.pending.isDue else { return }
    transfer.pending.isDue = true
    due.append(transfer)
  }

  /// Delivers everything, and resumes the tasks that waited for it: not earlier, or they would run in the middle of the
  /// turn.
  mutating func deliver(at now: Int64) {
    var waiters: [CurlTransfer.Waiters] = []
    for transfer in due {
      transfer.pending.isDue = false
      let (head, end) = (transfer.pending.head.take(), transfer.pending.end.take())
      if end == nil { transfer.reportProgress(at: now, isLast: false) }
      guard head != nil || end != nil || !transfer.incoming.isEmpty else { continue }
      let found = transfer.deliver(head: head, end: end)
      if !found.isEmpty { waiters.append(found) }
    }
    due.removeAll(keepingCapacity: true)
    guard !waiters.isEmpty else { return }
    resume(waiters)
    turnsHere = max(0, turnsHere - 1)
  }

  /// Resumes tasks; several of them from a thread of the shared pool.
  ///
  /// Resumed from here, each could wake a thread of the pool that takes the processor at once and is asleep again
  /// before the next one is resumed: two switches of threads for each task. Tasks that run on this thread are best
  /// resumed here.
  private func resume(_ waiters: [CurlTransfer.Waiters]) {
    guard waiters.count > 1, turnsHere == 0 else {
      for waiter in waiters { waiter.resume() }
      return
    }
    DispatchQueue.global().async { for waiter in waiters { waiter.resume() } }
  }
}
