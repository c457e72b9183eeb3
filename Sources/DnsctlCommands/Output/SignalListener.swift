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

/// Reports signals to closures, one after the other on a thread of its own.
///
/// It needs no file descriptor, since a process that has none left must still learn that it should end. A dispatch
/// source needs one for each signal (signalfd(2)); without it the source takes the signal and reports nothing.
package final class SignalListener: Sendable {
  /// Who sent a signal.
  package enum Sender: Sendable {
    /// The kernel, as a terminal does to a process group (si_code of sigaction(2)).
    case kernel
    /// A process, by kill(2); also where the kernel has sent the same one meanwhile.
    case process
  }

  /// What is done with a signal.
  package typealias Handler = @Sendable (_ number: Int32, _ sender: Sender) -> Void

  private final class Listener: Sendable {
    let numbers: [Int32]
    let handler: Handler

    init(_ numbers: [Int32], _ handler: @escaping Handler) {
      self.numbers = numbers
      self.handler = handler
    }
  }

  /// The signals that are listened to, without those that our parent made us ignore, as shells do for background jobs,
  /// and those that nobody can listen to.
  package let numbers: [Int32]
  private let listener: Listener

  /// Listens to signals until ``end()``; they have no other effect any more.
  package init(_ numbers: [Int32], _ handler: @escaping Handler) {
    let listener = Listener(numbers, handler)
    self.listener = listener
    Self.begin()
    // Before the first signal can come.
    Self.listeners.withLock { $0.append(listener) }
    self.numbers = numbers.filter(Self.catches)
  }

  /// Stops reporting; the caller sets what the signals do from then on.
  package func end() { Self.listeners.withLock { $0.removeAll { $0 === listener } } }

  /// Listens to a signal again after its action was changed.
  package static func listenAgain(_ number: Int32) { _ = catches(number) }

  private static let listeners = Mutex<[Listener]>([])
  private static let thread = DispatchQueue(label: "dnsctl.signals")
  private static let hasBegun = Mutex(false)
  /// The signals that came and were not reported yet, a bit for each.
  private static let fromProcesses = Atomic<UInt64>(0)
  private static let fromKernel = Atomic<UInt64>(0)
  /// SIGCONT is the last one to be reported: whoever is to go on must not be stopped by what came before.
  static let order = (1...64).filter { $0 != SIGCONT } + [SIGCONT]
  private static let arrivals = DispatchSemaphore(value: 0)
  private static let tasks = Mutex<[@Sendable () -> Void]>([])

  /// Starts to wait, and initialises what a handler uses, which must not happen in the handler.
  private static func begin() {
    hasBegun.withLock { hasBegun in
      guard !hasBegun else { return }
      hasBegun = true
      // With no signal, and by all that a handler goes through: what is looked up for the first time takes a lock.
      for isFromKernel in [false, true] { note(bit(SIGINT) & 0, isFromKernel: isFromKernel) }
      let arrivals = arrivals
      thread.async {
        while true {
          arrivals.wait()
          report(
            fromProcesses.exchange(0, ordering: .acquiring), fromKernel: fromKernel.exchange(0, ordering: .acquiring))
          for task in takeTasks() { task() }
        }
      }
    }
  }

  private static func report(_ fromProcesses: UInt64, fromKernel: UInt64) {
    for number in order where (fromProcesses | fromKernel) & bit(number) != 0 {
      let sender: Sender = fromProcesses & bit(number) != 0 ? .process : .kernel
      for listener in listeners.withLock({ $0 }) where listener.numbers.contains(number) {
        listener.handler(number, sender)
      }
    }
  }

  /// Calls a closure on the thread of the signals, when those that have come by now were reported.
  package static func afterSignals(_ body: @escaping @Sendable () -> Void) {
    begin()
    tasks.withLock { $0.append(body) }
    arrivals.signal()
  }

  private static func takeTasks() -> [@Sendable () -> Void] {
    tasks.withLock { tasks in
      defer { tasks = [] }
      return tasks
    }
  }

  /// Notes that a signal has come, by its bit.
  ///
  /// A handler may do little: an atomic store, and sem_post(3), by which a dispatch semaphore wakes a waiting thread.
  private static func note(_ bit: UInt64, isFromKernel: Bool) {
    if isFromKernel {
      fromKernel.bitwiseOr(bit, ordering: .releasing)
    } else {
      fromProcesses.bitwiseOr(bit, ordering: .releasing)
    }
    arrivals.signal()
  }

  /// The bit of a signal among those that are pending: Linux has 64, from 1 on.
  private static func bit(_ number: Int32) -> UInt64 { 1 << UInt64(number - 1) }

  /// Listens to a signal, unless it was ignored, or cannot be listened to.
  private static func catches(_ number: Int32) -> Bool {
    var (action, previous) = (sigaction(), sigaction())
    action.sa_flags = SA_SIGINFO | SA_RESTART
    // No handler interrupts another one.
    unsafe sigfillset(&action.sa_mask)
    unsafe action.handler = { number, information, _ in
      // No closure, and nothing generic: Swift's runtime might look up a type under a lock that this thread holds.
      let bit = SignalListener.bit(number)
      guard let information = unsafe information else { return SignalListener.note(bit, isFromKernel: false) }
      unsafe SignalListener.note(bit, isFromKernel: information.pointee.isFromKernel)
    }
    // The C library keeps two or three signals to itself.
    guard unsafe sigaction(number, &action, &previous) == 0 else { return false }
    guard previous.isIgnored else { return true }
    unsafe sigaction(number, &previous, nil)
    return false
  }
}

extension sigaction {
  fileprivate typealias Handler =
    @convention(c) (Int32, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?) -> Void

  /// What is called with what is known about the signal: a member of a union, which each C library names in its way.
  fileprivate var handler: Handler? {
    get {
      #if canImport(Darwin)
        unsafe __sigaction_u.__sa_sigaction
      #elseif canImport(Musl)
        unsafe __sa_handler.sa_sigaction
      #else
        unsafe __sigaction_handler.sa_sigaction
      #endif
    }
    set {
      #if canImport(Darwin)
        unsafe __sigaction_u.__sa_sigaction = newValue
      #elseif canImport(Musl)
        unsafe __sa_handler.sa_sigaction = newValue
      #else
        unsafe __sigaction_handler.sa_sigaction = newValue
      #endif
    }
  }

  /// Whether the signal does nothing: the union's other member is SIG_IGN then.
  fileprivate var isIgnored: Bool {
    unsafe unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}

extension siginfo_t {
  /// Whether no process has sent the signal.
  fileprivate var isFromKernel: Bool {
    #if canImport(Darwin)
      // The kernel leaves its code at that of kill(2).
      unsafe si_pid == 0
    #else
      // From another namespace a process, too, has the id 0.
      unsafe si_code > 0
    #endif
  }
}
