// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// Runs tasks on a loop's thread, in the order of their coming, between what the loop does itself.
///
/// A task that waits for a transfer is then resumed by the thread that carried it, without a switch to another thread and
/// back. Once the loop has ended its tasks run on the shared pool.
final class LoopExecutor<Driver: LoopDriver>: TaskExecutor {
  private let mailbox: LoopMailbox<Driver>

  init(_ mailbox: LoopMailbox<Driver>) { self.mailbox = mailbox }

  func enqueue(_ job: consuming ExecutorJob) {
    let task = LoopTask(job: UnownedJob(job), executor: self)
    guard !mailbox.post(task) else { return }
    DispatchQueue.global(qos: .userInitiated).async { task.run() }
  }
}

/// A task's next piece of work.
struct LoopTask<Driver: LoopDriver>: Sendable {
  let job: UnownedJob
  let executor: LoopExecutor<Driver>

  func run() { unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
}
