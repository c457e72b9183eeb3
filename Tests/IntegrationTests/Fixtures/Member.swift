// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A process of `StoreMember`, which the package manager builds beside the tests.
final class Member {
  private let process = Process()
  private let output = Pipe()

  init(_ arguments: String...) throws {
    process.executableURL = ServerFixture.product("StoreMember")
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    try ServerFixture.launch(process)
  }

  /// Waits for its first line.
  func line() async throws -> String {
    let output = output.fileHandleForReading
    return await Task.detached { String(decoding: output.availableData, as: UTF8.self) }.value
  }

  func kill() {
    ServerFixture.send(SIGKILL, to: process)
    process.waitUntilExit()
  }

  deinit { ServerFixture.send(SIGKILL, to: process) }
}
