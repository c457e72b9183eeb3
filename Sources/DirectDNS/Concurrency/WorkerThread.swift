// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// A thread of our own, for loops that block.
enum WorkerThread {
  /// Runs `body` on a thread that nothing else uses; the thread ends with it.
  ///
  /// A serial dispatch queue of its own gets a thread of its own, beyond the shared pool's width, so a body
  /// that blocks takes nothing away from anyone.
  static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
    DispatchQueue(label: "directdns." + name, qos: .userInitiated).async(execute: body)
  }
}
