// SPDX-License-Identifier: Apache-2.0
/// Attempts whose handles serve no transfer at the moment, kept for the next ones.
struct IdleAttempts {
  /// The most handles that are kept, at some 25 KB each.
  ///
  /// Of several hundred transfers all may end before the first of their callers starts another one.
  private static let limit = 512

  private var idle: [ConnectAttempt] = []
  /// Those whose handles still have to free a piece of a body that they held back; see ``ConnectAttempt/stop()``.
  private var emptying: [ConnectAttempt] = []

  /// Takes one, if possible one that is set up for that pool already.
  ///
  /// - Returns: the attempt; nil if there is none.
  mutating func take(for pool: SlabID<CurlTransfers.Machine.Pool>) -> ConnectAttempt? {
    if let place = idle.lastIndex(where: { $0.pool?.id == pool }) { return idle.remove(at: place) }
    return idle.popLast()
  }

  /// Keeps an attempt that was stopped, if its handle can serve another transfer.
  ///
  /// - Parameters:
  ///   - attempt: the attempt.
  ///   - isEmpty: whether its handle holds back nothing of a body.
  mutating func add(_ attempt: ConnectAttempt, isEmpty: Bool) {
    guard isEmpty else { return emptying.append(attempt) }
    if attempt.isClean, idle.count < Self.limit { idle.append(attempt) }
  }

  /// A handle has freed what it held back; it is used no more.
  mutating func emptied(_ attempt: ConnectAttempt) { emptying.removeAll { $0 === attempt } }
}
