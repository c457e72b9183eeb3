// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation

@testable import Demo

/// A machine for the blocks of a page: a home of its own, the programs in `PATH`, and servers on loopback.
final class PageFixture {
  let folder: URL
  var environment: [String: String]
  /// Ports of the pages, and those that stand for them here.
  var ports: [String: Int] = [:]
  private var ends: [() async -> Void] = []
  /// The demonstration's servers, where a set-up has them.
  private(set) var stage: Stage?

  init() async throws {
    folder = try ServerFixture.newFolder("page")
    let programs = folder.appending(path: "bin")
    try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
    for (name, program) in [
      ("dnsctl", Program.url), ("Demo", ServerFixture.product("Demo")), ("Pipeline", ServerFixture.product("Pipeline")),
    ] {
      try FileManager.default.createSymbolicLink(at: programs.appending(path: name), withDestinationURL: program)
    }
    environment = ["PATH": "\(programs.path):/usr/bin:/bin", "HOME": folder.path]
  }

  /// What `Demo --serve` prints, without asking a second provider when a busy machine makes the first one slow.
  func serve() async throws {
    let serving = try await Serving(console: Console(), stage: Stage(), shop: Shop())
    let stage = serving.stage
    self.stage = stage
    for (key, value) in serving.environment { environment[key] = value }
    try write("{ hedging: false }", to: ".config/directdns/config.json5")
    behind {
      await stage.doh.stop()
      await stage.json.stop()
      await serving.shop.origin.stop()
    }
  }

  func behind(_ end: @escaping () async -> Void) { ends.append(end) }

  func end() async { for end in ends.reversed() { await end() } }

  func write(_ text: String, to name: String) throws {
    let file = folder.appending(path: name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
  }

  /// What a shell writes on both streams, as a terminal shows them.
  func run(_ command: String) async throws -> String {
    // Each command has a shell of its own: what is exported holds from here on.
    if let variable = command.wholeMatch(of: #/export (\w+)=(\S+)( +#.*)?/#) {
      environment[String(variable.1)] = String(variable.2)
      return ""
    }
    let output = folder.appending(path: ".output")
    try Data().write(to: output)
    let process = Process()
    process.executableURL = URL(filePath: "/bin/bash")
    let command = ports.reduce(command) { $0.replacing(":\($1.key)/", with: ":\($1.value)/") }
    process.arguments = ["-c", "exec 2>&1\n\(command)"]
    process.currentDirectoryURL = folder
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = FileHandle.nullDevice
    let (ended, continuation) = AsyncStream.makeStream(of: Void.self)
    process.terminationHandler = { _ in continuation.yield() }
    try ServerFixture.launch(process)
    _ = await ended.first { true }
    // The pages' reader is called Ada.
    return try String(contentsOf: output, encoding: .utf8).replacing(folder.path, with: "/home/ada")
  }
}
