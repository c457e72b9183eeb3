// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import DnsctlCommands

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Signals that whoever sends them to us means for a program: listened to before it begins, so that none is lost.
final class SignalRelay: Sendable {
  private struct State {
    var program: pid_t?
    /// What came before the program.
    var early: [Int32] = []
  }

  private let state: Locked<State>
  private let signals: HeardSignals
  /// Those that are passed on; whoever started us deaf to others meant it.
  var heard: [Int32] { signals.numbers }

  /// Begins to listen; done when every signal is heard.
  init() {
    let state = Locked(State())
    self.state = state
    signals = HeardSignals([
      SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT,
    ]) { Self.pass($0, state) }
  }

  /// Passes on to a program from now on, and first what came before it.
  func begin(_ program: pid_t) {
    let early = state.withLock { state in
      defer { state.early = [] }
      state.program = program
      return state.early
    }
    for number in early { kill(program, number) }
  }

  /// The program has ended: its number may be another's.
  func end() {
    signals.end()
    state.withLock { $0 = State() }
  }

  private static func pass(_ number: Int32, _ state: Locked<State>) {
    // What is pressed at a terminal all of its foreground has heard already.
    guard ![SIGINT, SIGQUIT, SIGWINCH].contains(number) || !isInForeground else { return }
    let program = state.withLock { state in
      if state.program == nil { state.early.append(number) }
      return state.program
    }
    if let program { kill(program, number) }
  }

  /// Whether we are in the foreground of our terminal, which need not be what standard input is.
  private static var isInForeground: Bool {
    let terminal = unsafe open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return false }
    defer { close(terminal) }
    return tcgetpgrp(terminal) == getpgrp()
  }
}
