// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Dispatch
internal import DnsctlCommands

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Passes the signals that this process gets on to a program; listens before the program starts, so that none is lost.
///
/// Once the program has ended, while its answers are stored, signals mean this process: a second one ends it at once.
final class SignalRelay: Sendable {
  /// What a fault of our own raises (signal(7)), what our own children, pipes and files do, and what nobody can catch.
  private static let own: Set<Int32> = {
    var own = [SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, SIGCHLD, SIGPIPE, SIGXFSZ, SIGKILL, SIGSTOP]
    #if canImport(Darwin)
      own.append(SIGEMT)
    #endif
    return Set(own)
  }()

  /// All others, which are for the program: Linux has 64 signals, half of them for real time, Darwin 31.
  ///
  /// SIGABRT is among them, by which systemd ends a service whose watchdog was not fed.
  static let passedOn: [Int32] = {
    #if canImport(Darwin)
      let last: Int32 = 31
    #else
      let last: Int32 = 64
    #endif
    return (1...last).filter { !own.contains($0) }
  }()

  /// What the kernel sends to a whole process group at a terminal, to the foreground's or to one in the background that
  /// reads or writes: the program has it already, and a second one would stop it once more when it has been continued.
  private static let toGroup: Set<Int32> = {
    var signals = [SIGINT, SIGQUIT, SIGWINCH, SIGTSTP, SIGTTIN, SIGTTOU]
    #if canImport(Darwin)
      signals.append(SIGINFO)
    #endif
    return Set(signals)
  }()

  /// What asks a process to end.
  static let ending: Set<Int32> = [SIGHUP, SIGINT, SIGQUIT, SIGTERM]

  /// What a signal does.
  enum Effect: Equatable {
    case nothing
    case goes(to: pid_t)
    /// It ends this process.
    case ends
  }

  /// Whom signals mean; decides what each one does.
  enum State {
    /// The program, which has yet to begin, with those that came before it.
    case beginning([Int32])
    case running(pid_t)
    /// This process.
    case ended(EndRequests)

    /// A signal has come, at a time of the monotonic clock in nanoseconds.
    mutating func take(_ number: Int32, from sender: SignalListener.Sender, at now: UInt64) -> Effect {
      switch self {
      case .ended(var requests):
        guard SignalRelay.ending.contains(number) else { return .nothing }
        let meaning = requests.take(at: now)
        self = .ended(requests)
        return meaning == .second ? .ends : .nothing
      case _ where sender == .kernel && SignalRelay.toGroup.contains(number): return .nothing
      case .beginning(let early):
        self = .beginning(early + [number])
        return .nothing
      case .running(let program): return .goes(to: program)
      }
    }
  }

  private let state: Locked<State>
  private let signals: SignalListener
  /// The signals that are passed on; without those that our parent made us ignore.
  var heard: [Int32] { signals.numbers }

  /// Starts to listen; returns when every signal is listened to.
  init() {
    let state = Locked(State.beginning([]))
    self.state = state
    signals = SignalListener(Self.passedOn) { Self.pass($0, from: $1, state) }
  }

  /// Passes signals on to a program from now on, starting with those that came before.
  func begin(_ program: pid_t) {
    state.withLock { state in
      if case .beginning(let early) = state { for number in early { kill(program, number) } }
      state = .running(program)
    }
  }

  /// The program was stopped, as by Ctrl-Z: as a shell's job this process stops as well, since the shell watches this one.
  func programStopped(by number: Int32) {
    guard [SIGTSTP, SIGTTIN, SIGTTOU].contains(number), Self.isJob else { return }
    // Behind what is to be passed on: what came later would stop the program when it has been continued. By SIGSTOP,
    // since the terminal's own signal may be under way, and would stop this process a second time.
    SignalListener.afterSignals { kill(getpid(), SIGSTOP) }
  }

  /// Passes nothing on from now on, if the program has ended.
  ///
  /// Whoever reaps it does so in `hasEnded`, while nothing is passed on: from then on another process may have its id.
  func end(_ hasEnded: () -> Bool = { true }) {
    state.withLock { state in
      guard hasEnded() else { return }
      if case .ended = state { return }
      state = .ended(EndRequests())
    }
  }

  private static func pass(_ number: Int32, from sender: SignalListener.Sender, _ state: Locked<State>) {
    let effect = state.withLock { state in
      let effect = state.take(number, from: sender, at: DispatchTime.now().uptimeNanoseconds)
      // Before anybody can reap it.
      if case .goes(let program) = effect { kill(program, number) }
      return effect
    }
    if effect == .ends { CommandSignals.end(by: number) }
  }

  /// Whether the process that started us can continue us: one at the same terminal with another process group, as shells
  /// with job control are.
  private static var isJob: Bool {
    let terminal = unsafe open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return false }
    close(terminal)
    return getsid(getppid()) == getsid(0) && getpgid(getppid()) != getpgrp()
  }
}
