// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Dispatch
internal import NIOCore

/// Where passwords are checked: away from the threads that carry connections, and never on all cores.
///
/// Their hashes are made to be slow, and anybody may send as many wrong ones as there are connections.
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
  /// - Parameter width: how many are checked at a time; by default one core is left to others, where there are several.
  init(width: Int = max(1, System.coreCount - 1)) { self.width = width }

  /// Has a check done in its turn.
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
