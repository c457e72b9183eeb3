// SPDX-License-Identifier: Apache-2.0
internal import DequeModule
internal import Dispatch

/// A limited number of threads for work that blocks; further work waits in the order of its arrival.
///
/// A thread without work waits for more before it ends, since one piece of a file usually follows another. Where no
/// thread can be started, the thread that brings the work does it.
final class BlockingPool: Sendable {
  typealias Job = @Sendable () -> Void

  private struct State {
    var threads = 0
    /// Those that wait for work, and that nobody has called yet.
    var idle = 0
    var waiting: Deque<Job> = []
  }

  private let name: String
  private let width: Int
  private let idleLimit: Duration
  private let startThread: WorkerThread.Start
  private let state = Locked(State())
  /// Calls one idle thread.
  private let call = DispatchSemaphore(value: 0)

  init(
    _ name: String, width: Int, idleLimit: Duration = .seconds(5),
    startThread: @escaping WorkerThread.Start = WorkerThread.start
  ) {
    self.name = name
    self.width = width
    self.idleLimit = idleLimit
    self.startThread = startThread
  }

  var threadCount: Int { state.withLock(\.threads) }

  /// Runs `body` on one of the threads, and returns its result.
  func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      add { continuation.resume(returning: body()) }
    }
  }

  /// Runs `job` on one of the threads.
  func add(_ job: @escaping Job) {
    let (isCall, isStart) = state.withLock { state -> (Bool, Bool) in
      state.waiting.append(job)
      if state.idle > 0 {
        state.idle -= 1
        return (true, false)
      }
      guard state.threads < width else { return (false, false) }
      state.threads += 1
      return (false, true)
    }
    if isCall { call.signal() }
    guard isStart else { return }
    let isStarted = startThread(name) { [self] in
      WorkerThread.blockSIGPIPE()
      work(mayWait: true)
    }
    if !isStarted { work(mayWait: false) }
  }

  private func work(mayWait: Bool) {
    while true {
      let job = state.withLock { state -> Job? in
        if let job = state.waiting.popFirst() { return job }
        if mayWait { state.idle += 1 } else { state.threads -= 1 }
        return nil
      }
      if let job { job() } else if !mayWait || !isCalled() { return }
    }
  }

  /// Waits for work; false if there is none for a while.
  private func isCalled() -> Bool {
    if call.wait(timeout: .now() + .milliseconds(Int(idleLimit.wholeMilliseconds))) == .success { return true }
    let ends = state.withLock { state in
      guard state.idle > 0 else { return false }
      state.idle -= 1
      state.threads -= 1
      return true
    }
    // Otherwise every idle thread has been called just now, this one too.
    if !ends { call.wait() }
    return !ends
  }
}
