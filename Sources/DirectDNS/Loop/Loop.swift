// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// One thread that waits for sockets, timers and commands, which a driver handles.
///
/// Other threads post commands to its mailbox; the first one starts the thread. When the loop is dropped, the thread
/// and everything under way end.
final class Loop<Driver: LoopDriver>: Sendable {
  let mailbox: LoopMailbox<Driver>
  /// Runs tasks on the thread.
  let executor: LoopExecutor
  /// Resumes tasks that wait for what the thread has brought.
  var resumption: TaskResumption { mailbox.resumption }

  init(_ settings: Driver.Settings) {
    mailbox = LoopMailbox(settings)
    executor = LoopExecutor { [mailbox] in mailbox.post($0) }
  }

  deinit { mailbox.stop() }

  /// Posts a command to the thread.
  ///
  /// - Returns: whether it will be carried out; not if the loop was stopped.
  func post(_ command: Driver.Command) -> Bool { mailbox.post(command) }

  /// Posts a command that is about what the thread has; it starts none.
  func tell(_ command: Driver.Command) { mailbox.tell(command) }

  /// The error for a command that was not taken.
  var refusal: HTTPTransportError { mailbox.refusal }

  /// Wakes the thread, if there is one, so that it sees what others have changed.
  func wake() { mailbox.wake() }

  /// Ends everything under way, and the thread.
  func stop() { mailbox.stop() }

  /// Stops it, and waits until the thread has closed and freed everything.
  func end() async { await mailbox.end() }
}

/// What a loop does; used by the loop's thread only, once it has been created.
protocol LoopDriver: AnyObject, SendableMetatype {
  /// The settings that it is created with.
  associatedtype Settings: Sendable
  /// What other threads can ask for.
  associatedtype Command: Sendable

  /// The name of the thread in debuggers.
  static var threadName: String { get }

  /// Creates a driver; nil if there is no memory for it.
  ///
  /// - Parameters:
  ///   - settings: the loop's.
  ///   - poller: waits for the sockets.
  ///   - resumption: resumes the tasks that wait for what the thread brings.
  init?(_ settings: Settings, poller: Poller, resumption: TaskResumption)

  /// The present, by ``LoopTime``; read only once per turn, since turns are short.
  var now: Int64 { get set }

  /// After how many idle milliseconds the thread ends; the next command starts another one. Nil for never.
  var idleLimit: Int64? { get }

  /// Whether tasks run on the thread.
  static var runsTasks: Bool { get }

  /// Carries out a command.
  func carryOut(_ command: Command)

  /// A socket is ready; `ready` is empty if something has come that nobody waits for.
  func act(on socket: CInt, _ ready: Poller.Interest, owner: UInt8)

  /// Does what is due, after commands and ready sockets, or because a timer has come up.
  ///
  /// - Parameter hasNews: whether there were commands or ready sockets since the last turn.
  /// - Returns: the instant before which nothing will be due.
  func turn(hasNews: Bool) -> Int64

  /// Ends everything under way.
  func stop()

  /// Frees everything; the driver is not used afterwards.
  func close()

  /// The thread ends, and the driver is freed: frees what libraries keep for the thread.
  static func threadEnds()
}

extension LoopDriver {
  var idleLimit: Int64? { nil }

  static var runsTasks: Bool { false }

  static func threadEnds() {}
}

/// The clock of loops: the machine's steady clock, in milliseconds.
enum LoopTime {
  static var now: Int64 { milliseconds(SystemClock().now) }

  /// An instant of the machine's clock in these milliseconds.
  static func milliseconds(_ instant: ResolverInstant) -> Int64 { instant.nanoseconds / 1_000_000 }
}

/// Runs tasks on a loop's thread, in order, between the turns of the loop.
///
/// A task that waits for a transfer is then resumed by the thread that carried the transfer, without a switch of
/// threads. Once the loop has ended, its tasks run on the shared pool.
///
/// It is not generic like the loop: the runtime calls ``enqueue(_:)`` through a witness table, so that everything which
/// that calls, even the start of the thread, would run as unspecialised generic code.
final class LoopExecutor: TaskExecutor {
  private let leave: @Sendable (LoopTask) -> Bool

  /// Creates an executor.
  ///
  /// - Parameter leave: passes a task to the loop, and returns whether the loop's thread will run it.
  init(_ leave: @escaping @Sendable (LoopTask) -> Bool) { self.leave = leave }

  func enqueue(_ job: consuming ExecutorJob) {
    let task = LoopTask(job: UnownedJob(job), executor: self)
    guard !leave(task) else { return }
    DispatchQueue.global(qos: .userInitiated).async { task.run() }
  }
}

/// The next piece of a task.
struct LoopTask: Sendable {
  let job: UnownedJob
  let executor: LoopExecutor

  func run() { unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
}
