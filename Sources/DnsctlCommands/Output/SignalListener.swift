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
  private final class Listener: Sendable {
    let numbers: [Int32]
    let handler: @Sendable (Int32) -> Void

    init(_ numbers: [Int32], _ handler: @escaping @Sendable (Int32) -> Void) {
      self.numbers = numbers
      self.handler = handler
    }
  }

  /// The signals that are listened to, without those that our parent made us ignore, as shells do for background jobs,
  /// and those that nobody can listen to.
  package let numbers: [Int32]
  private let listener: Listener

  /// Listens to signals until ``end()``; they have no other effect any more.
  package init(_ numbers: [Int32], _ handler: @escaping @Sendable (Int32) -> Void) {
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
  private static let pending = Atomic<UInt64>(0)
  private static let arrivals = DispatchSemaphore(value: 0)
  private static let tasks = Mutex<[@Sendable () -> Void]>([])

  /// Starts to wait, and initialises what a handler uses, which must not happen in the handler.
  private static func begin() {
    hasBegun.withLock { hasBegun in
      guard !hasBegun else { return }
      hasBegun = true
      _ = pending.load(ordering: .relaxed)
      let arrivals = arrivals
      thread.async {
        while true {
          arrivals.wait()
          let received = pending.exchange(0, ordering: .acquiring)
          for number in Int32(1)...64 where received & bit(number) != 0 {
            for listener in listeners.withLock({ $0 }) where listener.numbers.contains(number) {
              listener.handler(number)
            }
          }
          for task in takeTasks() { task() }
        }
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

  /// The bit of a signal among those that are pending: Linux has 64, from 1 on.
  private static func bit(_ number: Int32) -> UInt64 { 1 << UInt64(number - 1) }

  /// Listens to a signal, unless it was ignored, or cannot be listened to.
  private static func catches(_ number: Int32) -> Bool {
    let previous = signal(number) { number in
      // A handler may do little: an atomic store, and sem_post(3), by which a dispatch semaphore wakes a waiting
      // thread.
      SignalListener.pending.bitwiseOr(SignalListener.bit(number), ordering: .releasing)
      SignalListener.arrivals.signal()
    }
    switch unsafe unsafeBitCast(previous, to: Int.self) {
    // SIG_ERR: the C library keeps two or three signals to itself.
    case -1: return false
    case unsafe unsafeBitCast(SIG_IGN, to: Int.self):
      signal(number, SIG_IGN)
      return false
    default: return true
    }
  }
}
