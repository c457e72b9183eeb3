// SPDX-License-Identifier: Apache-2.0
/// The attempts of one lookup that run at a time, and when something is to be decided about them.
///
/// A value, moved by what begins and ends, and by `now`.
struct AttemptRace: Sendable, Hashable {
  /// What is to be decided.
  enum Decision: Sendable, Hashable {
    /// The first server takes longer than it usually does: a second one may be asked too.
    case hedge
    /// The attempt of that server has had its time: another one takes its place, if there is one.
    case timeout(of: Int)
  }

  private struct Attempt: Sendable, Hashable {
    var number: Int
    /// When it has had its time; nothing once that is decided.
    var timeoutAt: ResolverInstant?
  }

  /// How long an attempt may take while there is another server to ask in its place.
  private let time: Duration
  private var hedgeAt: ResolverInstant?
  private var running: [Attempt] = []

  /// Begins a race without attempts.
  ///
  /// - Parameters:
  ///   - time: how long an attempt may take while there is another server to ask in its place.
  ///   - hedgeAt: when a second server may be asked beside the first; nil for not at all.
  init(time: Duration, hedgeAt: ResolverInstant?) {
    self.time = time
    self.hedgeAt = hedgeAt
  }

  mutating func begin(_ number: Int, at now: ResolverInstant) {
    running.append(Attempt(number: number, timeoutAt: now + time))
  }

  mutating func end(_ number: Int) { running.removeAll { $0.number == number } }

  /// Decides about an attempt again at that instant.
  mutating func putOff(_ number: Int, until instant: ResolverInstant) {
    for index in running.indices where running[index].number == number { running[index].timeoutAt = instant }
  }

  /// The instant of the next decision; nil if none is to come.
  var nextInstant: ResolverInstant? {
    ([hedgeAt] + running.map(\.timeoutAt)).compactMap(\.self).min()
  }

  /// A decision whose instant has come; each is taken once.
  mutating func due(at now: ResolverInstant) -> Decision? {
    if let instant = hedgeAt, instant <= now {
      hedgeAt = nil
      return .hedge
    }
    for index in running.indices {
      guard let instant = running[index].timeoutAt, instant <= now else { continue }
      running[index].timeoutAt = nil
      return .timeout(of: running[index].number)
    }
    return nil
  }
}

/// How many extra queries hedging may send: at most a tenth, rounded up, over any minute.
struct HedgeBudget: Sendable {
  private var seconds: [(second: Int64, queries: Int, hedges: Int)] = []

  private mutating func current(_ now: ResolverInstant) -> Int {
    let second = now.nanoseconds / 1_000_000_000
    if seconds.last?.second != second {
      seconds.removeAll { $0.second <= second - 60 }
      seconds.append((second, 0, 0))
    }
    return seconds.count - 1
  }

  /// Notes a query that is no hedge.
  mutating func queried(at now: ResolverInstant) { seconds[current(now)].queries += 1 }

  /// Takes the right to one hedge, if there is one left.
  mutating func take(at now: ResolverInstant) -> Bool {
    let index = current(now)
    let queries = seconds.reduce(0) { $0 + $1.queries }
    let hedges = seconds.reduce(0) { $0 + $1.hedges }
    guard hedges < (queries + 9) / 10 else { return false }
    seconds[index].hedges += 1
    return true
  }
}
