// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSLoop

/// A thread for a loop that blocks.
enum WorkerThread {
  /// Runs a body on a thread of its own; false if there is none.
  typealias Start = @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool

  /// Why there is none.
  static var noThreads: String { "this process may start no further threads (ulimit -u, or its container's pids.max)" }

  private final class Work: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(_ name: String, _ body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }
  }

  /// Runs `body` on a thread that nothing else uses, and that ends with it.
  ///
  /// Not on one of libdispatch: all queues of the process share 255 of these, and work for which none is left waits
  /// for ever behind bodies that never end.
  ///
  /// - Returns: false if this process may start no further threads; then `body` is not run.
  static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    let work = unsafe Unmanaged.passRetained(Work("directdns." + name, body))
    let code = unsafe directdns_thread_start(
      { context in
        guard let context = unsafe context else { return nil }
        let work = unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
        unsafe directdns_thread_name(work.name)
        work.body()
        return nil
      }, work.toOpaque())
    if code != 0 { unsafe work.release() }
    return code == 0
  }

  /// Has this thread's writes to what nobody reads fail, and not raise SIGPIPE, which would end the process.
  ///
  /// For threads that run nobody else's tasks: programs that are started from one would inherit it.
  static func blockSIGPIPE() { directdns_thread_block_sigpipe() }
}

/// A thread for an actor whose calls block, as those of SQLite and hiredis do.
///
/// On the shared pool, which has only one thread per core, they would keep others waiting.
package final class ThreadExecutor: SerialExecutor {
  private let thread: BlockingPool

  /// Creates an executor, whose thread exists only while there is work, and a moment longer.
  package convenience init(_ name: String) { self.init(BlockingPool(name, width: 1)) }

  init(_ thread: BlockingPool) { self.thread = thread }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    thread.add { [self] in unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
  }
}
