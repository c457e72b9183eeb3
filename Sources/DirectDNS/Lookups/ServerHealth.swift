// SPDX-License-Identifier: Apache-2.0
/// A server's health, as its queries show it: a value that outcomes and time change.
struct ServerHealth: Sendable, Hashable {
  /// How many transport failures in a row open the breaker; those of one lookup count once.
  static let failureLimit = 3
  /// How long a breaker stays open before the server is tried again.
  private static let openTime = Duration.seconds(30)
  /// The hedging delay until enough replies are known.
  static let unknownDelay = Duration.milliseconds(150)
  private static let sampleLimit = 64
  private static let fewestSamples = 8

  /// Tells one lookup of a name from others: the queries for its two families have the same key.
  struct LookupKey: Sendable, Hashable {
    var host: HostName
    /// When the lookup ends: two lookups of one name do not end at the same instant.
    var end: ResolverInstant
  }

  /// How many queries ended with a reply or a failure.
  private(set) var queries = 0
  /// How many of them brought no DNS reply.
  private(set) var failures = 0
  private(set) var failuresInARow = 0
  /// The last lookups that failed at this server: each counts once, however many queries it took.
  private var failedLookups: [LookupKey] = []
  /// When the breaker opened; nil while it is closed.
  private(set) var openedAt: ResolverInstant?
  /// When the probe that is under way was sent; nil if none is.
  private(set) var probedAt: ResolverInstant?
  /// Its pause after 429, until it is asked as before.
  private(set) var pause: ServerPause?
  /// The names that callers with little time have asked for in vain since the last reply, one after the other, and when
  /// the last of them gave up.
  private var vainNames: [HostName] = []
  private var vainUntil: ResolverInstant?
  /// The times of the last replies; once there are enough of them, the next one replaces that at ``next``.
  private var samples: [Duration] = []
  private var next = 0
  /// The same times in ascending order: every question asks for a percentile, which would otherwise sort them.
  private var ascending: [Duration] = []

  /// Its place in the order of asking.
  enum BreakerState: Sendable, Hashable {
    /// As configured.
    case usable
    /// As configured, but for one lookup only: its breaker has been open long enough to try it.
    case probe
    /// Behind the usable servers.
    case open(since: ResolverInstant)
  }

  /// What the end of a query did to the breaker.
  enum BreakerChange: Sendable, Hashable {
    /// It was closed, and is open now.
    case opened
    /// It was open, and a failed probe keeps it open for another while.
    case reopened
    case closed

    /// The change by when it had opened and when it has now; nil if there is none.
    init?(from before: ResolverInstant?, to after: ResolverInstant?) {
      guard before != after else { return nil }
      self = before == nil ? .opened : after == nil ? .closed : .reopened
    }
  }

  func breaker(at now: ResolverInstant) -> BreakerState {
    guard let openedAt else { return .usable }
    guard now >= openedAt + Self.openTime else { return .open(since: openedAt) }
    if let probedAt, now < probedAt + Self.openTime { return .open(since: openedAt) }
    return .probe
  }

  /// Whether questions wait for what a query finds out that was sent after a pause.
  func isTried(at now: ResolverInstant) -> Bool {
    pause.map { $0.end <= now && $0.heldUntil(at: now) != nil } ?? false
  }

  /// Notes that the server is being asked.
  mutating func asked(at now: ResolverInstant) {
    if breaker(at: now) == .probe { probedAt = now }
    pause?.asked(at: now)
  }

  /// Notes a DNS reply, whatever it says.
  mutating func answered(in time: Duration, at now: ResolverInstant) {
    if pause?.replied(after: time, at: now) == true { pause = nil }
    queries += 1
    failuresInARow = 0
    if !failedLookups.isEmpty { failedLookups = [] }
    if vainUntil != nil { (vainNames, vainUntil) = ([], nil) }
    openedAt = nil
    probedAt = nil
    if samples.count < Self.sampleLimit {
      samples.append(time)
    } else {
      ascending.remove(at: place(of: samples[next]))
      samples[next] = time
      next = (next + 1) % Self.sampleLimit
    }
    ascending.insert(time, at: place(of: time))
  }

  /// The place in ``ascending`` of the first time that is not shorter.
  private func place(of time: Duration) -> Int {
    var (low, high) = (0, ascending.count)
    while low < high {
      let middle = (low + high) / 2
      if ascending[middle] < time { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Notes a failure.
  ///
  /// A reply with an RCODE counts as a reply. 429, and queries that this machine could not send, say nothing about
  /// health.
  mutating func failed(
    _ kind: ProviderFailure.Kind, of lookup: LookupKey, in time: Duration, at now: ResolverInstant
  ) {
    switch kind {
    case .response: answered(in: time, at: now)
    case .cancelled:
      probedAt = nil
      pause?.wasNoTrial(after: time)
    case .local:
      queries += 1
      failures += 1
      probedAt = nil
      pause?.wasNoTrial(after: time)
    case .rateLimited(let retryAfter):
      queries += 1
      failures += 1
      probedAt = nil
      // `Retry-After: 0`, or a date that is over, is no leave to ask on and on.
      let end = now + max(retryAfter ?? .zero, .seconds(1))
      if pause == nil { pause = ServerPause(until: end) } else { pause?.refused(until: end) }
    case .transport:
      // Its breaker counts that: nothing is held back any more for fear of 429.
      if let end = pause?.end, end <= now { pause = nil }
      queries += 1
      failures += 1
      if !failedLookups.contains(lookup) {
        failuresInARow += 1
        failedLookups = failedLookups.suffix(Self.failureLimit - 1) + [lookup]
      }
      // A failed probe keeps the breaker open for another while.
      if openedAt != nil && probedAt != nil || openedAt == nil && failuresInARow >= Self.failureLimit { openedAt = now }
      probedAt = nil
    }
  }

  /// Notes that nothing came from the server in the little time that a caller allowed.
  ///
  /// By itself that says nothing about the server. Lookups of several names, one after the other, each of which has waited
  /// for longer than the server mostly takes, count like as many failures in a row. A probe that ends like this is the only
  /// one for its time all the same.
  mutating func wasSilent(to host: HostName, for time: Duration, at now: ResolverInstant) {
    guard openedAt == nil, time >= hedgingDelay, !vainNames.contains(host), vainUntil.map({ $0 <= now - time }) ?? true
    else { return }
    vainNames.append(host)
    vainUntil = now
    guard vainNames.count >= Self.failureLimit else { return }
    openedAt = now
    (vainNames, vainUntil) = ([], nil)
  }

  /// Forgets what was learned on the last network; only the counts stay.
  mutating func networkDidChange() {
    var next = ServerHealth()
    (next.queries, next.failures) = (queries, failures)
    self = next
  }

  /// How long to wait for this server before another one is asked as well: the 95th percentile of its own times.
  var hedgingDelay: Duration {
    guard samples.count >= Self.fewestSamples else { return Self.unknownDelay }
    return max(.milliseconds(1), percentile(95) ?? .zero)
  }

  /// A percentile of the times of the last replies; nil before the first one.
  func percentile(_ percent: Int) -> Duration? {
    ascending.isEmpty ? nil : ascending[min(ascending.count - 1, ascending.count * percent / 100)]
  }
}

/// The order in which servers are asked.
enum ServerOrder {
  /// Usable servers as configured, then those with open breakers in the order of opening.
  ///
  /// An open breaker changes the order and nothing else: if all are open, servers are asked all the same.
  ///
  /// - Parameter breakers: the breakers of the servers, in the configured order.
  /// - Returns: their indices.
  static func order(_ breakers: [ServerHealth.BreakerState]) -> [Int] {
    func since(_ index: Int) -> ResolverInstant {
      if case .open(let since) = breakers[index] { since } else { ResolverInstant(nanoseconds: .min) }
    }
    return breakers.indices.sorted { (since($0), $0) < (since($1), $1) }
  }
}

/// How many queries one source was sent, and how many of them it failed.
struct QueryTally: Sendable, Hashable {
  private(set) var queries = 0
  private(set) var failed = 0

  /// Counts a query that has ended; one that was cancelled counts as sent, and not as failed.
  mutating func note(_ result: Result<Answer, ProviderFailure>) {
    queries += 1
    if case .failure(let failure) = result, failure.kind != .cancelled { failed += 1 }
  }

  /// Counts a query as one that was cancelled, whatever its end.
  mutating func noteCancelled() { queries += 1 }

  /// The difference to an earlier count; never negative, since a replaced provider's counts begin at zero.
  static func - (now: QueryTally, then: QueryTally) -> QueryTally {
    var rest = QueryTally()
    rest.queries = max(0, now.queries - then.queries)
    rest.failed = max(0, now.failed - then.failed)
    return rest
  }
}
