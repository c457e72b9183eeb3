// SPDX-License-Identifier: Apache-2.0
/// Waiting with a deadline.
enum Deadline {
  /// Runs `body`, and waits for its result until an instant.
  ///
  /// A body that is late is cancelled, and not waited for any more, however long it goes on.
  ///
  /// - Parameters:
  ///   - instant: when the wait ends.
  ///   - clock: the clock of that instant.
  ///   - late: called with a result that came too late, for example to release it.
  ///   - body: the work.
  /// - Returns: the result; nil if it did not come in time.
  static func wait<Value: Sendable>(
    until instant: ResolverInstant, _ clock: any ResolverClock, late: @escaping @Sendable (Value) -> Void = { _ in },
    _ body: @escaping @Sendable () async -> Value
  ) async -> Value? {
    let outcome = Promise<Value?>()
    let work = Task.immediateDetached {
      let value = await body()
      if !outcome.fulfil(value) { late(value) }
    }
    guard !outcome.isFulfilled else { return await outcome.value() }
    let timer = Task {
      guard (try? await clock.sleep(until: instant)) != nil, outcome.fulfil(nil) else { return }
      work.cancel()
    }
    defer { timer.cancel() }
    return await outcome.value()
  }
}
