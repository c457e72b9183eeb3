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
  private let waiting = Locked(Waiting())

  /// Everyone who waits for the end: a service group ends a client, and so may its owner at the same time.
  private struct Waiting {
    var next = 0
    var continuations: [Int: CheckedContinuation<Void, Never>] = [:]
  }

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
    let number = waiting.withLock { waiting in
      waiting.next += 1
      return waiting.next
    }
    var timer: Task<Void, Never>?
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiting.withLock { $0.continuations[number] = continuation }
        // It may have been cancelled before there was anything to end.
        if count.load(ordering: .sequentiallyConsistent) == 0 || limit <= .zero || Task.isCancelled {
          return end(number)
        }
        // Not before there is something to end.
        timer = Task {
          // `Task.sleep` ends the process when the sum of the present and the pause has no room.
          try? await Task.sleep(for: min(limit, CacheLife.horizon))
          end(number)
        }
      }
    } onCancel: {
      end(number)
    }
    timer?.cancel()
  }

  /// Lets one go who waits.
  private func end(_ number: Int) { waiting.withLock { $0.continuations.removeValue(forKey: number) }?.resume() }

  private func release() {
    let continuations = waiting.withLock { waiting in
      defer { waiting.continuations = [:] }
      return waiting.continuations.values
    }
    for continuation in continuations { continuation.resume() }
  }
}
