// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

#if os(Linux)
  @Suite(.timeLimit(.minutes(1)))
  struct FileLimitTests {
    @Test func `a command may open as many files as the hard limit allows, whatever the soft one is`() throws {
      let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      let program = URL(filePath: tests).deletingLastPathComponent().appending(path: "dnsctl").path
      let (input, output) = (Pipe(), Pipe())
      let process = Process()
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments = [
        "-c", "ulimit -Sn 100; ulimit -Hn 500; exec \"$@\"", "sh", program, "resolve", "--no-system", "-",
      ]
      process.standardInput = input
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
      try input.fileHandleForWriting.write(contentsOf: Data("localhost\n".utf8))
      // It answers, so it has begun, and waits for the next name.
      #expect(!output.fileHandleForReading.availableData.isEmpty)
      let limits = try String(contentsOfFile: "/proc/\(process.processIdentifier)/limits", encoding: .utf8)
      let line = limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }
      #expect(line?.split(separator: " ").dropFirst(3).prefix(2) == ["500", "500"])
      try input.fileHandleForWriting.close()
      process.waitUntilExit()
    }
  }
#endif
