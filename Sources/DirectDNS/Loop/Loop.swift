// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// One thread that waits for sockets, times and commands; a driver says what is done with them.
///
/// Others post to its mailbox. The thread begins with the first command. Dropping the loop ends it, and with it what is
/// under way.
final class Loop<Driver: LoopDriver>: Sendable {
  let mailbox: LoopMailbox<Driver>
  /// Runs tasks on the thread.
  let executor: LoopExecutor

  init(_ settings: Driver.Settings) {
    mailbox = LoopMailbox(settings)
    executor = LoopExecutor { [mailbox] in mailbox.post($0) }
  }

  deinit { mailbox.stop() }

  /// Leaves a command for the thread.
  ///
  /// - Returns: whether it will be carried out; a loop that was stopped takes none.
  func post(_ command: Driver.Command) -> Bool { mailbox.post(command) }

  /// Why a command was not taken.
  var refusal: HTTPTransportError { mailbox.refusal }

  /// Has the thread, if there is one, look at what others have changed.
  func wake() { mailbox.wake() }

  /// Ends what is under way, and the thread.
  func stop() { mailbox.stop() }
}

/// What a loop does; once it was made, its thread alone uses it.
protocol LoopDriver: AnyObject, SendableMetatype {
  /// What it is made of.
  associatedtype Settings: Sendable
  /// What others ask of it.
  associatedtype Command: Sendable

  /// What the thread is called in debuggers.
  static var threadName: String { get }

  /// - Returns: nil when there is no memory for it.
  init?(_ settings: Settings, poller: Poller)

  /// The present, by ``LoopTime``: read once when the thread wakes up, since a turn is short.
  var now: Int64 { get set }

  /// After so many milliseconds without anything to wait for the thread ends, until the next command; nil for never.
  var idleLimit: Int64? { get }

  /// Said before the first task runs on the thread.
  func willRunTasks()

  /// Carries out a command.
  func carryOut(_ command: Command)

  /// Goes on with a socket that is ready; for nothing if it has something to say that nobody waits for.
  func act(on socket: CInt, _ ready: Poller.Interest, owner: UInt8)

  /// Does what is due, after commands and sockets, or because the time has come.
  ///
  /// - Parameter hasNews: whether there were any commands or ready sockets since the last turn.
  /// - Returns: the instant before which nothing will be due.
  func turn(hasNews: Bool) -> Int64

  /// Ends all that is under way.
  func stop()

  /// Ends what is left; nothing is asked of it afterwards.
  func close()
}

extension LoopDriver {
  var idleLimit: Int64? { nil }

  func willRunTasks() {}
}

/// The time that loops go by: the machine's steady clock, in milliseconds.
enum LoopTime {
  static var now: Int64 { milliseconds(SystemClock().now) }

  /// An instant of the machine's clock on that time line.
  static func milliseconds(_ instant: ResolverInstant) -> Int64 { instant.nanoseconds / 1_000_000 }
}

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
