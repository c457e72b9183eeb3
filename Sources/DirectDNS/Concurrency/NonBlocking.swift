// SPDX-License-Identifier: Apache-2.0
/// An implementation of a public protocol whose calls never keep the thread that makes them, as none of this package's do.
package protocol NonBlocking {}

extension Task where Success == Void, Failure == Never {
  /// Begins a detached task that calls an implementation of a public protocol.
  ///
  /// With one that is ``NonBlocking`` it begins on this thread, which saves a switch of threads. Any other might keep the
  /// thread, and that is somebody's who does not wait for it: a caller who reads the cache, or a loop.
  @discardableResult
  static func detached(calling implementation: Any?, _ body: @escaping @Sendable () async -> Void) -> Self {
    implementation is any NonBlocking ? immediateDetached(operation: body) : detached(operation: body)
  }
}
