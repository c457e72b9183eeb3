// SPDX-License-Identifier: Apache-2.0
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
