// SPDX-License-Identifier: Apache-2.0
/// The transfers that have something for the tasks that wait for them: all of it is delivered together, at the end of
/// the loop's turn.
struct PendingDeliveries {
  private let resumption: TaskResumption
  private var due: [CurlTransfer] = []

  init(resumption: TaskResumption) { self.resumption = resumption }

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
    resumption.resume(waiters.count) { [waiters] in for waiter in waiters { waiter.resume() } }
  }
}
