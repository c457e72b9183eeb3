// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Dispatch
internal import NIOCore

/// Checks passwords away from the threads that carry connections, and leaves one core to them if there are several.
///
/// The hashes are slow on purpose, and anybody may send a wrong password on each connection.
final class PasswordQueue: Sendable {
  private struct State {
    var running = 0
    var waiting: [@Sendable () -> Void] = []
  }

  private let width: Int
  private let queue = DispatchQueue(label: "directdns.proxy.passwords", attributes: .concurrent)
  private let state = Locked(State())

  /// Creates one.
  ///
  /// - Parameter width: how many are checked at a time; by default one less than there are cores, and at least 1.
  init(width: Int = max(1, System.coreCount - 1)) { self.width = width }

  /// Adds a check, which is done in its turn.
  func add(_ check: @escaping @Sendable () -> Void) {
    let begins = state.withLock { state in
      guard state.running < width else {
        state.waiting.append(check)
        return false
      }
      state.running += 1
      return true
    }
    if begins { queue.async { self.run(check) } }
  }

  private func run(_ first: @escaping @Sendable () -> Void) {
    var next: (@Sendable () -> Void)? = first
    while let check = next {
      check()
      next = state.withLock { state in
        guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
        state.running -= 1
        return nil
      }
    }
  }
}
