// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// Counts requests in flight, so that a shutdown can wait for them.
///
/// A request that enters or leaves writes the count, then reads whether it is closed. A shutdown closes it, then reads
/// the count. Each must see what the other has written, so both accesses are sequentially consistent.
final class InFlight: Sendable {
  private let count = Atomic<Int>(0)
  private let closed = Atomic<Bool>(false)
  /// Those who wait for the end; there may be several, since a service group and the owner may both end a client.
  private let waiting = Locked<[Promise<Void>]>([])

  /// Counts one more.
  ///
  /// - Returns: false if it is closed.
  func enter() -> Bool {
    count.add(1, ordering: .sequentiallyConsistent)
    guard closed.load(ordering: .sequentiallyConsistent) else { return true }
    leave()
    return false
  }

  /// Counts one more on behalf of a request that has entered.
  func enterOnceMore() { count.add(1, ordering: .acquiringAndReleasing) }

  func leave() {
    let left = count.subtract(1, ordering: .sequentiallyConsistent).newValue
    if left == 0, closed.load(ordering: .sequentiallyConsistent) { release() }
  }

  var isClosed: Bool { closed.load(ordering: .acquiring) }

  /// Closes it: nobody may enter any more.
  func close() { closed.store(true, ordering: .sequentiallyConsistent) }

  /// Waits until nothing is in flight, for at most that long, or until the task is cancelled.
  func waitUntilEmpty(within limit: Duration) async {
    let end = Promise<Void>()
    // Kept before the count is read: whoever leaves last after that fulfils it.
    waiting.withLock { $0.append(end) }
    guard count.load(ordering: .sequentiallyConsistent) > 0, limit > .zero else { return }
    let clock = SystemClock()
    _ = await Deadline.wait(until: clock.now + limit, clock, endsIfCancelled: true) { await end.value(ifCancelled: ()) }
  }

  private func release() {
    for end in waiting.withLock({ exchange(&$0, with: []) }) { end.fulfil(()) }
  }
}
