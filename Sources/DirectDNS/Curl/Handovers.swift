// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// The transfers of a loop that have something for those who wait for them: handed over last in a turn, and all together.
struct Handovers {
  /// How many times tasks are still resumed here, since some ran on the loop's thread not long ago.
  private var timesHere = 0
  private var due: [CurlTransfer] = []

  /// Tasks are about to run on the loop's thread.
  mutating func willRunTasks() { timesHere = 64 }

  /// A transfer has something to hand over.
  mutating func note(_ transfer: CurlTransfer) {
    guard !transfer.handover.isDue else { return }
    transfer.handover.isDue = true
    due.append(transfer)
  }

  /// Hands over all that there is: who waited for it is resumed then, instead of running in the midst of the turn.
  mutating func carryOut(at now: Int64) {
    var waiters: [CurlTransfer.Waiters] = []
    for transfer in due {
      transfer.handover.isDue = false
      let (head, end) = (transfer.handover.head.take(), transfer.handover.end.take())
      if end == nil { transfer.reportProgress(at: now, isLast: false) }
      guard head != nil || end != nil || !transfer.incoming.isEmpty else { continue }
      let found = transfer.deliver(head: head, end: end)
      if !found.isEmpty { waiters.append(found) }
    }
    due.removeAll(keepingCapacity: true)
    guard !waiters.isEmpty else { return }
    resume(waiters)
    timesHere = max(0, timesHere - 1)
  }

  /// Resumes tasks: many of them from the shared pool.
  ///
  /// A thread of the pool that is woken for the first of them may take the processor at once, and sleep again before the
  /// second one is resumed: two switches for each task. Tasks that run on this thread are best resumed here.
  private func resume(_ waiters: [CurlTransfer.Waiters]) {
    guard waiters.count > 1, timesHere == 0 else {
      for waiter in waiters { waiter.resume() }
      return
    }
    DispatchQueue.global().async { for waiter in waiters { waiter.resume() } }
  }
}
