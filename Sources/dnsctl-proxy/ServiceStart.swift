// SPDX-License-Identifier: Apache-2.0
internal import DnsctlCommands

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Starts a program so that the variables by which systemd means one process (sd_listen_fds(3),
/// sd_watchdog_enabled(3)) mean the program, and not dnsctl.
///
/// They hold a process id, which a program has only once it has been started. So this program is started once more, in
/// the program's process, changes them and becomes the program.
enum ServiceStart {
  /// Variables that hold the id of the process they are meant for.
  private static let names = ["LISTEN_PID", "WATCHDOG_PID"]
  /// Another name for that process, which would be wrong; without it the id alone counts.
  private static let otherName = "LISTEN_PIDFDID"
  /// The argument by which this program knows that it is to become another one.
  private static let word = Array("--become-program".utf8)

  /// Whether a variable means a process.
  static func isNeeded(_ environment: [[UInt8]], process: pid_t) -> Bool {
    environment.contains { variable in names.contains { variable == Array("\($0)=\(process)".utf8) } }
  }

  /// The words by which this program is started in place of a program and its arguments.
  static func words(for program: [[UInt8]]) -> [[UInt8]] { [Array("/proc/self/exe".utf8), word] + program }

  /// Variables, each `NAME=VALUE`, that mean one process in place of another: a pure function.
  static func variables(_ inherited: [[UInt8]], for process: pid_t, insteadOf other: pid_t) -> [[UInt8]] {
    inherited.filter { !$0.starts(with: "\(otherName)=".utf8) }.map { variable in
      for name in names where variable == Array("\(name)=\(other)".utf8) { return Array("\(name)=\(process)".utf8) }
      return variable
    }
  }

  /// Becomes the program that the arguments name, or ends, if this process was started for that; else returns.
  static func becomeProgram() {
    let words = ProcessArguments.shown
    guard words.first == word else { return }
    let program = Array(words.dropFirst())
    let environment = variables(ProcessArguments.environment, for: getpid(), insteadOf: getppid())
    let failure = ChildProcess.Failure(replaceProcess(program, environment), of: program.first ?? [], environment)
    CommandContext.process().reportError(failure.message(for: program.first ?? []))
    _exit(failure.status)
  }

  /// Replaces this process; returns only if that fails, with why as posix_spawnp(3) says it.
  ///
  /// Not execvp(3), which takes a file that cannot be run for a script.
  private static func replaceProcess(_ program: [[UInt8]], _ environment: [[UInt8]]) -> Int32 {
    guard let name = program.first, !name.isEmpty else { return ENOENT }
    var code = ENOENT
    for place in SearchPath(environment).places(of: name) {
      let error = unsafe CStrings([place]).withPointers { place in
        unsafe CStrings(program).withPointers { arguments in
          unsafe CStrings(environment).withPointers { variables in
            _ = unsafe place[0].map { unsafe execve($0, arguments, variables) }
            return errno
          }
        }
      }
      switch error {
      case ENOENT, ENOTDIR: break
      case EACCES: code = EACCES
      default: return error
      }
    }
    return code
  }
}
