// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Where a load waits while its task is suspended.
final class LoadGate: Sendable {
  private struct State {
    var isOpen = true
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Locked(State())

  func close() { state.withLock { $0.isOpen = false } }

  func open() {
    let waiter = state.withLock { state in
      defer { state.waiter = nil }
      state.isOpen = true
      return state.waiter
    }
    waiter?.resume()
  }

  /// Waits until the gate is open; for one load at a time, which is let through when it is cancelled.
  func pass() async {
    guard !state.withLock(\.isOpen) else { return }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOpen = state.withLock { state in
          if !state.isOpen { state.waiter = continuation }
          return state.isOpen
        }
        if isOpen { continuation.resume() }
      }
    } onCancel: {
      open()
    }
  }
}
