// SPDX-License-Identifier: Apache-2.0
import Foundation

/// One server program on loopback, started and ended as often as a test likes, on the same ports.
actor ServerProcess {
  private let program: String
  private let arguments: [String]
  private let folder: URL
  private let ports: [UInt16]
  private var running: (process: Process, ended: AsyncStream<Void>)?

  /// - Parameters:
  ///   - program: The path of the program.
  ///   - arguments: What makes it stay in the foreground and read its files from `folder`.
  ///   - folder: Where it runs, and where its output goes.
  ///   - ports: The TCP ports that accept connections once it is ready.
  init(program: String, arguments: [String], folder: URL, ports: [UInt16]) {
    self.program = program
    self.arguments = arguments
    self.folder = folder
    self.ports = ports
  }

  private var log: URL { folder.appending(path: "log") }

  /// Starts the server and returns when it accepts connections.
  func start() async throws {
    precondition(running == nil, "the server runs already")
    try Data().write(to: log)
    let output = try FileHandle(forWritingTo: log)
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = output
    let (ended, continuation) = AsyncStream.makeStream(of: Void.self)
    process.terminationHandler = { _ in continuation.finish() }
    try ServerFixture.launch(process)
    running = (process, ended)
    try await Lifeline.shared.watch(process.processIdentifier)
    try await becomeReady(process)
  }

  /// Ends the server as its operator would.
  func stop() async throws {
    resume()
    // One that does not listen is ended all the same: a test must not hang on it.
    let impatience = Task { [running] in
      try await Task.sleep(for: .seconds(5))
      if let running { ServerFixture.send(SIGKILL, to: running.process) }
    }
    try await end(by: SIGTERM)
    impatience.cancel()
  }

  /// Ends the server as a power failure would: connections break, nothing is said.
  func kill() async throws {
    try await end(by: SIGKILL)
  }

  /// Lets the server answer nothing for a while: its connections stand, and new ones are accepted by the kernel.
  ///
  /// Returns when all of its threads stand still: on a busy machine that is a while after it was told to.
  ///
  /// - Throws: that it does not run, or that it does not stand still.
  func pause() async throws {
    guard let running, running.process.isRunning else { throw ServerFixture.Failure("\(program) does not run") }
    signal(SIGSTOP)
    try await Self.standStill(running.process.processIdentifier, program: program)
  }

  /// Waits until a process has been stopped.
  ///
  /// - Throws: that it has not, by then: what a test would see of it would be an accident.
  static func standStill(_ process: pid_t, program: String, within limit: Duration = .seconds(10)) async throws {
    let deadline = ContinuousClock.now + limit
    while true {
      let states = states(of: process)
      if states.allSatisfy({ $0 == "T" }) { return }
      guard ContinuousClock.now < deadline else {
        throw ServerFixture.Failure(
          "\(program) (process \(process)) was told to stop and did not within \(limit): its threads are \(states)")
      }
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  /// The state of each thread by proc(5), T for stopped; none where there is no such folder.
  private static func states(of process: pid_t) -> [String] {
    let tasks = "/proc/\(process)/task"
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
    return threads.compactMap { thread in
      // The state follows the program's name, which is in parentheses and may hold some itself.
      (try? String(contentsOfFile: "\(tasks)/\(thread)/stat", encoding: .utf8))?
        .split(separator: ")").last?.split(separator: " ").first.map(String.init)
    }
  }

  /// Lets a paused server go on.
  func resume() {
    signal(SIGCONT)
  }

  private func signal(_ number: Int32) {
    if let running { ServerFixture.send(number, to: running.process) }
  }

  private func end(by number: Int32) async throws {
    guard let running else { return }
    signal(number)
    for await _ in running.ended {}
    self.running = nil
    try await Lifeline.shared.forget(running.process.processIdentifier)
  }

  /// Servers do not say when they are ready: connecting is how a client would find out.
  private func becomeReady(_ process: Process) async throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while !ports.allSatisfy(LoopbackPort.accepts) {
      guard process.isRunning, ContinuousClock.now < deadline else {
        let log = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        let what = process.isRunning ? "did not become ready" : "ended with status \(process.terminationStatus)"
        try await kill()
        throw ServerFixture.Failure("\(program) \(what): \(log.suffix(2000))")
      }
      try await Task.sleep(for: .milliseconds(5))
    }
  }
}
