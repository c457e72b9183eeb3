// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Runs the `dnsctl` that was built beside this program, as someone at a terminal would.
struct Dnsctl {
  /// Where it runs.
  let folder: URL
  let console: Console

  /// Prints the command and what it writes, standard output and standard error together, as a terminal shows them.
  func run(_ arguments: [String]) async throws -> (status: Int32, output: String) {
    console.command(Self.typed(arguments))
    let process = Process()
    process.executableURL = try Self.binary
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.environment = Self.environment
    process.standardInput = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    let (ended, continuation) = AsyncStream.makeStream(of: Int32.self)
    process.terminationHandler = { process in
      continuation.yield(process.terminationStatus)
      continuation.finish()
    }
    try Self.launch(process)
    // Some lines fit into the pipe: nothing waits for their reader.
    let status = await ended.first { _ in true } ?? -1
    let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    console.output(output)
    return (status, output)
  }

  private static var binary: URL {
    get throws {
      let own = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
      let binary = own.resolvingSymlinksInPath().deletingLastPathComponent().appending(path: "dnsctl")
      guard FileManager.default.isExecutableFile(atPath: binary.path) else {
        throw StoryError(
          "there is no \(binary.path). Build it first (swift build --product dnsctl), or run make demo.")
      }
      return binary
    }
  }

  /// The user's environment, less what would make dnsctl ask anyone else: its own settings and its configuration file.
  private static var environment: [String: String] {
    ProcessInfo.processInfo.environment.filter { key, _ in
      !key.hasPrefix("DIRECTDNS_") && !["HOME", "XDG_CONFIG_HOME"].contains(key)
    }
  }

  /// Starts a process that hears signals.
  ///
  /// The threads of Swift's pool block every signal, and a child inherits that from the thread that starts it.
  private static func launch(_ process: Process) throws {
    var none = sigset_t()
    var before = sigset_t()
    unsafe sigemptyset(&none)
    unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    try process.run()
  }

  /// The command as one types it: an option and its value stay together, and long lines go on below.
  private static func typed(_ arguments: [String]) -> String {
    var lines = ["dnsctl"]
    var isValue = false
    for argument in arguments {
      let takesValue = ["--provider", "--bootstrap", "--ca", "--allow", "--store"].contains(argument)
      if !isValue, (lines.last ?? "").count + argument.count > 75 || ["--provider", "--"].contains(argument) {
        lines.append("    \(argument)")
      } else {
        lines[lines.count - 1] += " \(argument)"
      }
      isValue = takesValue
    }
    return lines.joined(separator: " \\\n")
  }
}
