// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Programs that stay, and may open so few files that none is left.
@Suite(.timeLimit(.minutes(2)))
struct FewDescriptorsTests {
  /// What is started, and what it writes once it goes on for ever.
  struct Command: CustomTestStringConvertible, Sendable {
    var arguments: [String]
    var ready: String

    var testDescription: String { arguments[0] }
  }

  @Test(arguments: [
    Command(
      arguments: [
        "watch", "--provider", "doh+http://127.0.0.1:9/dns-query", "--no-system", "--interval", "60", "a.test",
      ],
      ready: "a.test"),
    Command(arguments: ["exec", "--", "sh", "-c", "echo ready; exec sleep 100"], ready: "ready"),
  ])
  func `a signal ends what goes on, however few files it may open`(_ command: Command) async throws {
    var lasting: [Int] = []
    for limit in 6...40 {
      let process = Process()
      let output = Pipe()
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments = ["-c", "ulimit -n \(limit); exec \"$0\" \"$@\"", Program.url.path] + command.arguments
      // A crash for lack of descriptors is told by nobody: telling takes seconds.
      process.environment = ["PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"]
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      let (ended, continuation) = AsyncStream.makeStream(of: Void.self)
      process.terminationHandler = { _ in continuation.finish() }
      try ServerFixture.launch(process)
      try await Lifeline.shared.watch(process.processIdentifier)
      var said = ""
      while !said.contains(command.ready) {
        let more = output.fileHandleForReading.availableData
        guard !more.isEmpty else { break }
        said += String(decoding: more, as: UTF8.self)
      }
      if said.contains(command.ready) {
        lasting.append(limit)
        ServerFixture.send(SIGTERM, to: process)
        let impatience = Task {
          try await Task.sleep(for: .seconds(20))
          Issue.record("with \(limit) descriptors it goes on")
          ServerFixture.send(SIGKILL, to: process)
        }
        for await _ in ended {}
        impatience.cancel()
      }
      for await _ in ended {}
      try await Lifeline.shared.forget(process.processIdentifier)
    }
    #expect(lasting.contains(40), "it goes on with \(lasting)")
  }
}
