// SPDX-License-Identifier: Apache-2.0
/// What is known of a server's health: a value, moved on by outcomes and `now` alone.
struct ServerHealth: Sendable, Hashable {
  /// Transport failures in a row that open the breaker.
  static let failureLimit = 3
  /// For how long an open breaker keeps the server back.
  static let openTime = Duration.seconds(30)
  /// The hedging delay while too few replies are known.
  static let unknownDelay = Duration.milliseconds(150)
  private static let sampleLimit = 64
  private static let fewestSamples = 8

  /// What one caller wants to know of one name; its two families make two queries of one lookup.
  struct LookupKey: Sendable, Hashable {
    var host: HostName
    /// When the lookup ends: no two of one name end at the same instant and differ.
    var end: ResolverInstant
  }

  /// Queries that ended with a reply or a failure.
  private(set) var queries = 0
  /// Those of them without a DNS reply.
  private(set) var failures = 0
  private(set) var failuresInARow = 0
  /// The last lookups that failed here: each counts once, whatever it asked.
  private var failedLookups: [LookupKey] = []
  /// When the breaker opened; nil while it is closed.
  private(set) var openedAt: ResolverInstant?
  /// A probe is under way since then.
  private(set) var probedAt: ResolverInstant?
  /// 429: not to be asked before this.
  private(set) var blockedUntil: ResolverInstant?
  private var samples: [Duration] = []
  private var next = 0

  /// Where the server stands in the order of asking.
  enum Standing: Sendable, Hashable {
    /// At its configured place.
    case usable
    /// At its configured place, for one lookup: its breaker has been open long enough.
    case probe
    /// Behind the usable ones.
    case open(since: ResolverInstant)
  }

  /// What a query's end did to a breaker.
  enum BreakerChange: Sendable, Hashable {
    case none
    /// It is open now, and was closed.
    case opened
    /// It was open, and a failed probe has opened it anew.
    case reopened
    case closed

    init(from before: ResolverInstant?, to after: ResolverInstant?) {
      self =
        switch (before, after) {
        case (nil, nil): .none
        case (nil, _?): .opened
        case (_?, nil): .closed
        case (let before?, let after?): before == after ? .none : .reopened
        }
    }
  }

  func standing(at now: ResolverInstant) -> Standing {
    guard let openedAt else { return .usable }
    guard now >= openedAt + Self.openTime else { return .open(since: openedAt) }
    if let probedAt, now < probedAt + Self.openTime { return .open(since: openedAt) }
    return .probe
  }

  /// Notes that the server is asked.
  mutating func asked(at now: ResolverInstant) {
    if standing(at: now) == .probe { probedAt = now }
  }

  /// Notes a DNS reply of any content.
  mutating func answered(in time: Duration) {
    queries += 1
    failuresInARow = 0
    if !failedLookups.isEmpty { failedLookups = [] }
    openedAt = nil
    probedAt = nil
    if samples.count < Self.sampleLimit {
      samples.append(time)
    } else {
      samples[next] = time
      next = (next + 1) % Self.sampleLimit
    }
  }

  /// Notes a failure.
  ///
  /// An RCODE is a reply; 429, and what this machine could not send, say nothing about health.
  mutating func failed(
    _ kind: ProviderFailure.Kind, of lookup: LookupKey, in time: Duration, at now: ResolverInstant
  ) {
    switch kind {
    case .response: answered(in: time)
    case .cancelled: probedAt = nil
    case .local:
      queries += 1
      failures += 1
      probedAt = nil
    case .rateLimited(let retryAfter):
      queries += 1
      failures += 1
      probedAt = nil
      // Of several that were under way together the longest pause counts.
      blockedUntil = max(blockedUntil ?? now, now + (retryAfter ?? .seconds(1)))
    case .transport:
      queries += 1
      failures += 1
      if !failedLookups.contains(lookup) {
        failuresInARow += 1
        failedLookups = failedLookups.suffix(Self.failureLimit - 1) + [lookup]
      }
      // A failed probe opens the breaker anew.
      if openedAt != nil && probedAt != nil || openedAt == nil && failuresInARow >= Self.failureLimit { openedAt = now }
      probedAt = nil
    }
  }

  /// Forgets what the last network taught; what was counted stays.
  mutating func networkDidChange() {
    var next = ServerHealth()
    (next.queries, next.failures) = (queries, failures)
    self = next
  }

  /// How long to wait for this server before another is asked too: its own 95th percentile.
  var hedgingDelay: Duration {
    guard samples.count >= Self.fewestSamples else { return Self.unknownDelay }
    return max(.milliseconds(1), percentile(95) ?? .zero)
  }

  /// A percentile of the last replies' times; nil before the first.
  func percentile(_ percent: Int) -> Duration? {
    guard !samples.isEmpty else { return nil }
    return samples.sorted()[min(samples.count - 1, samples.count * percent / 100)]
  }
}

/// The order in which servers are asked.
enum ServerOrder {
  /// Usable ones as configured, then those with open breakers, the one that opened first before the others: an open
  /// breaker changes the order and nothing else.
  static func order(_ healths: [ServerHealth], at now: ResolverInstant) -> [Int] {
    var usable: [Int] = []
    var open: [(index: Int, since: ResolverInstant)] = []
    for index in healths.indices {
      switch healths[index].standing(at: now) {
      case .usable, .probe: usable.append(index)
      case .open(let since): open.append((index, since))
      }
    }
    guard !open.isEmpty else { return usable }
    return usable + open.sorted { ($0.since, $0.index) < ($1.since, $1.index) }.map(\.index)
  }
}

/// How many queries were sent to one source, and how many of them brought no answer.
struct QueryTally: Sendable, Hashable {
  private(set) var queries = 0
  private(set) var failed = 0

  /// Notes a query that has ended; one that was given up counts as sent and not as failed.
  mutating func note(_ result: Result<Answer, ProviderFailure>) {
    queries += 1
    if case .failure(let failure) = result, failure.kind != .cancelled { failed += 1 }
  }

  /// What was added since; providers that took others' places have counted anew.
  static func - (now: QueryTally, then: QueryTally) -> QueryTally {
    var rest = QueryTally()
    rest.queries = max(0, now.queries - then.queries)
    rest.failed = max(0, now.failed - then.failed)
    return rest
  }
}
