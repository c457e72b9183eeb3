// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// Hands an event loop what other threads have for it, until the loop ends.
///
/// A lookup that is cancelled, or a password's hash, may end after the loop: SwiftNIO says so on standard error for each
/// call that comes too late. Nobody waits for it any more by then, and stopping need not wait for those who do not hear
/// that they are cancelled.
final class LoopEntrance: Sendable {
  private let eventLoop: any EventLoop
  private let isOpen = Locked(true)

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  /// Calls `body` on the loop; never once it is closed.
  func execute(_ body: @escaping @Sendable () -> Void) {
    // Within the lock, so that the loop cannot end in between.
    isOpen.withLock { if $0 { eventLoop.execute(body) } }
  }

  /// The loop is about to end.
  func close() { isOpen.withLock { $0 = false } }
}
