// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Ends the servers and removes their files when the test process has gone, even by a crash or SIGKILL.
///
/// A shell reads from a pipe that only this process holds open: whatever becomes of the process, the pipe
/// closes. `PR_SET_PDEATHSIG` would not do, for it watches the thread that started the child, and the threads
/// of Swift's pool come and go.
actor Lifeline {
  static let shared = Lifeline()

  private var pipe: FileHandle?

  /// Interrupts reach every process of the terminal; this one has to outlive them.
  private static let script = """
    trap '' INT TERM HUP
    servers=
    while read -r verb server; do
      case $verb in
      start) servers="$servers $server" ;;
      end)
        rest=
        for other in $servers; do [ "$other" = "$server" ] || rest="$rest $other"; done
        servers=$rest
        ;;
      esac
    done
    for server in $servers; do kill -KILL "$server"; done
    rm -rf -- "$1"
    """

  func watch(_ server: pid_t) throws {
    try tell("start \(server)")
  }

  func forget(_ server: pid_t) throws {
    try tell("end \(server)")
  }

  private func tell(_ line: String) throws {
    try opened().write(contentsOf: Data("\(line)\n".utf8))
  }

  private func opened() throws -> FileHandle {
    if let pipe { return pipe }
    let new = Pipe()
    // A server that inherited this end would hold the line open for itself.
    _ = fcntl(new.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    let shell = Process()
    shell.executableURL = URL(filePath: "/bin/sh")
    shell.arguments = ["-c", Self.script, "lifeline", ServerFixture.folder.path]
    shell.standardInput = new
    // Whoever waits for the end of the run's output must not wait for the shell.
    shell.standardOutput = FileHandle.nullDevice
    shell.standardError = FileHandle.nullDevice
    try ServerFixture.launch(shell)
    pipe = new.fileHandleForWriting
    return new.fileHandleForWriting
  }
}
