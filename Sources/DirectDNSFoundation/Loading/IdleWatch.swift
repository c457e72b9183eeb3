// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Notices that nothing has moved for too long.
///
/// One timer for all pieces of a body: it looks again when the last piece's time would be over.
final class IdleWatch: Sendable {
  private let limit: Duration
  /// Its sleeps leave nothing behind when they are cancelled: `Task.sleep` would leave one for each request, for as long
  /// as the limit is.
  private let clock = SystemClock()
  private let expiry: Locked<ResolverInstant?>

  init(limit: Duration) {
    self.limit = limit
    expiry = Locked(nil)
  }

  /// Awaits something that may not take too long.
  func watching<Value: Sendable, Failure: Error>(
    _ work: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    expiry.withLock { $0 = clock.now + limit }
    defer { expiry.withLock { $0 = nil } }
    return try await work()
  }

  /// Returns when something that is watched takes too long, or the task is cancelled.
  func expired() async -> Bool {
    while !Task.isCancelled {
      let now = clock.now
      let expiry = expiry.withLock { $0 } ?? now + limit
      if expiry <= now { return true }
      try? await clock.sleep(until: expiry)
    }
    return false
  }
}
