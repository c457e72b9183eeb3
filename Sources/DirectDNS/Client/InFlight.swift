internal import Synchronization

/// Counts what is under way, so that an end can wait for it.
final class InFlight: Sendable {
  private let count = Atomic<Int>(0)
  private let isClosed = Atomic<Bool>(false)
  private let waiter = Locked<CheckedContinuation<Void, Never>?>(nil)

  /// Counts one more; false once it is closed.
  func enter() -> Bool {
    guard !isClosed.load(ordering: .acquiring) else { return false }
    count.add(1, ordering: .acquiringAndReleasing)
    return true
  }

  /// Counts one more of what was let in before.
  func join() { count.add(1, ordering: .acquiringAndReleasing) }

  func leave() {
    let left = count.subtract(1, ordering: .acquiringAndReleasing).newValue
    if left == 0, isClosed.load(ordering: .acquiring) { release() }
  }

  /// Lets nobody in any more.
  func close() { isClosed.store(true, ordering: .releasing) }

  /// Waits until nothing is under way, at most so long.
  func drained(within limit: Duration) async {
    let timer = Task {
      // `Task.sleep` ends the process when the sum of the present and the pause has no room.
      try? await Task.sleep(for: min(limit, CacheLife.horizon))
      release()
    }
    await withCheckedContinuation { continuation in
      waiter.withLock { $0 = continuation }
      if count.load(ordering: .acquiring) == 0 || limit <= .zero { release() }
    }
    timer.cancel()
  }

  private func release() {
    let waiting = waiter.withLock { waiter in
      defer { waiter = nil }
      return waiter
    }
    waiting?.resume()
  }
}
