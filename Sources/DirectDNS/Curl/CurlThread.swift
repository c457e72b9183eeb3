// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// A loop's thread: takes commands, goes on with transfers, waits.
struct CurlThread<Driver: CurlDriver>: ~Copyable {
  private let mailbox: CurlMailbox<Driver>
  private let events: CurlEvents
  private let driver: Driver

  init(mailbox: CurlMailbox<Driver>, multi: CurlMulti) {
    self.mailbox = mailbox
    events = multi.events
    driver = Driver(mailbox.settings, multi: multi)
  }

  consuming func run() {
    var commands: [Driver.Command] = []
    var tasks: [CurlTask<Driver>] = []
    var isQuiet = false
    while true {
      // First, since they leave commands.
      runTasks(&tasks)
      let isStopped = mailbox.take(into: &commands)
      if !commands.isEmpty { isQuiet = false }
      for command in commands { driver.carryOut(command) }
      commands.removeAll(keepingCapacity: true)
      if isStopped { break }
      actOnTimers()
      for multi in driver.multis {
        unsafe multi.reap {
          isQuiet = false
          unsafe driver.ended($0, $1)
        }
      }
      let due = driver.settle()
      isQuiet = wait(until: driver.multis.reduce(due) { min($0, $1.due) }, isQuiet: isQuiet)
    }
    driver.stop()
    runTasks(&tasks)
    // The connections end with the handles, and each tells the driver's objects of its end.
    withExtendedLifetime(driver) { for multi in driver.multis { multi.close() } }
  }

  private func runTasks(_ tasks: inout [CurlTask<Driver>]) {
    mailbox.takeTasks(into: &tasks)
    guard !tasks.isEmpty else { return }
    driver.runsTasks = true
    for task in tasks { task.run() }
    tasks.removeAll(keepingCapacity: true)
  }

  private func actOnTimers() {
    let crowded = driver.takeCrowdedSockets()
    CurlSockets.cork(crowded, true)
    for multi in driver.multis where multi.due <= driver.now { multi.actOnTimers() }
    CurlSockets.cork(crowded, false)
  }

  /// Waits, and goes on with the transfers whose sockets are ready.
  ///
  /// - Parameters:
  ///   - due: until then at most.
  ///   - isQuiet: whether all that is under way was looked at since anything happened.
  /// - Returns: whether it is so now.
  private func wait(until due: Int64, isQuiet: Bool) -> Bool {
    let began = CurlTime.now
    var end = due
    let looksAgain = !isQuiet && driver.isBusy && driver.multis.contains(where: \.sharesConnections)
    if looksAgain { end = min(end, began + CurlPatience.secondLook) }
    let patience = end <= began || !mailbox.mayWait() ? 0 : min(end - began, CurlPatience.longest)
    let hasEvents = events.wait(patience)
    driver.now = CurlTime.now
    if hasEvents {
      events.forEach { socket, ready, owner in driver.multis[Int(owner)].act(on: socket, ready) }
      return false
    }
    guard looksAgain, driver.now >= began + CurlPatience.secondLook else { return isQuiet }
    for multi in driver.multis where multi.sharesConnections { multi.actOnAll() }
    return true
  }
}

enum CurlPatience {
  /// After so many milliseconds without an event, running transfers that share connections are looked at once more.
  ///
  /// A transfer that reads another one's response wakes it by a timer that is due at once. Before 8.16 libcurl can
  /// drop such timers unserved: `curl_multi_perform` drops what is due when it ends, by a clock that starting a
  /// transfer has set forward (curl#17883 did away with them). The response then lies in libcurl's own buffer, and
  /// its socket has nothing more to say.
  static let secondLook: Int64 = 5
  /// Milliseconds of one wait at most.
  static let longest: Int64 = 60_000
}
