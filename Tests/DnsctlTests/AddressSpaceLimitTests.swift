// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DnsctlCommands

@Suite(.timeLimit(.minutes(1)))
struct AddressSpaceLimitTests {
  static let isLimitable = ProcessInfo.processInfo.environment["DIRECTDNS_SANITIZER"] == nil

  @Test(
    arguments: [
      (1, 1), (100 << 20, 1), (1 << 30, 2), (3 << 30, 6), (4 << 30, 8), (1 << 40, 8), (UInt64(Int64.max), 8),
    ] as [(UInt64, Int32)])
  func `arenas take an eighth of the address space at most, and there is one at least`(
    _ bytes: UInt64, _ count: Int32
  ) {
    #expect(AddressSpaceLimit.arenas(under: bytes) == count)
  }

  #if os(Linux)
    @Test(.enabled(if: AddressSpaceLimitTests.isLimitable, "a sanitizer takes more than any limit leaves"))
    func `where address space for the threads lacks that is told, and with a little more dnsctl runs`() throws {
      // Too little for the loader at first. Stacks of nine threads, 18 MiB in all, lie between what it needs and enough.
      let (status, text) = try ran(
        "for size in $(seq 20000 4000 400000); do (ulimit -v $size; exec \"$0\" --version) && break; done")
      #expect(status == 0, "\(text)")
      #expect(text.contains("(ulimit -v)"), "\(text)")
    }

    @Test(.enabled(if: AddressSpaceLimitTests.isLimitable, "a sanitizer takes more than any limit leaves"))
    func `under a limit of address space stacks are no larger than they have to be`() throws {
      let (status, text) = try ran("ulimit -s 1048576; ulimit -v 2097152; exec \"$0\" --version")
      #expect(status == 0, "\(text)")
    }

    @Test(.enabled(if: AddressSpaceLimitTests.isLimitable, "a sanitizer takes more than any limit leaves"))
    func `under a limit of address space no thread sets any aside for an arena of its own`() throws {
      let (input, output) = (Pipe(), Pipe())
      let process = Process()
      let words = [try Self.program(), "resolve", "--no-system", "-"]
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments = ["-c", "ulimit -v 500000; exec \"$@\"", "sh"] + words
      process.standardInput = input
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
      try input.fileHandleForWriting.write(contentsOf: Data("localhost\n".utf8))
      // It answers, so its threads have begun, and waits for the next name.
      #expect(!output.fileHandleForReading.availableData.isEmpty)
      let maps = try String(contentsOfFile: "/proc/\(process.processIdentifier)/maps", encoding: .utf8)
      #expect(maps.split(separator: "\n").filter(isReserve).isEmpty)
      try input.fileHandleForWriting.close()
      process.waitUntilExit()
    }

    private static func program() throws -> String {
      let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      return URL(filePath: tests).deletingLastPathComponent().appending(path: "dnsctl").path
    }

    /// How a script ends whose first word is dnsctl, and what stands on its standard error.
    private func ran(_ script: String) throws -> (status: Int32, text: String) {
      let (process, errors) = (Process(), Pipe())
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = ["bash", "-c", script, try Self.program()]
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      process.standardError = errors
      try process.run()
      let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      process.waitUntilExit()
      return (process.terminationStatus, text)
    }

    /// Whether a line of proc_pid_maps(5) is the rest of an arena, which nobody may read or write yet.
    private func isReserve(_ line: Substring) -> Bool {
      let words = line.split(separator: " ")
      let bounds = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
      return words[1].hasPrefix("---") && bounds.count == 2 && bounds[1] - bounds[0] >= 32 << 20
    }
  #endif
}
