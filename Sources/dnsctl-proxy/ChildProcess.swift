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

/// A child process, at the same terminal and with the same standard streams.
struct ChildProcess: Sendable {
  /// Why it could not be started.
  enum Failure: Error, Equatable {
    case notFound
    /// It was not found either, but a folder of `PATH` may not be searched.
    case notSearched(folder: [UInt8])
    case notExecutable(String)
    /// It was started, but nobody tells how it ended.
    case lost(String)

    /// What posix_spawnp(3) says.
    init(_ code: Int32) {
      switch code {
      case ENOENT: self = .notFound
      // A shell, and execvp(3) by means of one, would run such a file as a script, even if it is a program for another
      // machine.
      case ENOEXEC:
        self = .notExecutable(
          "it is neither a program for this machine nor a script whose first line names its interpreter (#!/bin/sh)")
      default: self = .notExecutable(unsafe String(cString: strerror(code)))
      }
    }

    /// What posix_spawnp(3) says of a program.
    ///
    /// It says EACCES also if the program is nowhere, and a folder of `PATH` may not be searched: that is not what shells
    /// say.
    ///
    /// - Parameters:
    ///   - code: what it says.
    ///   - program: the program's name.
    ///   - path: the folders of `PATH`.
    ///   - error: finds out why there is no file with a path; 0 if there is one.
    init(_ code: Int32, of program: [UInt8], in path: SearchPath, error: ([UInt8]) -> Int32) {
      self.init(code)
      guard code == EACCES, !program.contains(UInt8(ascii: "/")) else { return }
      var closed: [UInt8]?
      for place in path.places(of: program) {
        switch error(place) {
        case 0: return
        case EACCES: closed = closed ?? Array(place.dropLast(program.count + 1))
        default: break
        }
      }
      self = closed.map { .notSearched(folder: $0) } ?? .notFound
    }

    /// What posix_spawnp(3) says of a program that gets these variables, each `NAME=VALUE`.
    init(_ code: Int32, of program: [UInt8], _ environment: [[UInt8]]) {
      self.init(code, of: program, in: SearchPath(environment), error: SearchPath.error)
    }

    /// What to say of it.
    func message(for program: [UInt8]) -> String {
      let name = String(decoding: program, as: UTF8.self).printable
      return switch self {
      case .notFound where name.isEmpty: "the program's name is empty: give one after --."
      case .notFound:
        "the program \(name) was not found, or the interpreter that it names was not: check both, and PATH."
      case .notSearched(let folder):
        "the program \(name) was not found, and \(String(decoding: folder, as: UTF8.self).printable) in PATH may not be "
          + "searched: check both."
      case .notExecutable(let reason): "\(name) cannot be run: \(reason)."
      case .lost(let reason): "the program \(name) was started, but how it ended is not known: \(reason)."
      }
    }

    /// The exit status that shells use for it.
    var status: Int32 {
      switch self {
      case .notFound, .notSearched: 127
      case .notExecutable: 126
      // As of env(1) and timeout(1) that have failed themselves.
      case .lost: 125
      }
    }
  }

  private let identifier: pid_t

  private let signals: SignalRelay

  /// Starts a program, which is searched for in `PATH`; signals are passed on to it from then on.
  ///
  /// - Parameters:
  ///   - words: its name and its arguments, byte for byte.
  ///   - environment: its variables, each `NAME=VALUE`.
  ///   - inherited: the descriptors that it gets; see ``InheritedDescriptors``.
  ///   - signals: what passes signals on to it.
  /// - Throws: why it could not be started.
  init(
    _ words: [[UInt8]], environment: [[UInt8]], _ inherited: InheritedDescriptors, signals: SignalRelay
  ) throws(Failure) {
    self.signals = signals
    #if canImport(Darwin)
      var attributes: posix_spawnattr_t?
    #else
      var attributes = posix_spawnattr_t()
    #endif
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // Pool threads block signals, and we ignore SIGPIPE and the signals that we pass on: the program must inherit
    // neither. It does inherit what our parent made us ignore, for example by nohup, and SIGPIPE as a service.
    let changed = signals.heard + (CommandSignals.inheritedIgnoredSIGPIPE ? [] : [SIGPIPE])
    var (defaults, blocked) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&defaults)
    for number in changed { unsafe sigaddset(&defaults, number) }
    unsafe sigemptyset(&blocked)
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    unsafe posix_spawnattr_setsigmask(&attributes, &blocked)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    ProcessPriority.take()
    Self.learnOfEnds()
    var child: pid_t = 0
    inherited.closeOthersOnExec()
    let started = ServiceStart.isNeeded(environment, process: getpid()) ? ServiceStart.words(for: words) : words
    let (arguments, variables) = (CStrings(started), CStrings(environment))
    let code = unsafe arguments.withPointers { arguments in
      unsafe variables.withPointers { variables in
        unsafe arguments[0].map { unsafe posix_spawnp(&child, $0, nil, &attributes, arguments, variables) } ?? ENOENT
      }
    }
    switch code {
    case 0:
      identifier = child
      signals.begin(child)
    default:
      throw Failure(code, of: words.first ?? [], environment)
    }
  }

  /// Waits for its end.
  ///
  /// - Throws: that nobody tells how it ended.
  func wait() async throws(Failure) -> Ending {
    let ending: Result<Ending, Failure> = await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [identifier, signals] in
        let ending = Result { () throws(Failure) in
          try Ending(of: identifier, reapsAll: getpid() == 1) {
            signals.end($0)
          } stopped: {
            signals.programStopped(by: $0)
          }
        }
        continuation.resume(returning: ending)
      }
    }
    return try ending.get()
  }
}
