// SPDX-License-Identifier: Apache-2.0
/// A server's pause after 429, and how it is asked again: one query finds out whether the pause is over, and with each
/// reply one more may be under way, so that what has waited does not run into the next 429 all at once.
struct ServerPause: Sendable, Hashable {
  /// How long a query after the pause is waited for before another one is sent in its place.
  private static let trialTime = Duration.seconds(1)
  /// After so many replies the server is asked as before.
  static let lastReply = 16

  /// Until when the server must not be asked.
  private(set) var end: ResolverInstant
  /// How many replies have come since.
  private var replies = 0
  /// When the queries were sent since that are waited for, in order.
  private var sent: [ResolverInstant] = []

  init(until end: ResolverInstant) { self.end = end }

  /// The server has said 429 again: of several replies the longest pause counts.
  mutating func refused(until end: ResolverInstant) { self = ServerPause(until: max(self.end, end)) }

  /// Until when the server must not be asked, or what queries find out is waited for; nil if it may be asked.
  func heldUntil(at now: ResolverInstant) -> ResolverInstant? {
    if end > now { return end }
    let awaited = sent.drop { $0 + Self.trialTime <= now }
    return awaited.count > replies ? awaited.dropLast(replies).last.map { $0 + Self.trialTime } : nil
  }

  /// Notes that the server is being asked.
  mutating func asked(at now: ResolverInstant) {
    guard end <= now else { return }
    sent.removeAll { $0 + Self.trialTime <= now }
    sent.append(now)
  }

  /// A query has ended after that time, and has found out nothing: the next one does.
  mutating func wasNoTrial(after time: Duration) {
    if time < Self.trialTime, !sent.isEmpty { sent.removeFirst() }
  }

  /// The server has replied, after that time, with anything else than 429.
  ///
  /// - Returns: whether it may be asked as before.
  mutating func replied(after time: Duration, at now: ResolverInstant) -> Bool {
    guard end <= now else { return false }
    wasNoTrial(after: time)
    replies += 1
    return replies >= Self.lastReply
  }
}
