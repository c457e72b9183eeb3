// SPDX-License-Identifier: Apache-2.0
/// Attempts whose handles serve no transfer just now, for those to come.
struct FreeAttempts {
  /// Handles that are kept, at some 25 KB each: of several hundred transfers, all may end before the first of those who
  /// waited for them starts another one.
  private static let limit = 512

  private var idle: [ConnectAttempt] = []
  /// Those whose handles free what they held back.
  private var emptying: [ConnectAttempt] = []

  /// Takes one, which is set up for that pool if there is one that is.
  mutating func take(for pool: SlabID<CurlTransfers.Machine.Pool>) -> ConnectAttempt? {
    if let place = idle.lastIndex(where: { $0.pool == pool }) { return idle.remove(at: place) }
    return idle.popLast()
  }

  /// Keeps the handle of an attempt that was stopped, if it can serve another one.
  ///
  /// - Parameters:
  ///   - attempt: the attempt.
  ///   - isEmpty: whether its handle holds nothing back; see ``ConnectAttempt/stop()``.
  mutating func add(_ attempt: ConnectAttempt, isEmpty: Bool) {
    guard isEmpty else { return emptying.append(attempt) }
    if attempt.isClean, idle.count < Self.limit { idle.append(attempt) }
  }

  /// A handle has freed what it held back.
  mutating func emptied(_ attempt: ConnectAttempt) { emptying.removeAll { $0 === attempt } }
}
