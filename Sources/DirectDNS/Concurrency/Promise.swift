// SPDX-License-Identifier: Apache-2.0
/// A value that comes once, from any thread, and the one task that waits for it.
///
/// Of several who fulfil it the first counts: an answer, a timer and a cancellation may race. It may be fulfilled
/// before anybody waits.
struct Promise<Value: Sendable>: Sendable {
  private enum State: Sendable {
    case open
    case awaited(CheckedContinuation<Value, Never>)
    case fulfilled(Value)
    /// The waiting task has the value.
    case taken
  }

  private let state = Locked(State.open)

  var isFulfilled: Bool {
    state.withLock { state in
      switch state {
      case .open, .awaited: false
      case .fulfilled, .taken: true
      }
    }
  }

  /// Gives it its value, and resumes whoever waits.
  ///
  /// - Returns: whether this value counts; false if another one came first.
  @discardableResult
  func fulfil(_ value: Value) -> Bool {
    let (isFirst, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Value, Never>?) in
      switch state {
      case .open:
        state = .fulfilled(value)
        return (true, nil)
      case .awaited(let waiter):
        state = .taken
        return (true, waiter)
      case .fulfilled, .taken: return (false, nil)
      }
    }
    waiter?.resume(returning: value)
    return isFirst
  }

  /// Waits for the value; only one task may, and only once.
  ///
  /// A cancellation of the task does not end the wait: see ``value(ifCancelled:)``.
  nonisolated(nonsending) func value() async -> Value {
    await state.wait { state, waiter in
      switch state {
      case .open:
        state = .awaited(waiter)
        return nil
      case .fulfilled(let value):
        state = .taken
        return value
      // The first reader's continuation would be lost, and its task never go on.
      case .awaited, .taken: preconditionFailure("a promise has one reader, who reads once")
      }
    }
  }

  /// Waits for the value, or until the task is cancelled, which fulfils it with the given one.
  nonisolated(nonsending) func value(ifCancelled substitute: Value) async -> Value {
    await withTaskCancellationHandler {
      await value()
    } onCancel: {
      fulfil(substitute)
    }
  }
}
