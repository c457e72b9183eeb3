// SPDX-License-Identifier: Apache-2.0
import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The ground the real servers stand on: a folder of their own, a certificate, and free ports.
enum ServerFixture {
  /// What went wrong with a server or a tool, in words.
  struct Failure: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
      self.description = description
    }
  }

  /// Whether this run vouches for the code (`CI` is set, and not empty): what is missing is then a failure.
  static let isVouching = ProcessInfo.processInfo.environment["CI"].map { !$0.isEmpty } ?? false

  /// The programs and modules that the suite needs and this machine lacks.
  static let missing: [String] = {
    var missing = ["unbound", "named", "dnsdist", "nginx", "openssl", "curl"].filter { path(of: $0) == nil }
    if Nginx.scriptModule == nil { missing.append("ngx_http_js_module.so") }
    return missing
  }()

  /// Debian keeps servers where an ordinary user's `PATH` does not lead.
  static func path(of program: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    return (folders + ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin"])
      .map { "\($0)/\(program)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// The folder of this run; the ``Lifeline`` removes it when the test process has gone, however it went.
  static let folder: URL = {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "directdns-lab-\(getpid())-\(UInt32.random(in: 0 ... .max))")
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      preconditionFailure("no temporary folder: \(error)")
    }
    return folder
  }()

  /// A new empty folder for one server.
  static func newFolder(_ name: String) throws -> URL {
    let folder = folder.appending(path: "\(name)-\(UInt32.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// The program to start for a server whose configuration lies in `folder`.
  ///
  /// Debian's AppArmor profiles keep unbound and named to their own folders under `/etc` and `/var`. A profile
  /// belongs to a path: where AppArmor is on, a copy of the program runs that can read the temporary files.
  static func server(_ program: String, copiedTo folder: URL) throws -> String {
    guard let installed = path(of: program) else { throw Failure("\(program) is not installed") }
    let confined = try? String(contentsOfFile: "/sys/module/apparmor/parameters/enabled", encoding: .utf8)
    guard confined?.hasPrefix("Y") == true else { return installed }
    let copy = folder.appending(path: program).path
    try FileManager.default.copyItem(atPath: installed, toPath: copy)
    return copy
  }

  /// A program that the package manager builds beside the tests.
  static func product(_ name: String) -> URL {
    #if os(Linux)
      let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    #else
      let tests = Bundle(for: Member.self).bundlePath
    #endif
    return URL(filePath: tests).deletingLastPathComponent().appending(path: name)
  }

  /// Starts a process that hears signals.
  ///
  /// The threads of Swift's pool block every signal, and a child inherits that from the thread that starts it:
  /// it would not hear SIGTERM.
  static func launch(_ process: Process) throws {
    var none = sigset_t()
    var before = sigset_t()
    unsafe sigemptyset(&none)
    unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    try process.run()
    // The child has its own of them, and Foundation keeps ours with the process, which it forgets late: with 1 300 open files
    // its search for open ones (`/proc/self/fd`) reads beyond the end of a buffer.
    for stream in [process.standardInput, process.standardOutput, process.standardError] {
      // Those of the tests themselves stand for one that was not set.
      guard let file = stream as? FileHandle, file !== FileHandle.nullDevice, file.fileDescriptor > STDERR_FILENO else {
        continue
      }
      // A terminal's other end is gone when nobody has this one open.
      var status = stat()
      let isFile = unsafe fstat(file.fileDescriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      if isFile { try? file.close() }
    }
  }

  /// Sends a signal, if the process is still there.
  static func send(_ signal: Int32, to process: Process) {
    if process.isRunning { _ = kill(process.processIdentifier, signal) }
  }

  /// Runs a program to its end.
  ///
  /// - Returns: Its exit status and what it wrote to standard output.
  static func run(_ program: String, _ arguments: [String]) async throws -> (status: Int32, output: Data) {
    guard let path = path(of: program) else { throw Failure("\(program) is not installed") }
    let output = try newFolder("run").appending(path: "output")
    try Data().write(to: output)
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = FileHandle.nullDevice
    let (ended, continuation) = AsyncStream.makeStream(of: Int32.self)
    process.terminationHandler = { process in
      continuation.yield(process.terminationStatus)
      continuation.finish()
    }
    try launch(process)
    var status: Int32 = -1
    for await value in ended { status = value }
    return (status, try Data(contentsOf: output))
  }
}
