// SPDX-License-Identifier: Apache-2.0
/// Waiting with a deadline.
enum Deadline {
  /// Runs `body`, and waits for its result until an instant.
  ///
  /// A body that is late is not waited for any more, however long it goes on. It is cancelled, by default at once.
  ///
  /// - Parameters:
  ///   - instant: when the wait ends.
  ///   - clock: the clock of that instant.
  ///   - implementation: whose calls `body` makes, if it is that of a public protocol: one that keeps its thread is late, too.
  ///   - last: when a body that is late is cancelled, if that is after `instant`.
  ///   - endsIfCancelled: whether the wait also ends when the task that waits is cancelled.
  ///   - late: called with a result that came too late, for example to release it.
  ///   - body: the work.
  /// - Returns: the result; nil if it did not come in time.
  static func wait<Value: Sendable>(
    until instant: ResolverInstant, _ clock: any ResolverClock, calling implementation: Any? = nil,
    lastUntil last: ResolverInstant? = nil, endsIfCancelled: Bool = false,
    late: @escaping @Sendable (Value) -> Void = { _ in },
    _ body: @escaping @Sendable () async -> Value
  ) async -> Value? {
    let outcome = Promise<Value?>()
    let work = Task.detached(calling: implementation) {
      let value = await body()
      if !outcome.fulfil(value) { late(value) }
    }
    guard !outcome.isFulfilled else { return await outcome.value() }
    let timer = Task.detached {
      guard (try? await clock.sleep(until: instant)) != nil else { return }
      outcome.fulfil(nil)
    }
    let value = endsIfCancelled ? await outcome.value(ifCancelled: nil) : await outcome.value()
    timer.cancel()
    guard value == nil else { return value }
    guard let last, instant < last else {
      work.cancel()
      return nil
    }
    let end = Task.detached { if (try? await clock.sleep(until: last)) != nil { work.cancel() } }
    Task.detached {
      await work.value
      end.cancel()
    }
    return nil
  }
}
