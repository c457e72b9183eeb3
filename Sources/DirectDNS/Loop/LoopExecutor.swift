// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// Runs tasks on a loop's thread, in the order of their coming, between what the loop does itself.
///
/// A task that waits for a transfer is then resumed by the thread that carried it, without a switch to another thread and
/// back. Once the loop has ended its tasks run on the shared pool.
///
/// It is not generic as the loop is: the runtime finds ``enqueue(_:)`` in a table, and what that calls would run, down to
/// the thread that the first task starts, without knowing the driver's types.
final class LoopExecutor: TaskExecutor {
  private let leave: @Sendable (LoopTask) -> Bool

  /// - Parameter leave: leaves a task with the loop, and says whether its thread will run it.
  init(_ leave: @escaping @Sendable (LoopTask) -> Bool) { self.leave = leave }

  func enqueue(_ job: consuming ExecutorJob) {
    let task = LoopTask(job: UnownedJob(job), executor: self)
    guard !leave(task) else { return }
    DispatchQueue.global(qos: .userInitiated).async { task.run() }
  }
}

/// A task's next piece of work.
struct LoopTask: Sendable {
  let job: UnownedJob
  let executor: LoopExecutor

  func run() { unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
}
