// SPDX-License-Identifier: Apache-2.0
/// Waiting that ends in time, whatever becomes of what is waited for.
enum Deadline {
  /// What `body` returns, or nil if it has not returned by then.
  ///
  /// A body that is late is cancelled and left alone: it may block for as long as it likes.
  ///
  /// - Parameters:
  ///   - instant: when the wait ends.
  ///   - clock: whose instant that is.
  ///   - late: gets what came too late, for what must be put back.
  ///   - body: what is waited for.
  /// - Returns: the body's result in time, or nil.
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
