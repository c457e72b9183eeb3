// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// Standard output for parallel transfers: they write one after the other, in the order of the command line.
final class OutputOrder: Sendable {
  private struct State {
    var next = 0
    var ended: Set<Int> = []
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
  }

  private let state = Mutex(State())

  /// Waits until all transfers before this one have ended.
  func wait(_ index: Int) async {
    await withCheckedContinuation { continuation in
      let isNext = state.withLock { state in
        if state.next >= index { return true }
        state.waiting[index] = continuation
        return false
      }
      if isNext { continuation.resume() }
    }
  }

  /// Lets the next one write.
  func end(_ index: Int) {
    let ready = state.withLock { state in
      state.ended.insert(index)
      while state.ended.remove(state.next) != nil { state.next += 1 }
      return state.waiting.removeValue(forKey: state.next)
    }
    ready?.resume()
  }
}
