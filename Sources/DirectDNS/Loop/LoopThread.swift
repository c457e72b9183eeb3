// SPDX-License-Identifier: Apache-2.0
/// A loop's thread: takes commands, lets the driver go on, waits.
struct LoopThread<Driver: LoopDriver>: ~Copyable {
  private let mailbox: LoopMailbox<Driver>
  private let driver: Driver
  private let poller: Poller

  init(mailbox: LoopMailbox<Driver>, driver: Driver, poller: Poller) {
    self.mailbox = mailbox
    self.driver = driver
    self.poller = poller
  }

  consuming func run() {
    var commands: [Driver.Command] = []
    var tasks: [LoopTask] = []
    var hasNews = false
    while true {
      // First, since they leave commands.
      runTasks(&tasks)
      let isStopped = mailbox.take(into: &commands)
      if !commands.isEmpty { hasNews = true }
      for command in commands { driver.carryOut(command) }
      commands.removeAll(keepingCapacity: true)
      if isStopped { break }
      let due = driver.turn(hasNews: hasNews)
      hasNews = wait(until: due)
      if !hasNews, due == .max, driver.idleLimit != nil, mailbox.mayEnd() { break }
    }
    driver.stop()
    runTasks(&tasks)
    driver.close()
  }

  private func runTasks(_ tasks: inout [LoopTask]) {
    mailbox.takeTasks(into: &tasks)
    guard !tasks.isEmpty else { return }
    driver.willRunTasks()
    for task in tasks { task.run() }
    tasks.removeAll(keepingCapacity: true)
  }

  /// Waits, and goes on with the sockets that are ready.
  ///
  /// - Returns: whether anything happened before the time had come.
  private func wait(until due: Int64) -> Bool {
    let began = LoopTime.now
    let patience = due == .max ? driver.idleLimit ?? Self.longestWait : due <= began ? 0 : due - began
    let mayWait = patience > 0 && mailbox.mayWait()
    let hasEvents = poller.wait(mayWait ? min(patience, Self.longestWait) : 0)
    driver.now = LoopTime.now
    if hasEvents { poller.forEach { driver.act(on: $0, $1, owner: $2) } }
    return hasEvents
  }

  /// Milliseconds of one wait at most.
  private static var longestWait: Int64 { 60_000 }
}
