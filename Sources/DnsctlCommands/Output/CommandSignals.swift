// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Signals, and the end of the process.
package enum CommandSignals {
  /// Whether our parent made us ignore SIGPIPE, as systemd has its services do (IgnoreSIGPIPE= of systemd.exec(5)).
  ///
  /// It is ignored from then on; ``prepare()`` is the first to ask, before SwiftNIO ignores it, too.
  package static let inheritedIgnoredSIGPIPE: Bool = {
    let previous = signal(SIGPIPE, SIG_IGN)
    return unsafe unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }()

  /// Makes writing to a closed pipe an error instead of a signal, and an interrupt end the process, even if it is the
  /// first one of a container.
  static func prepare() {
    _ = inheritedIgnoredSIGPIPE
    endProcess(at: SIGINT)
    // With Swift's backtraces on, its runtime reports the signal and goes on.
    endProcess(at: SIGQUIT)
  }

  /// Keeps a hang-up from ending the process: for one that keeps running it means to read its files again.
  static func ignoreHangUp() { signal(SIGHUP, SIG_IGN) }

  private static let together = DispatchTimeInterval.nanoseconds(Int(EndRequests.together))

  /// Waits for SIGINT or SIGTERM, which do not end the process by themselves; a second one does, unless it comes
  /// together with the first.
  static func interruption() async -> ExitStatus? {
    let (signals, continuation) = AsyncStream.makeStream(of: ExitStatus.self)
    let listener = SignalListener([SIGINT, SIGTERM]) { number, _ in
      continuation.yield(number == SIGINT ? .interrupted : .terminated)
    }
    let first = await signals.first { _ in true }
    DispatchQueue.global().asyncAfter(deadline: .now() + together) {
      listener.end()
      for number in listener.numbers { endProcess(at: number) }
    }
    return first
  }

  /// SIGINT and SIGTERM, which do not end the process by themselves.
  ///
  /// The first of them comes, and the second unless it is together with the first. A third ends the process.
  ///
  /// - Parameter hangUpEnds: whether SIGHUP is another of them, as where a terminal was closed.
  /// - Returns: their numbers.
  package static func interruptions(hangUpEnds: Bool) -> AsyncStream<Int32> {
    let (signals, continuation) = AsyncStream.makeStream(of: Int32.self)
    let requests = Mutex(EndRequests())
    let ending = [SIGINT, SIGTERM] + (hangUpEnds ? [SIGHUP] : [])
    _ = SignalListener(ending) { number, _ in
      switch requests.withLock({ $0.take(at: DispatchTime.now().uptimeNanoseconds) }) {
      case .repeated: return
      case .first: break
      case .second:
        for number in ending { endProcess(at: number) }
      }
      continuation.yield(number)
    }
    return signals
  }

  /// Has a signal end the process from now on, unless our parent made us ignore it, as shells do for background jobs.
  private static func endProcess(at number: Int32) {
    let previous =
      if number == SIGINT {
        signal(number) { _ in CommandSignals.end(by: SIGINT) }
      } else {
        signal(number, SIG_DFL)
      }
    if unsafe unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(number, SIG_IGN) }
  }

  /// Sets what is done around each stop by the terminal (SIGTSTP), and before its Ctrl-\ (SIGQUIT) or hang-up (SIGHUP)
  /// ends the process.
  static func onTerminalStop(_ body: @escaping @Sendable (_ stop: () -> Void) -> Void) {
    _ = SignalListener([SIGTSTP, SIGQUIT, SIGHUP]) { number, _ in body { stop(by: number) } }
  }

  /// Stops the process, unless nobody could continue it, and returns when it is continued; or ends it.
  private static func stop(by number: Int32) {
    raiseWithDefaultAction(number)
    SignalListener.listenAgain(number)
  }

  /// Raises a signal with its default action; returns if that is nothing, and after a stop.
  private static func raiseWithDefaultAction(_ number: Int32) {
    signal(number, SIG_DFL)
    var (only, before) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&only)
    unsafe sigaddset(&only, number)
    // Pool threads block signals, and a handler blocks its own.
    unsafe pthread_sigmask(SIG_UNBLOCK, &only, &before)
    raise(number)
    unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
  }

  /// Ends the process.
  ///
  /// Everything is written by now; `exit` would run the destructors of libraries whose threads are still running.
  package static func end(_ status: ExitStatus) -> Never {
    // Shells report it as 130 too, but end a loop or a script only if the signal has ended the program.
    if status == .interrupted { end(by: SIGINT) }
    end(with: status.rawValue)
  }

  /// Ends the process with an exit status of the argument parser's.
  package static func end(with status: Int32) -> Never { _exit(status) }

  /// Ends the process by a signal, as if it had not been listened to.
  package static func end(by number: Int32) -> Never {
    raiseWithDefaultAction(number)
    // The first process of a container does not die of it.
    _exit(128 + number)
  }
}
