// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

extension ChildProcess {
  /// How a program ended.
  enum Ending {
    case exited(Int32)
    case died(signal: Int32)

    /// Its exit status; 128 and the signal's number if one ended it, as in shells.
    var status: Int32 {
      switch self {
      case .exited(let status): status
      case .died(let signal): 128 + signal
      }
    }

    /// Whether a signal ended it that asks a process to end.
    var isWanted: Bool { if case .died(let signal) = self { SignalRelay.ending.contains(signal) } else { false } }
  }

  /// Has the kernel tell how a child ends.
  ///
  /// Whoever starts us may ignore SIGCHLD, which we and the program inherit: then the kernel keeps no status
  /// (waitpid(2)). As with timeout(1), the program gets the default action, too.
  static func learnOfEnds() { signal(SIGCHLD, SIG_DFL) }
}

extension ChildProcess.Ending {
  /// Waits for the end of a program, and blocks the thread.
  ///
  /// - Parameters:
  ///   - program: its process id.
  ///   - reapsAll: whether all other children that end are let go: the first process of a container gets every process
  ///     there that has lost its parent.
  ///   - reaping: calls its argument, which reaps a child and returns whether that was the program, while nobody sends
  ///     signals to the program.
  ///   - stopped: called with the signal each time that the program was stopped.
  /// - Throws: that nobody tells how it ended.
  init(
    of program: pid_t, reapsAll: Bool, reaping: (_ reap: () -> Bool) -> Void, stopped: (Int32) -> Void
  ) throws(ChildProcess.Failure) {
    while true {
      var information = unsafe siginfo_t()
      // Leaves the child to be reaped, and so its process id to it.
      let wait = unsafe waitid(reapsAll ? P_ALL : P_PID, id_t(program), &information, WEXITED | WSTOPPED | WNOWAIT)
      if wait < 0, errno != EINTR { throw .lost(unsafe String(cString: strerror(errno))) }
      var (child, status): (pid_t, Int32) = (0, 0)
      // The bits that WIFSTOPPED and WTERMSIG look at, which are macros.
      reaping {
        child = unsafe waitpid(reapsAll ? -1 : program, &status, WUNTRACED | WNOHANG)
        return child == program && status & 0x7f != 0x7f
      }
      guard child == program else { continue }
      switch status & 0x7f {
      case 0: self = .exited(status >> 8 & 0xff)
      case 0x7f:
        stopped(status >> 8 & 0xff)
        continue
      case let signal: self = .died(signal: signal)
      }
      return
    }
  }
}
