// SPDX-License-Identifier: Apache-2.0
/// One server as it stands: a value.
struct DNSServerState: Sendable {
  private(set) var server: DNSServer
  fileprivate(set) var health = ServerHealth()
  /// What became of its queries so far.
  fileprivate(set) var tally = QueryTally()
  fileprivate var bucket: TokenBucket?
  /// Whether it has shown that it takes one name at a time, although its format would allow for more.
  fileprivate var refusesBatches = false

  fileprivate init(_ number: Int, _ configuration: ProviderConfiguration, at now: ResolverInstant) {
    server = DNSServer(number, configuration)
    bucket = configuration.rateLimit.map { TokenBucket($0, now: now) }
  }

  var number: Int { server.number }
  var configuration: ProviderConfiguration { server.configuration }

  /// Whether a provider of another configuration is this server: who it is and where it is count, and neither its
  /// credentials nor its path.
  fileprivate func isServer(of other: ProviderConfiguration) -> Bool {
    let (mine, theirs) = (configuration.provider, other.provider)
    return mine.name == theirs.name && Origin(mine.url) == Origin(theirs.url)
  }

  fileprivate mutating func update(_ configuration: ProviderConfiguration, at now: ResolverInstant) {
    server = DNSServer(number, configuration)
    refusesBatches = false
    guard let limit = configuration.rateLimit else {
      bucket = nil
      return
    }
    if bucket == nil { bucket = TokenBucket(limit, now: now) } else { bucket?.change(to: limit, at: now) }
  }

  fileprivate func isOpen(at now: ResolverInstant) -> Bool {
    if case .open = health.standing(at: now) { true } else { false }
  }

  /// Why it cannot be asked in time.
  fileprivate func tooLate(at now: ResolverInstant) -> DirectDNSError.Attempt {
    guard let blockedUntil = health.blockedUntil, blockedUntil > now else {
      return .init(provider: server.name, reason: "its request rate is used up", trouble: .rate)
    }
    let seconds = (blockedUntil - now + .nanoseconds(999_999_999)).components.seconds
    return .init(provider: server.name, reason: "it wants no request for \(seconds) s more (429)", trouble: .rate)
  }

  fileprivate func isBlocked(at now: ResolverInstant) -> Bool { health.blockedUntil.map { $0 > now } ?? false }

  fileprivate func isReady(at now: ResolverInstant) -> Bool {
    !isBlocked(at: now) && (bucket.map { $0.ready(at: now) <= now } ?? true)
  }

  fileprivate mutating func take(at now: ResolverInstant) -> Bool {
    guard !isBlocked(at: now) else { return false }
    return bucket?.take(at: now) ?? true
  }

  /// The next token of a server that has said nothing against being asked, and when it may be used.
  fileprivate mutating func reserve(at now: ResolverInstant) -> ResolverInstant? {
    guard !isBlocked(at: now) else { return nil }
    return bucket?.reserve(at: now)
  }

  fileprivate func ready(at now: ResolverInstant) -> ResolverInstant {
    max(health.blockedUntil ?? now, bucket?.ready(at: now) ?? now)
  }
}

/// All servers as they stand, in the order of asking: a value, moved on by what happens and `now` alone.
struct ServerStates: Sendable {
  /// Who may be asked now.
  enum Next: Sendable {
    case taken(DNSServer)
    /// The server of that number, from then on: that turn is reserved for it.
    case turn(Int, at: ResolverInstant)
    /// Nobody before that: it said 429, and reserves nothing.
    case blocked(until: ResolverInstant)
    /// Nobody in time, and why.
    case late([DirectDNSError.Attempt])
    /// Nobody: there is none any more.
    case none
  }

  /// Whom an attempt that has had its time makes room for.
  enum Failover: Sendable {
    /// That server, in its place.
    case instead(DNSServer)
    /// That server, and the attempt goes on: a slow server is not given up for one that has just failed again and again.
    case beside(DNSServer)
    /// Nobody before that instant.
    case later(ResolverInstant)
    /// Nobody: it goes on for as long as the providers have.
    case nobody
  }

  private(set) var all: [DNSServerState] = []
  /// Theirs, as they are configured.
  private var numbers: [Int] = []
  private var nextNumber = 0
  private(set) var hedges = false
  private var budget = HedgeBudget()

  init(_ configuration: ResolverConfiguration, at now: ResolverInstant) { update(configuration, at: now) }

  /// Goes on with other providers: those that stay keep what is known of them.
  mutating func update(_ configuration: ResolverConfiguration, at now: ResolverInstant) {
    var known = all
    all = configuration.providers.map { provider in
      guard let place = known.firstIndex(where: { $0.isServer(of: provider) }) else {
        defer { nextNumber += 1 }
        return DNSServerState(nextNumber, provider, at: now)
      }
      var server = known.remove(at: place)
      server.update(provider, at: now)
      return server
    }
    numbers = all.map(\.number)
    hedges = configuration.hedges && all.count > 1
  }

  /// The numbers of the servers, in the order in which a lookup asks them.
  func order(at now: ResolverInstant) -> [Int] {
    // The only one is asked whatever its health.
    guard all.count > 1 else { return numbers }
    return ServerOrder.order(all.map(\.health), at: now).map { all[$0].number }
  }

  /// Takes the first of those servers that may be asked now, or the next turn of the one that may be asked soonest.
  ///
  /// An empty bucket is no failure: the next one is asked instead.
  mutating func next(among numbers: [Int], before deadline: ResolverInstant, at now: ResolverInstant) -> Next {
    for number in numbers {
      guard let place = place(of: number), all[place].take(at: now) else { continue }
      budget.queried(at: now)
      return .taken(all[place].server)
    }
    let places = places(of: numbers)
    guard let soonest = places.min(by: { all[$0].ready(at: now) < all[$1].ready(at: now) }) else {
      return .none
    }
    let ready = all[soonest].ready(at: now)
    guard ready < deadline else { return .late(places.map { all[$0].tooLate(at: now) }) }
    guard let instant = all[soonest].reserve(at: now) else { return .blocked(until: ready) }
    return .turn(all[soonest].number, at: instant)
  }

  /// The turn that was reserved has come; nil if the server has said 429 or gone meanwhile.
  mutating func begin(_ number: Int, at now: ResolverInstant) -> DNSServer? {
    guard let place = place(of: number), !all[place].isBlocked(at: now) else { return nil }
    budget.queried(at: now)
    return all[place].server
  }

  /// Takes the server that an attempt makes room for when it has had its time: one whose breaker is closed, or else
  /// one whose breaker is open.
  mutating func takeFailover(among numbers: [Int], before deadline: ResolverInstant, at now: ResolverInstant)
    -> Failover
  {
    let inTime = places(of: numbers).filter { all[$0].ready(at: now) < deadline }
    let usable = inTime.filter { !all[$0].isOpen(at: now) }
    let places = usable.isEmpty ? inTime : usable
    guard let soonest = places.min(by: { all[$0].ready(at: now) < all[$1].ready(at: now) }) else {
      return .nobody
    }
    guard all[soonest].take(at: now) else { return .later(all[soonest].ready(at: now)) }
    budget.queried(at: now)
    let server = all[soonest].server
    return usable.isEmpty ? .beside(server) : .instead(server)
  }

  /// Takes one of those servers for a second query beside the first, where the budget has room for it.
  mutating func takeHedge(among numbers: [Int], at now: ResolverInstant) -> DNSServer? {
    // Only where there is somebody to ask: a hedge's right is not spent on nothing.
    guard let place = places(of: numbers).first(where: { all[$0].isReady(at: now) }), budget.take(at: now),
      all[place].take(at: now)
    else { return nil }
    return all[place].server
  }

  /// How long to wait for a server before another is asked too.
  func hedgingDelay(of number: Int) -> Duration {
    place(of: number).map { all[$0].health.hedgingDelay } ?? ServerHealth.unknownDelay
  }

  /// The server that is asked first, where it takes several names in one query.
  func batchServer(at now: ResolverInstant) -> (number: Int, limit: Int)? {
    guard let number = order(at: now).first, let place = place(of: number), !all[place].refusesBatches,
      let provider = all[place].configuration.provider as? any BatchProvider
    else { return nil }
    return (number, provider.batchLimit)
  }

  /// A server takes one name at a time after all.
  mutating func refusesBatches(_ number: Int) {
    if let place = place(of: number) { all[place].refusesBatches = true }
  }

  /// A server is asked.
  mutating func asked(_ number: Int, at now: ResolverInstant) {
    if let place = place(of: number) { all[place].health.asked(at: now) }
  }

  /// A query has ended.
  ///
  /// - Returns: whether the server's breaker is another one by now; nil if the server has gone.
  @discardableResult
  mutating func ended(
    _ number: Int, _ result: Result<Answer, ProviderFailure>, of lookup: ServerHealth.LookupKey, in time: Duration,
    at now: ResolverInstant
  ) -> ServerHealth.BreakerChange? {
    guard let place = place(of: number) else { return nil }
    let openedAt = all[place].health.openedAt
    switch result {
    case .success: all[place].health.answered(in: time)
    case .failure(let failure): all[place].health.failed(failure.kind, of: lookup, in: time, at: now)
    }
    all[place].tally.note(result)
    return ServerHealth.BreakerChange(from: openedAt, to: all[place].health.openedAt)
  }

  /// A query was given up since another server answered before it.
  ///
  /// That says nothing of the server's health, but that a probe was no success: the next one has its time.
  mutating func lostRace(_ number: Int) {
    if let place = place(of: number) {
      all[place].tally.note(.failure(ProviderFailure(.cancelled, "another server answered first")))
    }
  }

  /// Forgets what the last network taught.
  mutating func networkDidChange() {
    for place in all.indices {
      all[place].health.networkDidChange()
      all[place].refusesBatches = false
    }
  }

  private func place(of number: Int) -> Int? { all.firstIndex { $0.number == number } }

  private func places(of numbers: [Int]) -> [Int] { numbers.compactMap(place) }
}
