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
    ///   - path: the value of `PATH`.
    ///   - error: finds out why there is no file with a path; 0 if there is one.
    init(_ code: Int32, of program: [UInt8], in path: [UInt8], error: ([UInt8]) -> Int32) {
      self.init(code)
      let slash = UInt8(ascii: "/")
      guard code == EACCES, !program.contains(slash) else { return }
      var closed: [UInt8]?
      for folder in path.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false) {
        switch error(folder.isEmpty ? program : folder + [slash] + program) {
        case 0: return
        case EACCES: closed = closed ?? Array(folder)
        default: break
        }
      }
      self = closed.map { .notSearched(folder: $0) } ?? .notFound
    }

    /// What to say of it.
    func message(for program: [UInt8]) -> String {
      let name = String(decoding: program, as: UTF8.self).printable
      return switch self {
      case .notFound where name.isEmpty: "the program's name is empty: give one after --"
      case .notFound:
        "the program \(name) was not found, or the interpreter that it names was not: check both, and PATH"
      case .notSearched(let folder):
        "the program \(name) was not found, and \(String(decoding: folder, as: UTF8.self).printable) in PATH may not be "
          + "searched: check both"
      case .notExecutable(let reason): "\(name) cannot be run: \(reason)"
      }
    }

    /// The exit status that shells use for it.
    var status: Int32 {
      switch self {
      case .notFound, .notSearched: 127
      case .notExecutable: 126
      }
    }
  }

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
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // Pool threads block signals, and we ignore SIGPIPE and the signals that we pass on: the program must inherit
    // neither. It does inherit what our parent made us ignore, for example by nohup.
    var (defaults, blocked) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&defaults)
    for number in signals.heard + [SIGPIPE] { unsafe sigaddset(&defaults, number) }
    unsafe sigemptyset(&blocked)
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    unsafe posix_spawnattr_setsigmask(&attributes, &blocked)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    ProcessPriority.take()
    var child: pid_t = 0
    inherited.closeOthersOnExec()
    let (arguments, variables) = (CStrings(words), CStrings(environment))
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
      let path = environment.first { $0.starts(with: "PATH=".utf8) }.map { Array($0.dropFirst(5)) }
      throw Failure(code, of: words.first ?? [], in: path ?? Array("/bin:/usr/bin".utf8), error: Self.fileError)
    }
  }

  /// Why there is no file with that path, by errno(3); 0 if there is one, which a folder is not.
  private static func fileError(_ path: [UInt8]) -> Int32 {
    var info = stat()
    let code = unsafe CStrings([path]).withPointers { unsafe $0[0].map { unsafe stat($0, &info) == 0 ? 0 : errno } }
    return code == 0 && info.st_mode & S_IFMT == S_IFDIR ? ENOENT : code ?? ENOENT
  }

  /// Waits for its end.
  func wait() async -> Ending {
    let status = await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [identifier] in
        var status: Int32 = 0
        while unsafe waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        continuation.resume(returning: status)
      }
    }
    signals.end()
    let signal = status & 0x7f
    return signal == 0 ? .exited(status >> 8 & 0xff) : .died(signal: signal)
  }
}
