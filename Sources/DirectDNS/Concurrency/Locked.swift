#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// A value behind a lock.
///
/// A pthread mutex and not `Synchronization.Mutex`: the thread sanitizer does not see the latter's futex on
/// Linux and reports races that are none. The lock is never held across a suspension.
@safe package final class Locked<Value>: @unchecked Sendable {
  // Safe to share: `value` is only touched with the mutex held, and the mutex never moves.
  private var value: Value
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  package init(_ value: sending Value) {
    self.value = value
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}
