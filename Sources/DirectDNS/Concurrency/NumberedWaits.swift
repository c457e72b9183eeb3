// SPDX-License-Identifier: Apache-2.0
/// Values that come once each under a number, and the tasks that wait for one of them each: a ``Promise`` for each
/// number.
///
/// Whichever comes first, the value or the task that waits for it, is kept until the other comes.
struct NumberedWaits<Kind, Value: Sendable>: Sendable {
  struct Table: Sendable {
    // Two tables, since values may be large: to look for one among the waiting tasks, it would be moved in and out.
    private var values = NumberTable<Kind, Value>()
    private var waiters = NumberTable<Kind, CheckedContinuation<Value, Never>>()

    /// A value has come.
    ///
    /// - Returns: the continuation to resume with it; nil if nobody waits yet, and the value is kept.
    mutating func fulfil(_ value: Value, under number: Number<Kind>) -> CheckedContinuation<Value, Never>? {
      if let waiter = waiters.removeValue(forKey: number) { return waiter }
      values[number] = value
      return nil
    }

    /// A task waits for a value.
    ///
    /// - Returns: the value if it has come already; nil if the task has to wait.
    fileprivate mutating func wait(_ waiter: CheckedContinuation<Value, Never>, for number: Number<Kind>) -> Value? {
      if let value = values.removeValue(forKey: number) { return value }
      waiters[number] = waiter
      return nil
    }
  }

  /// Open to callers who have several values at once, so that they take the lock only once.
  let table = Locked(Table())

  /// Waits for a value.
  nonisolated(nonsending) func value(of number: Number<Kind>) async -> Value {
    await table.wait { $0.wait($1, for: number) }
  }

  /// Hands a value to whoever waits for it, or keeps it.
  func deliver(_ value: Value, under number: Number<Kind>) {
    table.withLock { $0.fulfil(value, under: number) }?.resume(returning: value)
  }
}
