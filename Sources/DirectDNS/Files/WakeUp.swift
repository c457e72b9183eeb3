// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSLoop

/// Wakes a thread that waits for descriptors: one of them, which becomes readable by a call.
///
/// Callers keep it alive, so that nobody can write to a descriptor that has been closed and is another file by now.
final class WakeUp: Sendable {
  /// The descriptor that the thread waits for.
  let descriptor: CInt
  private let writing: CInt

  /// Creates the descriptor; nil if the process may open no further files.
  init?() {
    var writing: CInt = -1
    descriptor = unsafe directdns_wakeup_open(&writing)
    self.writing = writing
    guard descriptor >= 0 else { return nil }
  }

  deinit {
    if descriptor >= 0 { directdns_wakeup_close(descriptor, writing) }
  }

  /// Wakes the thread, or ends its next wait at once.
  func call() { directdns_wakeup_call(writing) }

  /// Clears the call; called by the thread.
  func wasSeen() { directdns_wakeup_drain(descriptor) }
}
