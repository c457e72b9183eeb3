// SPDX-License-Identifier: Apache-2.0
import NIOConcurrencyHelpers

/// A value that several threads change, and that a task can wait for without polling.
///
/// After each change the conditions of the waiting tasks are evaluated under the lock; a task whose condition holds
/// continues. NIO's lock box is used because the thread sanitizer knows it.
final class Watched<State: Sendable>: Sendable {
  private struct Waiter: Sendable {
    let condition: @Sendable (State) -> Bool
    let isOver: @Sendable (State) -> Bool
    let continuation: CheckedContinuation<Bool, Never>

    /// What the wait comes to; nil while it goes on.
    func end(_ state: State) -> Bool? { condition(state) ? true : isOver(state) ? false : nil }
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
      var due: [(waiter: Waiter, end: Bool)] = []
      for (id, waiter) in content.waiters.sorted(by: { $0.key < $1.key }) {
        guard let end = waiter.end(content.state) else { continue }
        content.waiters[id] = nil
        due.append((waiter, end))
      }
      return (result, due)
    }
    for (waiter, end) in due { waiter.continuation.resume(returning: end) }
    return result
  }

  /// Waits until a condition holds.
  ///
  /// - Parameters:
  ///   - isOver: when it will not hold any more, and nobody waits for it.
  ///   - condition: what is waited for.
  /// - Returns: whether it held; false when it was over, or the task was cancelled, before.
  @discardableResult
  func wait(
    unless isOver: @escaping @Sendable (State) -> Bool = { _ in false },
    until condition: @escaping @Sendable (State) -> Bool
  ) async -> Bool {
    let id = content.withLockedValue { content in
      content.nextID += 1
      return content.nextID
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waiter = Waiter(condition: condition, isOver: isOver, continuation: continuation)
        let end = content.withLockedValue { content -> Bool? in
          if let end = waiter.end(content.state) { return end }
          // The flag is set before the handler below runs, so a cancellation is noticed here or there.
          if Task.isCancelled { return false }
          content.waiters[id] = waiter
          return nil
        }
        if let end { continuation.resume(returning: end) }
      }
    } onCancel: {
      content.withLockedValue { $0.waiters.removeValue(forKey: id) }?.continuation.resume(returning: false)
    }
  }
}
