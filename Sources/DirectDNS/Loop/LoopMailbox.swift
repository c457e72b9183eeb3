// SPDX-License-Identifier: Apache-2.0
/// Commands and tasks for a loop's thread, and the means to wake it.
final class LoopMailbox<Driver: LoopDriver>: Sendable {
  struct State {
    var commands: [Driver.Command] = []
    /// Tasks to run on the thread.
    var tasks: [LoopTask] = []
    /// Nil until the first command, which starts the thread.
    var wakeUp: WakeUp?
    /// Why the thread could not start, when that was last tried.
    var obstacle = LoopMailbox.noDescriptors
    var isStopped = false
    /// Whether the thread waits and has to be woken; otherwise it reads the mailbox before it waits.
    var isAsleep = false
    /// Threads that have not ended: beside the present one there may be one that ends because it was idle.
    var threads = 0
    /// Those who wait until there are none.
    var waitingForEnd: [CheckedContinuation<Void, Never>] = []
  }

  let settings: Driver.Settings
  let resumption = TaskResumption()
  let state = Locked(State())
  private let startThread: WorkerThread.Start

  init(_ settings: Driver.Settings, startThread: @escaping WorkerThread.Start = WorkerThread.start) {
    self.settings = settings
    self.startThread = startThread
  }

  /// Adds a command.
  ///
  /// - Returns: whether it will be carried out; not if the loop was stopped, or its thread cannot start.
  func post(_ command: Driver.Command) -> Bool { post { $0.commands.append(command) } }

  /// Adds a command that is about what the thread has: where there is no thread, there is nothing to do.
  func tell(_ command: Driver.Command) { _ = post(startsThread: false) { $0.commands.append(command) } }

  /// Adds a task.
  ///
  /// - Returns: whether the thread will run it; not if the loop was stopped, or its thread cannot start.
  func post(_ task: LoopTask) -> Bool { post { $0.tasks.append(task) } }

  private func post(startsThread: Bool = true, _ leave: (inout State) -> Void) -> Bool {
    let (isTaken, wakeUp) = state.withLock { state -> (Bool, WakeUp?) in
      guard !state.isStopped else { return (false, nil) }
      if state.wakeUp == nil, startsThread { start(&state) }
      guard let wakeUp = state.wakeUp else { return (false, nil) }
      leave(&state)
      let wasAsleep = exchange(&state.isAsleep, with: false)
      return (true, wasAsleep ? wakeUp : nil)
    }
    // Not with the lock held, since the woken thread takes it first.
    wakeUp?.call()
    return isTaken
  }

  /// The error for what was not taken: the loop was stopped, or its thread cannot start, which the next command tries
  /// again.
  var refusal: HTTPTransportError { state.withLock { $0.isStopped ? .shutDown : .noSocket($0.obstacle) } }

  static var noDescriptors: String { "this process may open no further files (ulimit -n)" }

  func stop() {
    let wakeUp = state.withLock { state in
      state.isStopped = true
      return state.wakeUp
    }
    wakeUp?.call()
  }

  /// Stops the thread, and waits until everything that it had was freed.
  ///
  /// A process may exit then. While libcurl is still at work on a thread, `exit(3)` takes OpenSSL's tables from under it.
  func end() async {
    stop()
    await state.wait { state, continuation in
      guard state.threads > 0 else { return () }
      state.waitingForEnd.append(continuation)
      return nil
    }
  }

  /// Wakes the thread, if there is one, so that its driver sees what others have changed.
  func wake() { state.withLock(\.wakeUp)?.call() }

  private func start(_ state: inout State) {
    guard let wakeUp = WakeUp(), let poller = Poller(wakeUp),
      let driver = Driver(settings, poller: poller, resumption: resumption)
    else {
      state.obstacle = Self.noDescriptors
      return
    }
    // Passed to the thread: nobody else has them afterwards.
    let made = Locked<(Driver, Poller)?>((driver, poller))
    let isStarted = startThread(Driver.threadName) { [self] in
      run(made)
      Driver.threadEnds()
      threadEnded()
    }
    guard isStarted else {
      made.withLock { $0.take()?.0.close() }
      state.obstacle = WorkerThread.noThreads
      return
    }
    state.wakeUp = wakeUp
    state.threads += 1
  }

  // MARK: The thread

  /// Runs the driver until its end; it is freed on return, with all the handles that it had.
  @inline(never)
  private func run(_ made: Locked<(Driver, Poller)?>) {
    guard let (driver, poller) = made.withLock({ $0.take() }) else { return }
    if !Driver.runsTasks { WorkerThread.blockSIGPIPE() }
    LoopThread(mailbox: self, driver: driver, poller: poller).run()
  }

  /// Takes the commands.
  ///
  /// - Returns: whether the loop was stopped, so that no more will come.
  func take(into commands: inout [Driver.Command]) -> Bool {
    state.withLock { state in
      swap(&state.commands, &commands)
      state.isAsleep = false
      return state.isStopped
    }
  }

  /// Takes the tasks.
  func takeTasks(into tasks: inout [LoopTask]) { state.withLock { swap(&$0.tasks, &tasks) } }

  /// Whether the thread may wait; if so, it is woken by the next command or task.
  func mayWait() -> Bool {
    state.withLock { state in
      state.isAsleep = state.commands.isEmpty && state.tasks.isEmpty && !state.isStopped
      return state.isAsleep
    }
  }

  /// Whether the idle thread may end; if so, the next command starts another one.
  fileprivate func mayEnd() -> Bool {
    state.withLock { state in
      guard state.commands.isEmpty, state.tasks.isEmpty, !state.isStopped else { return false }
      state.wakeUp = nil
      state.isAsleep = false
      return true
    }
  }

  /// The thread has freed everything, and ends.
  private func threadEnded() {
    let waiting: [CheckedContinuation<Void, Never>] = state.withLock { state in
      state.threads -= 1
      return state.threads == 0 ? exchange(&state.waitingForEnd, with: []) : []
    }
    for continuation in waiting { continuation.resume() }
  }
}

/// A loop's thread: it takes commands, runs the driver's turn, and waits.
struct LoopThread<Driver: LoopDriver>: ~Copyable {
  let mailbox: LoopMailbox<Driver>
  let driver: Driver
  let poller: Poller

  consuming func run() {
    var commands: [Driver.Command] = []
    var tasks: [LoopTask] = []
    var hasNews = false
    var idleEnd: Int64?
    while true {
      // First, since they leave commands.
      runTasks(&tasks)
      let isStopped = mailbox.take(into: &commands)
      if !commands.isEmpty { hasNews = true }
      for command in commands { driver.carryOut(command) }
      commands.removeAll(keepingCapacity: true)
      if isStopped { break }
      let due = driver.turn(hasNews: hasNews)
      if hasNews || due != .max { idleEnd = nil }
      if due == .max { idleEnd = idleEnd ?? driver.idleLimit.map { LoopTime.now + $0 } }
      hasNews = wait(until: idleEnd ?? due)
      // A wait may end before its time: stopped and continued, a process is told so (signal(7)).
      if !hasNews, let idleEnd, driver.now >= idleEnd, mailbox.mayEnd() { break }
    }
    driver.stop()
    runTasks(&tasks)
    driver.close()
  }

  private func runTasks(_ tasks: inout [LoopTask]) {
    mailbox.takeTasks(into: &tasks)
    guard !tasks.isEmpty else { return }
    mailbox.resumption.willRunTasks()
    for task in tasks { task.run() }
    tasks.removeAll(keepingCapacity: true)
  }

  /// Waits, and tells the driver which sockets are ready.
  ///
  /// - Returns: whether anything happened before that instant.
  private func wait(until due: Int64) -> Bool {
    let began = LoopTime.now
    let timeout = due <= began ? 0 : min(due - began, Self.longestWait)
    let mayWait = timeout > 0 && mailbox.mayWait()
    let hasEvents = poller.wait(mayWait ? timeout : 0)
    driver.now = LoopTime.now
    if hasEvents { poller.forEach { driver.act(on: $0, $1, owner: $2) } }
    return hasEvents
  }

  /// The longest wait in milliseconds.
  private static var longestWait: Int64 { 60_000 }
}
