internal import Dispatch

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A program that runs beside us, at the same terminal and with the same standard streams.
struct ChildProcess: Sendable {
  /// Why it could not be started.
  enum Failure: Error {
    case notFound
    case notExecutable(String)

    /// What shells end with there.
    var status: Int32 {
      switch self {
      case .notFound: 127
      case .notExecutable: 126
      }
    }
  }

  /// Signals that whoever sends them to us means for the program.
  private static let passedOn = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT]

  private let identifier: pid_t

  /// Starts a program, which is looked for along `PATH`.
  init(_ words: [String], environment: [String: String]) throws(Failure) {
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) }
    unsafe arguments.append(nil)
    var variables: [UnsafeMutablePointer<CChar>?] = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") }
    unsafe variables.append(nil)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe (arguments + variables).forEach { unsafe free($0) }
      unsafe posix_spawnattr_destroy(&attributes)
    }
    // What we do not listen to by our own ways it is to hear.
    var defaults = sigset_t()
    unsafe sigemptyset(&defaults)
    for number in Self.passedOn + [SIGPIPE] { unsafe sigaddset(&defaults, number) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    var child: pid_t = 0
    let code = unsafe posix_spawnp(&child, words[0], nil, &attributes, arguments, variables)
    switch code {
    case 0: identifier = child
    case ENOENT: throw .notFound
    default: throw .notExecutable(unsafe String(cString: strerror(code)))
    }
  }

  /// Waits for its end, and passes signals on meanwhile.
  ///
  /// - Returns: its status; 128 and the signal's number where one ended it, as shells have it.
  func wait() async -> Int32 {
    let sources = Self.passedOn.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: Self.queue)
      source.setEventHandler { [identifier] in
        // What is pressed at a terminal all of its foreground has heard already.
        let isPressed = [SIGINT, SIGQUIT, SIGWINCH].contains(number) && tcgetpgrp(STDIN_FILENO) == getpgrp()
        if !isPressed { kill(identifier, number) }
      }
      source.resume()
      return source
    }
    let status = await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [identifier] in
        var status: Int32 = 0
        while unsafe waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        continuation.resume(returning: status)
      }
    }
    for source in sources { source.cancel() }
    let ending = status & 0x7f
    return ending == 0 ? status >> 8 & 0xff : 128 + ending
  }

  private static let queue = DispatchQueue(label: "dnsctl.exec.signals")
}
