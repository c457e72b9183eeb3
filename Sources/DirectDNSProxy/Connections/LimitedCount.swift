// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Counts clients or tunnels on all loops of a proxy, up to a limit, and tells callers when one of them leaves.
final class LimitedCount: Sendable {
  private struct State {
    var count = 0
    var waiting: [@Sendable () -> Void] = []
  }

  private let state = Locked(State())

  var value: Int { state.withLock(\.count) }

  /// Counts one more; false if the limit is reached.
  func enter(limit: Int) -> Bool {
    state.withLock { state in
      guard state.count < limit else { return false }
      state.count += 1
      return true
    }
  }

  func leave() {
    let waiting = state.withLock { state in
      state.count -= 1
      // Nothing is copied if nobody waits.
      guard !state.waiting.isEmpty else { return [] as [@Sendable () -> Void] }
      defer { state.waiting = [] }
      return state.waiting
    }
    for notify in waiting { notify() }
  }

  /// Calls `notify` once, when one leaves, on the thread on which that happens.
  func whenOneLeaves(_ notify: @escaping @Sendable () -> Void) { state.withLock { $0.waiting.append(notify) } }
}
