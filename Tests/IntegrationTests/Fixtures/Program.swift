// SPDX-License-Identifier: Apache-2.0
import Foundation

/// `dnsctl` as its users run it: a process of its own.
///
/// It is the one that `DIRECTDNS_DNSCTL` names, such as the release build, else the one that was built beside the tests.
struct Program {
  /// What a run came to.
  struct Outcome: CustomStringConvertible {
    /// The exit status, or less than 0: the number of the signal that ended it.
    var status: Int32
    var output: String
    var errors: String

    var description: String { "status \(status)\n\(output)\(errors)" }
  }

  static let url: URL =
    ProcessInfo.processInfo.environment["DIRECTDNS_DNSCTL"].map { URL(filePath: $0) } ?? ServerFixture.product("dnsctl")

  /// Where it runs, and its home.
  let folder: URL

  init() throws { folder = try ServerFixture.newFolder("program") }

  /// Runs it to its end, with nothing of the user's environment that would change what it does.
  func run(
    _ arguments: [String], input: String = "", environment: [String: String] = [:]
  ) async throws -> Outcome {
    let run = try ServerFixture.newFolder("run")
    let (standardInput, output, errors) = (
      run.appending(path: "in"), run.appending(path: "out"), run.appending(path: "errors")
    )
    try Data(input.utf8).write(to: standardInput)
    try Data().write(to: output)
    try Data().write(to: errors)
    let process = Process()
    process.executableURL = Self.url
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.environment = environment.merging(["PATH": "/usr/bin:/bin", "HOME": folder.path]) { own, _ in own }
    process.standardInput = try FileHandle(forReadingFrom: standardInput)
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    let (ended, continuation) = AsyncStream.makeStream(of: Int32.self)
    process.terminationHandler = { process in
      let status = process.terminationStatus
      continuation.yield(process.terminationReason == .uncaughtSignal ? -status : status)
      continuation.finish()
    }
    try ServerFixture.launch(process)
    let status = await ended.first { _ in true } ?? -1
    return Outcome(
      status: status, output: try String(contentsOf: output, encoding: .utf8),
      errors: try String(contentsOf: errors, encoding: .utf8))
  }
}
