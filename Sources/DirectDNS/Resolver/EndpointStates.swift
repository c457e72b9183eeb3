/// One endpoint as it stands: a value.
struct EndpointState: Sendable {
  /// Stays while the endpoint is configured, and is never given to another.
  let number: Int
  private(set) var configuration: ProviderConfiguration
  fileprivate(set) var health = EndpointHealth()
  private var bucket: TokenBucket?

  fileprivate init(_ number: Int, _ configuration: ProviderConfiguration, at now: ResolverInstant) {
    self.number = number
    self.configuration = configuration
    bucket = configuration.rateLimit.map { TokenBucket($0, now: now) }
  }

  /// Whether a provider of another configuration is this endpoint: who it is and where it is count, and neither its
  /// credentials nor its path.
  fileprivate func isEndpoint(of other: ProviderConfiguration) -> Bool {
    let (mine, theirs) = (configuration.provider, other.provider)
    return mine.name == theirs.name && Origin(mine.url) == Origin(theirs.url)
  }

  fileprivate mutating func update(_ configuration: ProviderConfiguration, at now: ResolverInstant) {
    self.configuration = configuration
    guard let limit = configuration.rateLimit else {
      bucket = nil
      return
    }
    if bucket == nil { bucket = TokenBucket(limit, now: now) } else { bucket?.change(to: limit, at: now) }
  }

  private func isBlocked(at now: ResolverInstant) -> Bool { health.blockedUntil.map { $0 > now } ?? false }

  fileprivate func isReady(at now: ResolverInstant) -> Bool {
    !isBlocked(at: now) && (bucket.map { $0.ready(at: now) <= now } ?? true)
  }

  fileprivate mutating func take(at now: ResolverInstant) -> Bool {
    guard !isBlocked(at: now) else { return false }
    return bucket?.take(at: now) ?? true
  }

  fileprivate func ready(at now: ResolverInstant) -> ResolverInstant {
    max(health.blockedUntil ?? now, bucket?.ready(at: now) ?? now)
  }
}

/// All endpoints as they stand, in the order of asking: a value, moved on by what happens and `now` alone.
struct EndpointStates: Sendable {
  /// Who may be asked now.
  enum Next: Sendable {
    case taken(EndpointState)
    /// Nobody at once: the rates of those are used up until then.
    case empty(names: [String], ready: ResolverInstant)
    /// Nobody at all.
    case none
  }

  private var endpoints: [EndpointState] = []
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
    hedges = configuration.hedges && endpoints.count > 1
  }

  /// The numbers of the endpoints, in the order in which a lookup asks them.
  func order(at now: ResolverInstant) -> [Int] {
    UpstreamOrder.order(endpoints.map(\.health), at: now).map { endpoints[$0].number }
  }

  /// Takes the first of those endpoints that may be asked now.
  ///
  /// An empty bucket is no failure: the next one is asked instead.
  mutating func next(among numbers: [Int], at now: ResolverInstant) -> Next {
    var waiting: [(name: String, ready: ResolverInstant)] = []
    for place in places(of: numbers) {
      if endpoints[place].take(at: now) {
        budget.queried(at: now)
        return .taken(endpoints[place])
      }
      waiting.append((endpoints[place].configuration.provider.name, endpoints[place].ready(at: now)))
    }
    guard let ready = waiting.map(\.ready).min() else { return .none }
    return .empty(names: waiting.map(\.name), ready: ready)
  }

  /// Takes one of those endpoints for a second query beside the first, where the budget has room for it.
  mutating func takeHedge(among numbers: [Int], at now: ResolverInstant) -> EndpointState? {
    // Only where there is somebody to ask: a hedge's right is not spent on nothing.
    guard let place = places(of: numbers).first(where: { endpoints[$0].isReady(at: now) }), budget.take(at: now),
      endpoints[place].take(at: now)
    else { return nil }
    return endpoints[place]
  }

  /// Notes something about an endpoint's health, and says what that is now; nothing if the endpoint has gone.
  @discardableResult
  mutating func note(_ number: Int, _ change: (inout EndpointHealth) -> Void) -> EndpointHealth? {
    guard let place = places(of: [number]).first else { return nil }
    change(&endpoints[place].health)
    return endpoints[place].health
  }

  /// Forgets what the last network taught.
  mutating func forgetHealth() {
    for place in endpoints.indices { endpoints[place].health = EndpointHealth() }
  }

  private func places(of numbers: [Int]) -> [Int] {
    numbers.compactMap { number in endpoints.firstIndex { $0.number == number } }
  }
}
