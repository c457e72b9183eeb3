// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// How many there are of what there may be only so many of, clients or tunnels, on all loops of a proxy; and who waits for
/// one of them to go.
final class LimitedCount: Sendable {
  private struct State {
    var count = 0
    var waiting: [@Sendable () -> Void] = []
  }

  private let state = Locked(State())

  var value: Int { state.withLock(\.count) }

  /// Counts one in; false where there is no room for it.
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
      // Nothing is copied where nobody waits.
      guard !state.waiting.isEmpty else { return [] as [@Sendable () -> Void] }
      defer { state.waiting = [] }
      return state.waiting
    }
    for told in waiting { told() }
  }

  /// Tells once, on whatever thread it happens.
  func whenOneLeaves(_ tell: @escaping @Sendable () -> Void) { state.withLock { $0.waiting.append(tell) } }
}
