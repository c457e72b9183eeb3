// SPDX-License-Identifier: Apache-2.0
import Synchronization

@testable import DirectDNS

extension LoopMailbox {
  /// Whether there is a thread.
  var isRunning: Bool { state.withLock { $0.wakeUp != nil } }
}

extension CurlTransfer {
  /// Bytes that wait for the reader.
  var unreadCount: Int { unread.load(ordering: .relaxed) }

  /// Whether the transfer waits for the reader.
  var isPaused: Bool { shared.withLock { $0.body.isPaused } }
}
