// SPDX-License-Identifier: Apache-2.0
/// One endpoint as it stands: a value.
struct EndpointState: Sendable {
  private(set) var endpoint: Endpoint
  fileprivate(set) var health = EndpointHealth()
  /// What became of its queries so far.
  fileprivate(set) var tally = QueryTally()
  fileprivate var bucket: TokenBucket?
  /// Whether it has shown that it takes one name at a time, although its format would allow for more.
  fileprivate var refusesBatches = false

  fileprivate init(_ number: Int, _ configuration: ProviderConfiguration, at now: ResolverInstant) {
    endpoint = Endpoint(number, configuration)
    bucket = configuration.rateLimit.map { TokenBucket($0, now: now) }
  }

  var number: Int { endpoint.number }
  var configuration: ProviderConfiguration { endpoint.configuration }

  /// Whether a provider of another configuration is this endpoint: who it is and where it is count, and neither its
  /// credentials nor its path.
  fileprivate func isEndpoint(of other: ProviderConfiguration) -> Bool {
    let (mine, theirs) = (configuration.provider, other.provider)
    return mine.name == theirs.name && Origin(mine.url) == Origin(theirs.url)
  }

  fileprivate mutating func update(_ configuration: ProviderConfiguration, at now: ResolverInstant) {
    endpoint = Endpoint(number, configuration)
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

  fileprivate func isBlocked(at now: ResolverInstant) -> Bool { health.blockedUntil.map { $0 > now } ?? false }

  fileprivate func isReady(at now: ResolverInstant) -> Bool {
    !isBlocked(at: now) && (bucket.map { $0.ready(at: now) <= now } ?? true)
  }

  fileprivate mutating func take(at now: ResolverInstant) -> Bool {
    guard !isBlocked(at: now) else { return false }
    return bucket?.take(at: now) ?? true
  }

  /// The next token of an endpoint that has said nothing against being asked, and when it may be used.
  fileprivate mutating func reserve(at now: ResolverInstant) -> ResolverInstant? {
    guard !isBlocked(at: now) else { return nil }
    return bucket?.reserve(at: now)
  }

  fileprivate func ready(at now: ResolverInstant) -> ResolverInstant {
    max(health.blockedUntil ?? now, bucket?.ready(at: now) ?? now)
  }
}

/// All endpoints as they stand, in the order of asking: a value, moved on by what happens and `now` alone.
struct EndpointStates: Sendable {
  /// Who may be asked now.
  enum Next: Sendable {
    case taken(Endpoint)
    /// The endpoint of that number, from then on: that turn is reserved for it.
    case turn(Int, at: ResolverInstant)
    /// Nobody before that: it said 429, and reserves nothing.
    case blocked(until: ResolverInstant)
    /// Nobody in time: their rates are used up.
    case late(names: [String])
    /// Nobody: there is none any more.
    case none
  }

  /// Whom an attempt that has had its time makes room for.
  enum Relief: Sendable {
    /// That endpoint, in its place.
    case instead(Endpoint)
    /// That endpoint, and the attempt goes on: a slow server is not given up for one that has just failed again and again.
    case beside(Endpoint)
    /// Nobody before that instant.
    case later(ResolverInstant)
    /// Nobody: it goes on for as long as the providers have.
    case nobody
  }

  private(set) var endpoints: [EndpointState] = []
  /// Theirs, as they are configured.
  private var numbers: [Int] = []
  private var nextNumber = 0
  private(set) var hedges = false
  private var budget = HedgeBudget()

  init(_ configuration: ResolverConfiguration, at now: ResolverInstant) { update(configuration, at: now) }

  /// Goes on with other providers: those that stay keep what is known of them.
  mutating func update(_ configuration: ResolverConfiguration, at now: ResolverInstant) {
    var known = endpoints
    endpoints = configuration.providers.map { provider in
      guard let place = known.firstIndex(where: { $0.isEndpoint(of: provider) }) else {
        defer { nextNumber += 1 }
        return EndpointState(nextNumber, provider, at: now)
      }
      var endpoint = known.remove(at: place)
      endpoint.update(provider, at: now)
      return endpoint
    }
    numbers = endpoints.map(\.number)
    hedges = configuration.hedges && endpoints.count > 1
  }

  /// The numbers of the endpoints, in the order in which a lookup asks them.
  func order(at now: ResolverInstant) -> [Int] {
    // The only one is asked whatever its health.
    guard endpoints.count > 1 else { return numbers }
    return EndpointOrder.order(endpoints.map(\.health), at: now).map { endpoints[$0].number }
  }

  /// Takes the first of those endpoints that may be asked now, or the next turn of the one that may be asked soonest.
  ///
  /// An empty bucket is no failure: the next one is asked instead.
  mutating func next(among numbers: [Int], before deadline: ResolverInstant, at now: ResolverInstant) -> Next {
    for number in numbers {
      guard let place = place(of: number), endpoints[place].take(at: now) else { continue }
      budget.queried(at: now)
      return .taken(endpoints[place].endpoint)
    }
    let places = places(of: numbers)
    guard let soonest = places.min(by: { endpoints[$0].ready(at: now) < endpoints[$1].ready(at: now) }) else {
      return .none
    }
    let ready = endpoints[soonest].ready(at: now)
    guard ready < deadline else { return .late(names: places.map { endpoints[$0].endpoint.name }) }
    guard let instant = endpoints[soonest].reserve(at: now) else { return .blocked(until: ready) }
    return .turn(endpoints[soonest].number, at: instant)
  }

  /// The turn that was reserved has come; nil if the endpoint has said 429 or gone meanwhile.
  mutating func begin(_ number: Int, at now: ResolverInstant) -> Endpoint? {
    guard let place = place(of: number), !endpoints[place].isBlocked(at: now) else { return nil }
    budget.queried(at: now)
    return endpoints[place].endpoint
  }

  /// Takes the endpoint that an attempt makes room for when it has had its time: one whose breaker is closed, or else
  /// one whose breaker is open.
  mutating func relief(among numbers: [Int], before deadline: ResolverInstant, at now: ResolverInstant) -> Relief {
    let inTime = places(of: numbers).filter { endpoints[$0].ready(at: now) < deadline }
    let usable = inTime.filter { !endpoints[$0].isOpen(at: now) }
    let places = usable.isEmpty ? inTime : usable
    guard let soonest = places.min(by: { endpoints[$0].ready(at: now) < endpoints[$1].ready(at: now) }) else {
      return .nobody
    }
    guard endpoints[soonest].take(at: now) else { return .later(endpoints[soonest].ready(at: now)) }
    budget.queried(at: now)
    let endpoint = endpoints[soonest].endpoint
    return usable.isEmpty ? .beside(endpoint) : .instead(endpoint)
  }

  /// Takes one of those endpoints for a second query beside the first, where the budget has room for it.
  mutating func takeHedge(among numbers: [Int], at now: ResolverInstant) -> Endpoint? {
    // Only where there is somebody to ask: a hedge's right is not spent on nothing.
    guard let place = places(of: numbers).first(where: { endpoints[$0].isReady(at: now) }), budget.take(at: now),
      endpoints[place].take(at: now)
    else { return nil }
    return endpoints[place].endpoint
  }

  /// How long to wait for an endpoint before another is asked too.
  func hedgingDelay(of number: Int) -> Duration {
    place(of: number).map { endpoints[$0].health.hedgingDelay } ?? EndpointHealth.unknownDelay
  }

  /// The endpoint that is asked first, where it takes several names in one query.
  func batchEndpoint(at now: ResolverInstant) -> (number: Int, limit: Int)? {
    guard let number = order(at: now).first, let place = place(of: number), !endpoints[place].refusesBatches,
      let provider = endpoints[place].configuration.provider as? any BatchProvider
    else { return nil }
    return (number, provider.batchLimit)
  }

  /// An endpoint takes one name at a time after all.
  mutating func refusesBatches(_ number: Int) {
    if let place = place(of: number) { endpoints[place].refusesBatches = true }
  }

  /// An endpoint is asked.
  mutating func asked(_ number: Int, at now: ResolverInstant) {
    if let place = place(of: number) { endpoints[place].health.asked(at: now) }
  }

  /// A query has ended.
  ///
  /// - Returns: whether the endpoint's breaker is another one by now; nil if the endpoint has gone.
  @discardableResult
  mutating func ended(
    _ number: Int, _ result: Result<Answer, ProviderFailure>, of lookup: EndpointHealth.LookupKey, in time: Duration,
    at now: ResolverInstant
  ) -> BreakerChange? {
    guard let place = place(of: number) else { return nil }
    let openedAt = endpoints[place].health.openedAt
    switch result {
    case .success: endpoints[place].health.answered(in: time)
    case .failure(let failure): endpoints[place].health.failed(failure.kind, of: lookup, in: time, at: now)
    }
    endpoints[place].tally.note(result)
    return BreakerChange(from: openedAt, to: endpoints[place].health.openedAt)
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

  /// Forgets what the last network taught.
  mutating func networkDidChange() {
    for place in endpoints.indices {
      endpoints[place].health.networkDidChange()
      endpoints[place].refusesBatches = false
    }
  }

  private func place(of number: Int) -> Int? { endpoints.firstIndex { $0.number == number } }

  private func places(of numbers: [Int]) -> [Int] { numbers.compactMap(place) }
}
