// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// A thread for a loop that blocks.
enum WorkerThread {
  /// Runs `body` on a thread that nothing else uses, and that ends with it.
  ///
  /// A serial dispatch queue gets a thread in addition to those of Swift's shared pool, so that a body that blocks
  /// keeps nobody else waiting.
  static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
    DispatchQueue(label: "directdns." + name, qos: .userInitiated).async(execute: body)
  }
}

/// A thread for an actor whose calls block, as those of SQLite and hiredis do.
///
/// On the shared pool, which has only one thread per core, they would keep others waiting.
package final class ThreadExecutor: SerialExecutor {
  private let queue: DispatchQueue

  /// Creates an executor, whose thread exists only while there is work.
  package init(_ name: String) {
    queue = DispatchQueue(label: "directdns." + name, qos: .userInitiated)
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { [self] in unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
  }
}

/// A limited number of threads for work that blocks; further work waits in the order of its arrival.
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

  /// Runs `body` on one of the threads, and returns its result.
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
