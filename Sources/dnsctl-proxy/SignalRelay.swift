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

/// Passes the signals that this process gets on to a program; listens before the program starts, so that none is lost.
final class SignalRelay: Sendable {
  private struct State {
    var program: pid_t?
    /// Signals that came before the program.
    var early: [Int32] = []
  }

  private let state: Locked<State>
  private let signals: SignalListener
  /// The signals that are passed on; without those that our parent made us ignore.
  var heard: [Int32] { signals.numbers }

  /// Starts to listen; returns when every signal is listened to.
  init() {
    let state = Locked(State())
    self.state = state
    signals = SignalListener([
      SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT,
    ]) { Self.pass($0, state) }
  }

  /// Passes signals on to a program from now on, starting with those that came before.
  func begin(_ program: pid_t) {
    let early = state.withLock { state in
      defer { state.early = [] }
      state.program = program
      return state.early
    }
    for number in early { kill(program, number) }
  }

  /// The program has ended: its process id may be reused.
  func end() {
    signals.end()
    state.withLock { $0 = State() }
  }

  private static func pass(_ number: Int32, _ state: Locked<State>) {
    // A signal that comes from the terminal has reached the whole foreground process group already.
    guard ![SIGINT, SIGQUIT, SIGWINCH].contains(number) || !isInForeground else { return }
    let program = state.withLock { state in
      if state.program == nil { state.early.append(number) }
      return state.program
    }
    if let program { kill(program, number) }
  }

  /// Whether we are in the foreground of our terminal, which need not be the standard input.
  private static var isInForeground: Bool {
    let terminal = unsafe open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return false }
    defer { close(terminal) }
    return tcgetpgrp(terminal) == getpgrp()
  }
}
