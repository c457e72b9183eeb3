// SPDX-License-Identifier: Apache-2.0
/// Values that come under numbers, each once, and those who wait for them, each for one: whichever is there first is kept
/// until the other comes.
struct NumberedWaits<Value: Sendable>: Sendable {
  struct Table: Sendable {
    private enum Entry: Sendable {
      case value(Value)
      case waiter(CheckedContinuation<Value, Never>)
    }

    private var entries = NumberTable<Entry>()

    /// A value has come.
    ///
    /// - Returns: who waits for it and is to be resumed with it; nil if it is kept until somebody does.
    mutating func came(_ value: Value, under number: Int) -> CheckedContinuation<Value, Never>? {
      if case .waiter(let waiter)? = entries.removeValue(forKey: number) { return waiter }
      entries[number] = .value(value)
      return nil
    }

    /// Somebody waits for a value.
    ///
    /// - Returns: the value, if it has come already.
    fileprivate mutating func wait(_ waiter: CheckedContinuation<Value, Never>, for number: Int) -> Value? {
      if case .value(let value)? = entries.removeValue(forKey: number) { return value }
      entries[number] = .waiter(waiter)
      return nil
    }
  }

  /// For whoever has several values at once: one turn of the lock does.
  let table = Locked(Table())

  /// Waits for a value.
  nonisolated(nonsending) func value(of number: Int) async -> Value {
    await withCheckedContinuation { waiter in
      if let value = table.withLock({ $0.wait(waiter, for: number) }) { waiter.resume(returning: value) }
    }
  }

  /// Hands a value to whoever waits for it, or keeps it.
  func deliver(_ value: Value, under number: Int) {
    table.withLock { $0.came(value, under: number) }?.resume(returning: value)
  }
}
