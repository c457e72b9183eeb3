// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// Counts what is under way, so that an end can wait for it.
///
/// Whoever enters or leaves writes the count and reads whether it is closed; whoever waits has closed it and reads the
/// count. Each would miss the other if what it wrote could be seen after what it read, so that both are sequentially
/// consistent.
final class InFlight: Sendable {
  private let count = Atomic<Int>(0)
  private let isClosed = Atomic<Bool>(false)
  /// Everyone who waits for the end: a service group ends a client, and so may its owner at the same time.
  private let waiting = Locked<[Promise<Void>]>([])

  /// Counts one more; false once it is closed.
  func enter() -> Bool {
    count.add(1, ordering: .sequentiallyConsistent)
    guard isClosed.load(ordering: .sequentiallyConsistent) else { return true }
    leave()
    return false
  }

  /// Counts one more of what was let in before.
  func join() { count.add(1, ordering: .acquiringAndReleasing) }

  func leave() {
    let left = count.subtract(1, ordering: .sequentiallyConsistent).newValue
    if left == 0, isClosed.load(ordering: .sequentiallyConsistent) { release() }
  }

  /// Whether nobody is let in any more.
  var hasEnded: Bool { isClosed.load(ordering: .acquiring) }

  /// Lets nobody in any more.
  func close() { isClosed.store(true, ordering: .sequentiallyConsistent) }

  /// Waits until nothing is under way, at most so long; who is cancelled waits no longer.
  func drained(within limit: Duration) async {
    let end = Promise<Void>()
    // Kept before the count is read: whoever leaves last after that fulfils it.
    waiting.withLock { $0.append(end) }
    guard count.load(ordering: .sequentiallyConsistent) > 0, limit > .zero else { return }
    let timer = Task {
      // `Task.sleep` ends the process when the sum of the present and the pause has no room.
      try? await Task.sleep(for: min(limit, CacheLife.horizon))
      end.fulfil(())
    }
    await end.value(ifCancelled: ())
    timer.cancel()
  }

  private func release() {
    let waiting = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for end in waiting { end.fulfil(()) }
  }
}
