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

/// Signals that are told to closures on one thread of their own, one after the other.
///
/// It takes no descriptor: a process that has none left must hear all the same that it is to end. A dispatch source needs
/// one for each signal (signalfd(2)), and where it gets none it takes the signal and tells nobody.
package final class HeardSignals: Sendable {
  private final class Listener: Sendable {
    let numbers: [Int32]
    let tell: @Sendable (Int32) -> Void

    init(_ numbers: [Int32], _ tell: @escaping @Sendable (Int32) -> Void) {
      self.numbers = numbers
      self.tell = tell
    }
  }

  /// Those that are heard; whoever started us deaf to others, as shells do with jobs in the background, meant it.
  package let numbers: [Int32]
  private let listener: Listener

  /// Hears signals from now on, which do nothing else any more, until ``end()``.
  package init(_ numbers: [Int32], _ tell: @escaping @Sendable (Int32) -> Void) {
    let listener = Listener(numbers, tell)
    self.listener = listener
    Self.begin()
    // Before the first can come.
    Self.listeners.withLock { $0.append(listener) }
    self.numbers = numbers.filter(Self.catches)
  }

  /// Tells no more; what the signals do from then on is for the caller to say.
  package func end() { Self.listeners.withLock { $0.removeAll { $0 === listener } } }

  /// Hears a signal again that somebody has given another meaning.
  package static func hearAgain(_ number: Int32) { _ = catches(number) }

  private static let listeners = Mutex<[Listener]>([])
  private static let thread = DispatchQueue(label: "dnsctl.signals")
  private static let hasBegun = Mutex(false)
  /// What came and was not yet told, a bit for each.
  private static let pending = Atomic<UInt64>(0)
  private static let arrivals = DispatchSemaphore(value: 0)

  /// Begins to wait, and makes what a handler uses: it must not be the first to do so.
  private static func begin() {
    hasBegun.withLock { hasBegun in
      guard !hasBegun else { return }
      hasBegun = true
      _ = pending.load(ordering: .relaxed)
      let arrivals = arrivals
      thread.async {
        while true {
          arrivals.wait()
          let came = pending.exchange(0, ordering: .acquiring)
          for number in Int32(1)..<64 where came & 1 << UInt64(number) != 0 {
            for listener in listeners.withLock({ $0 }) where listener.numbers.contains(number) { listener.tell(number) }
          }
        }
      }
    }
  }

  /// Has a signal heard, unless it was ignored.
  private static func catches(_ number: Int32) -> Bool {
    let previous = signal(number) { number in
      // A handler may do little: an atomic store, and sem_post(3), which is how a dispatch semaphore wakes who waits.
      HeardSignals.pending.bitwiseOr(1 << UInt64(number), ordering: .releasing)
      HeardSignals.arrivals.signal()
    }
    guard unsafe unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) else { return true }
    signal(number, SIG_IGN)
    return false
  }
}
