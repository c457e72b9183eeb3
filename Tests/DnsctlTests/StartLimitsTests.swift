// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DnsctlCommands

@Suite(.timeLimit(.minutes(1)))
struct StartLimitsTests {
  @Test func `a process that gets what it needs starts, again and again`() {
    for _ in 0..<20 { #expect(StartLimits.shortage(threads: StartLimits.threads) == nil) }
  }

  #if os(Linux)
    @Test(
      arguments: [
        ("ulimit -u 1", ["--version"], "ulimit -u"), ("ulimit -u 1", ["resolve", "localhost"], "ulimit -u"),
        ("ulimit -n 4", ["--version"], "ulimit -n"), ("ulimit -n 6", ["resolve", "localhost"], "ulimit -n"),
      ] as [(String, [String], String)])
    func `a limit under which nothing can run is told instead of a wait for ever`(
      _ limit: String, _ arguments: [String], _ said: String
    ) throws {
      let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      let program = URL(filePath: tests).deletingLastPathComponent().appending(path: "dnsctl").path
      let process = Process()
      // The limit of processes is not root's: another user, who need not exist, has it.
      let user = getuid() == 0 ? ["setpriv", "--reuid=60999", "--clear-groups"] : []
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = user + ["bash", "-c", "\(limit); exec \"$0\" \"$@\"", program] + arguments
      let errors = Pipe()
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      process.standardError = errors
      try process.run()
      let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      process.waitUntilExit()
      // That user may not reach the folder.
      guard !user.isEmpty, process.terminationStatus == 126 else {
        #expect(process.terminationStatus == 74 && text.contains(said), "\(process.terminationStatus): \(text)")
        return
      }
    }
  #endif
}
