// SPDX-License-Identifier: Apache-2.0
/// The attempts of one question that run at the same time, and when the next decision about them is due.
///
/// A value: attempts that begin and end change it, and so does time.
struct AttemptRace: Sendable, Hashable {
  /// A decision that is due.
  enum Decision: Sendable, Hashable {
    /// The first server takes longer than usual: a second one may be asked as well.
    case hedge
    /// The attempt at that server has used up its time: another server takes its place, if there is one.
    case timeout(of: Int)
  }

  private struct Attempt: Sendable, Hashable {
    var number: Int
    /// When its time is used up; nil once that has been decided about.
    var timeoutAt: ResolverInstant?
  }

  /// How long an attempt may take while there is another server to ask instead.
  private let time: Duration
  private var hedgeAt: ResolverInstant?
  private var running: [Attempt] = []

  /// Begins a race without attempts.
  ///
  /// - Parameters:
  ///   - time: how long an attempt may take while there is another server to ask instead.
  ///   - hedgeAt: when a second server may be asked as well; nil for never.
  init(time: Duration, hedgeAt: ResolverInstant?) {
    self.time = time
    self.hedgeAt = hedgeAt
  }

  mutating func begin(_ number: Int, at now: ResolverInstant) {
    running.append(Attempt(number: number, timeoutAt: now + time))
  }

  mutating func end(_ number: Int) { running.removeAll { $0.number == number } }

  /// Postpones the decision about an attempt.
  mutating func postpone(_ number: Int, until instant: ResolverInstant) {
    for index in running.indices where running[index].number == number { running[index].timeoutAt = instant }
  }

  /// When the next decision is due; nil if none is.
  var nextInstant: ResolverInstant? {
    running.reduce(hedgeAt) { first, attempt in
      guard let first, let timeoutAt = attempt.timeoutAt else { return first ?? attempt.timeoutAt }
      return min(first, timeoutAt)
    }
  }

  /// The next decision that is due; each is returned once.
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

/// How many extra queries hedging may send: in any minute at most a tenth of the others, rounded up, or five.
///
/// A lookup mostly waits for both families of a name, and a hedge for one of them alone would bring it nothing: where one
/// has a hedge, the other may have one as well, which counts too.
struct HedgeBudget: Sendable {
  /// As many as there may be in any minute, so that the first lookups of a process need not wait for a silent server.
  static let least = 5

  private var seconds: [(second: Int64, queries: Int, hedges: Int)] = []
  /// Questions that may have a hedge because the name's other family has one, and when their lookups end.
  private var others: [AddressQuestion: ResolverInstant] = [:]

  private mutating func current(_ now: ResolverInstant) -> Int {
    let second = now.nanoseconds / 1_000_000_000
    if seconds.last?.second != second {
      seconds.removeAll { $0.second <= second - 60 }
      seconds.append((second, 0, 0))
    }
    return seconds.count - 1
  }

  /// Counts a query that is not a hedge.
  mutating func queried(at now: ResolverInstant) { seconds[current(now)].queries += 1 }

  /// Counts a hedge if the budget has room for it.
  ///
  /// - Parameters:
  ///   - question: what is asked for, if that is a family's addresses.
  ///   - end: when the lookup ends, which is the same for both families.
  ///   - now: the present.
  /// - Returns: whether it may be sent.
  mutating func take(for question: AddressQuestion?, until end: ResolverInstant, at now: ResolverInstant) -> Bool {
    let index = current(now)
    if let question, others[question] == end {
      others[question] = nil
    } else {
      let queries = seconds.reduce(0) { $0 + $1.queries }
      let hedges = seconds.reduce(0) { $0 + $1.hedges }
      guard hedges < max(Self.least, (queries + 9) / 10) else { return false }
      others = others.filter { $0.value > now }
      if let question { others[question.ofOtherFamily] = end }
    }
    seconds[index].hedges += 1
    return true
  }
}
