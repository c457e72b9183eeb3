// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// A value that threads share.
///
/// The lock is Foundation's: the thread sanitizer knows it, and Linux's `Mutex` it does not.
final class Guarded<Value>: @unchecked Sendable {
  private let lock = NSLock()
  // Touched under the lock alone.
  private var value: Value

  init(_ value: sending Value) { self.value = value }

  func withLock<Result>(_ body: (inout Value) -> sending Result) -> sending Result {
    lock.lock()
    defer { lock.unlock() }
    return body(&value)
  }
}
