// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A value behind a lock; copies share the value and the lock.
///
/// It uses a pthread mutex and not `Synchronization.Mutex`: the thread sanitizer does not understand the latter's futex
/// on Linux, and reports false races. The lock is never held across a suspension.
@safe package struct Locked<Value>: @unchecked Sendable {
  // Safe to share: the value is only accessed with the mutex locked.
  private let storage: Storage

  /// The value, and a byte behind it.
  ///
  /// A value without a size, such as `Void`, would be at offset 0, where the object has the pointer to its class: the
  /// thread sanitizer would report that a change of the value races with everybody who reads the class.
  private struct Room {
    var value: Value
    private let filler: UInt8 = 0

    init(_ value: consuming Value) { self.value = value }
  }

  /// The value and its mutex, at an address that never changes, in one allocation.
  @safe private final class Storage: ManagedBuffer<Room, pthread_mutex_t> {
    deinit { unsafe withUnsafeMutablePointerToElements { unsafe _ = pthread_mutex_destroy($0) } }
  }

  package init(_ value: sending Value) {
    let buffer = unsafe Storage.create(minimumCapacity: 1) { buffer in
      unsafe buffer.withUnsafeMutablePointerToElements { mutex in
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
      }
      return Room(value)
    }
    storage = unsafe unsafeDowncast(buffer, to: Storage.self)
  }

  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe storage.withUnsafeMutablePointers { (room, mutex) throws(Failure) in
      unsafe pthread_mutex_lock(mutex)
      defer { unsafe pthread_mutex_unlock(mutex) }
      return try unsafe body(&room.pointee.value)
    }
  }

  /// Suspends the caller until somebody resumes the continuation that `body` has kept in the value.
  ///
  /// - Parameter body: called once, with the lock held: either keeps the continuation and returns nil, or returns what
  ///   the caller gets without waiting and does not keep it.
  /// - Returns: what `body` returned, or what the continuation was resumed with.
  nonisolated(nonsending) func wait<Result: Sendable>(
    _ body: (inout Value, CheckedContinuation<Result, Never>) -> Result?
  ) async -> Result {
    await withCheckedContinuation { continuation in
      if let result = withLock({ body(&$0, continuation) }) { continuation.resume(returning: result) }
    }
  }
}
