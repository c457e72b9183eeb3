// SPDX-License-Identifier: Apache-2.0
/// Notices that nothing has moved for too long.
///
/// One timer for all pieces of a body: it looks again when the last piece's time would be over.
final class IdleWatch: Sendable {
  private let limit: Duration
  private let expiry: Guarded<ContinuousClock.Instant?>

  init(limit: Duration) {
    self.limit = limit
    expiry = Guarded(nil)
  }

  /// Awaits something that may not take too long.
  func watching<Value: Sendable, Failure: Error>(
    _ work: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    expiry.withLock { $0 = .now + limit }
    defer { expiry.withLock { $0 = nil } }
    return try await work()
  }

  /// Returns when something that is watched takes too long, or the task is cancelled.
  func expired() async -> Bool {
    while !Task.isCancelled {
      let now = ContinuousClock.now
      let expiry = expiry.withLock { $0 } ?? now + limit
      if expiry <= now { return true }
      try? await Task.sleep(until: expiry)
    }
    return false
  }
}
