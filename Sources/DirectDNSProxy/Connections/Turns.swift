// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Lets one task at a time do what it has to wait for, in the order in which they come.
final class Turns: Sendable {
  private struct State {
    var isTaken = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  /// Waits for a turn, whether the task is cancelled or not.
  func take() async {
    await withCheckedContinuation { continuation in
      let isNext = state.withLock { state in
        guard state.isTaken else {
          state.isTaken = true
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isNext { continuation.resume() }
    }
  }

  /// Ends the turn.
  func leave() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.isTaken = false
      return nil
    }
    next?.resume()
  }
}
