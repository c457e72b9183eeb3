// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Signals, and the end of the process.
package enum CommandSignals {
  /// A write to a closed pipe becomes an error instead of a death, and an interrupt ends the process, even the first one
  /// of a container.
  static func prepare() {
    signal(SIGPIPE, SIG_IGN)
    let previous = signal(SIGINT) { _ in CommandSignals.dieOfInterrupt() }
    // Whoever started us deaf to interrupts, as shells do with jobs in the background, meant it.
    if unsafe unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
      signal(SIGINT, SIG_IGN)
    }
    // Where Swift's backtraces are on, its runtime tells of the signal and goes on.
    let quit = signal(SIGQUIT, SIG_DFL)
    if unsafe unsafeBitCast(quit, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(SIGQUIT, SIG_IGN) }
  }

  /// A hang-up ends the process no more: to one that goes on it is the wish to read its files again.
  static func ignoreHangUp() { signal(SIGHUP, SIG_IGN) }

  /// How long signals count as one: timeout(1) sends the same one twice at once, to a process and to its group.
  private static let together = DispatchTimeInterval.milliseconds(200)

  /// Waits for SIGINT or SIGTERM, which end the process no more by themselves; a second one does, unless it comes with the
  /// first.
  static func interruption() async -> ExitStatus? {
    let (signals, continuation) = AsyncStream.makeStream(of: ExitStatus.self)
    let heard = HeardSignals([SIGINT, SIGTERM]) { continuation.yield($0 == SIGINT ? .interrupted : .terminated) }
    let first = await signals.first { _ in true }
    DispatchQueue.global().asyncAfter(deadline: .now() + together) {
      heard.end()
      if heard.numbers.contains(SIGINT) { signal(SIGINT) { _ in CommandSignals.dieOfInterrupt() } }
      if heard.numbers.contains(SIGTERM) { signal(SIGTERM, SIG_DFL) }
    }
    return first
  }

  /// Does something around each stop that a terminal asks for (SIGTSTP), and before the ends that it brings: Ctrl-\
  /// (SIGQUIT) and its own (SIGHUP); from the return on.
  static func aroundStops(_ body: @escaping @Sendable (_ stop: () -> Void) -> Void) {
    _ = HeardSignals([SIGTSTP, SIGQUIT, SIGHUP]) { number in body { stop(by: number) } }
  }

  /// Stops the process, unless nobody is there who could have it go on, and returns when it does; or ends it.
  private static func stop(by number: Int32) {
    undergo(number)
    HeardSignals.hearAgain(number)
  }

  /// Has a signal do what it does by itself; returns if that is nothing, and after a stop.
  private static func undergo(_ number: Int32) {
    signal(number, SIG_DFL)
    var (only, before) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&only)
    unsafe sigaddset(&only, number)
    // Threads of a pool block signals, and a handler its own.
    unsafe pthread_sigmask(SIG_UNBLOCK, &only, &before)
    raise(number)
    unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
  }

  /// Ends the process.
  ///
  /// Everything is written by now; `exit` would run the destructors of libraries whose threads are
  /// still at work.
  package static func end(_ status: ExitStatus) -> Never {
    if status == .interrupted { dieOfInterrupt() }
    _exit(status.rawValue)
  }

  /// Dies of SIGINT, which shells tell as 130: they end a loop or a script for it, and go on when a program only says so.
  private static func dieOfInterrupt() -> Never {
    undergo(SIGINT)
    _exit(ExitStatus.interrupted.rawValue)
  }
}
