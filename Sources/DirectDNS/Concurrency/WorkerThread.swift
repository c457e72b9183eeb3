// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// A thread of our own, for loops that block.
enum WorkerThread {
  /// Runs `body` on a thread that nothing else uses; the thread ends with it.
  ///
  /// A serial dispatch queue of its own gets a thread of its own, beyond the shared pool's width, so a body
  /// that blocks takes nothing away from anyone.
  static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
    DispatchQueue(label: "directdns." + name, qos: .userInitiated).async(execute: body)
  }
}

/// An actor's own thread, for an actor whose calls block: SQLite's and hiredis's do.
///
/// On the shared pool, which is as wide as the machine has cores, they would keep everyone else waiting.
package final class ThreadExecutor: SerialExecutor {
  private let queue: DispatchQueue

  /// Creates an executor; its thread exists while there is work.
  package init(_ name: String) {
    queue = DispatchQueue(label: "directdns." + name, qos: .userInitiated)
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { [self] in unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
  }
}

/// Threads for work that blocks, so many at most; further work waits in the order of its arrival.
final class BlockingPool: Sendable {
  private struct State {
    var running = 0
    var waiting: [@Sendable () -> Void] = []
  }

  private let name: String
  private let width: Int
  private let state = Locked(State())

  init(_ name: String, width: Int) {
    self.name = name
    self.width = width
  }

  /// Runs `body` on one of the threads and returns what it returns.
  func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      let job: @Sendable () -> Void = { continuation.resume(returning: body()) }
      let isNew = state.withLock { state in
        state.waiting.append(job)
        guard state.running < width else { return false }
        state.running += 1
        return true
      }
      if isNew { WorkerThread.start(name) { [self] in work() } }
    }
  }

  private func work() {
    while true {
      let job = state.withLock { state -> (@Sendable () -> Void)? in
        guard !state.waiting.isEmpty else {
          state.running -= 1
          return nil
        }
        return state.waiting.removeFirst()
      }
      guard let job else { return }
      job()
    }
  }
}
