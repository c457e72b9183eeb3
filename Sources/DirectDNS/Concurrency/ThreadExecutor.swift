// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

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
