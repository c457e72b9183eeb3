// SPDX-License-Identifier: Apache-2.0
import NIOConcurrencyHelpers

/// A value that several threads change, and that a task can wait for without polling.
///
/// After each change the conditions of the waiting tasks are evaluated under the lock; a task whose condition holds
/// continues. NIO's lock box is used because the thread sanitizer knows it.
final class Watched<State: Sendable>: Sendable {
  private struct Waiter: Sendable {
    let condition: @Sendable (State) -> Bool
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct Content: Sendable {
    var state: State
    var waiters: [UInt64: Waiter] = [:]
    var nextID: UInt64 = 0
  }

  private let content: NIOLockedValueBox<Content>

  init(_ state: State) { content = NIOLockedValueBox(Content(state: state)) }

  /// The present value.
  var value: State { content.withLockedValue { $0.state } }

  /// Reads a part of the value without copying the rest.
  func read<Part>(_ part: (State) -> Part) -> Part { content.withLockedValue { part($0.state) } }

  /// Changes the value, then wakes the tasks whose conditions now hold.
  @discardableResult
  func change<Result>(_ body: (inout State) -> Result) -> Result {
    let (result, due) = content.withLockedValue { content in
      let result = body(&content.state)
      guard !content.waiters.isEmpty else { return (result, [Waiter]()) }
      let ready = content.waiters.filter { $0.value.condition(content.state) }.keys.sorted()
      return (result, ready.compactMap { content.waiters.removeValue(forKey: $0) })
    }
    for waiter in due { waiter.continuation.resume() }
    return result
  }

  /// Waits until a condition holds.
  ///
  /// Returns early, without an error, when the task is cancelled.
  func wait(until condition: @escaping @Sendable (State) -> Bool) async {
    let id = content.withLockedValue { content in
      content.nextID += 1
      return content.nextID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let ready = content.withLockedValue { content in
          // The flag is set before the handler below runs, so a cancellation is noticed here or there.
          if condition(content.state) || Task.isCancelled { return true }
          content.waiters[id] = Waiter(condition: condition, continuation: continuation)
          return false
        }
        if ready { continuation.resume() }
      }
    } onCancel: {
      content.withLockedValue { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
    }
  }
}
