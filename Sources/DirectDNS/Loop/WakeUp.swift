// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSLoop

/// What wakes a loop's thread from its wait: a descriptor that can be read from once somebody has called.
///
/// It lives as long as whoever calls, so that nobody can wake a thread by a descriptor that is another file's by now.
final class WakeUp: Sendable {
  /// What the thread waits for.
  let descriptor: CInt
  private let writing: CInt

  /// - Returns: nil when the process may open no further files.
  init?() {
    var writing: CInt = -1
    descriptor = unsafe directdns_wakeup_open(&writing)
    self.writing = writing
    guard descriptor >= 0 else { return nil }
  }

  deinit {
    if descriptor >= 0 { directdns_wakeup_close(descriptor, writing) }
  }

  /// Wakes the thread, or keeps it from its next wait.
  func call() { directdns_wakeup_call(writing) }

  func isFor(_ descriptor: CInt) -> Bool { descriptor == self.descriptor }

  /// Takes the call back, by the thread that it was for.
  func wasSeen() { directdns_wakeup_drain(descriptor) }
}
