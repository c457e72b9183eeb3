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
    let waiter = Locked<CheckedContinuation<Value?, Never>?>(nil)
    return await withCheckedContinuation { continuation in
      waiter.withLock { $0 = continuation }
      // The timer holds the work's task and not the other way round: one of them has to be first.
      let timer = Locked<Task<Void, Never>?>(nil)
      let work = Task.immediateDetached {
        let value = await body()
        let waiting = waiter.withLock { $0.take() }
        timer.withLock { $0?.cancel() }
        if let waiting { waiting.resume(returning: value) } else { late(value) }
      }
      guard waiter.withLock({ $0 != nil }) else { return }
      let task = Task {
        guard (try? await clock.sleep(until: instant)) != nil, let waiting = waiter.withLock({ $0.take() }) else {
          return
        }
        work.cancel()
        waiting.resume(returning: nil)
      }
      timer.withLock { $0 = task }
      // It may have returned before there was a timer to cancel.
      if waiter.withLock({ $0 == nil }) { task.cancel() }
    }
  }
}
