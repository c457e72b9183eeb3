// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DnsctlCommands

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite struct `Standard streams` {
  private func openPipe() -> (reading: Int32, writing: Int32) {
    // A closed pipe is to be an error here, as `CommandSignals.prepare` has it.
    signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [0, 0]
    #expect(unsafe pipe(&ends) == 0)
    return (ends[0], ends[1])
  }

  @Test func `a pipe's reader sees what was written at once`() async throws {
    let (reading, writing) = openPipe()
    defer { _ = (close(reading), close(writing)) }
    try DescriptorOutput(descriptor: writing).write("192.0.2.1\n")
    #expect(try await DescriptorInput(descriptor: reading).read() == Array("192.0.2.1\n".utf8))
  }

  @Test func `more than a pipe holds is written piece by piece, blocking or not`() async throws {
    for isBlocking in [true, false] {
      let (reading, writing) = openPipe()
      if !isBlocking { #expect(fcntl(writing, F_SETFL, O_NONBLOCK) == 0) }
      let text = String(repeating: "0123456789abcde\n", count: 40_000)
      async let read = Self.readAll(reading)
      try await Task.detached { try DescriptorOutput(descriptor: writing).write(text) }.value
      close(writing)
      #expect(try await read == Array(text.utf8))
      close(reading)
    }
  }

  @Test func `a closed pipe is told from other failures`() {
    let (reading, writing) = openPipe()
    close(reading)
    #expect(throws: StreamError.closedPipe) { try DescriptorOutput(descriptor: writing).write("x") }
    close(writing)
    #expect(throws: StreamError.failed("Bad file descriptor")) {
      try DescriptorOutput(descriptor: -1).write("x")
    }
  }

  private static func readAll(_ descriptor: Int32) async throws -> [UInt8] {
    var all: [UInt8] = []
    while true {
      let part = try await DescriptorInput(descriptor: descriptor).read()
      if part.isEmpty { return all }
      all += part
    }
  }
}
