/// What became of answers that the store had yet to get.
public struct StoreFlush: Sendable {
  /// The answers that the store did not get.
  public var unwritten: Int
  /// Why not, where the store said so; without a reason, time ran out.
  public var reason: DirectDNSError?
}

/// The store beyond the process: looked at before the providers are asked, told afterwards.
extension Resolver {
  /// What the store makes of a flight.
  enum StoreTurn: Sendable {
    /// The flight is over.
    case landed(FlightOutcome)
    /// The providers are asked, under a lease if other members wait for it.
    case ask(StoreLink.Lease?)
  }

  /// Looks whether the store knows better, and whose turn it is to ask.
  func storeTurn(
    _ store: StoreLink, _ question: AddressQuestion, _ deadlines: LookupDeadlines
  ) async -> StoreTurn {
    switch await restored(store, question) {
    case .found(let outcome): return .landed(outcome)
    case .unavailable: return .ask(nil)
    case .nothing: break
    }
    guard store.hasLeases else { return .ask(nil) }
    let wait = LeaseWait(from: clock.now, patience: settings.configuration.cache.patience, deadlines: deadlines)
    while true {
      // It ends by itself a second after its holder would have.
      let duration = deadlines.whole - clock.now + .seconds(1)
      let state = await store.takeLease(on: question, for: duration)
      switch wait.step(state, at: clock.now) {
      case .ask(let lease):
        storeReport?.turn(lease != nil ? .taken : state == .held ? .late : .unavailable)
        // Whoever had the lease until now has written before giving it back.
        guard let lease, case .found(let outcome) = await restored(store, question) else { return .ask(lease) }
        store.endSoon(lease)
        return .landed(outcome)
      case .lookAgain(let instant):
        guard (try? await clock.sleep(until: instant)) != nil else { return .ask(nil) }
        switch await restored(store, question) {
        case .found(let outcome):
          storeReport?.turn(.awaited)
          return .landed(outcome)
        case .unavailable: return .ask(nil)
        case .nothing: break
        }
      }
    }
  }

  /// Takes over what the store has if it is newer than what the cache has.
  ///
  /// - Returns: what the flight lands with: a fresh answer, or word that there is now an older one to go by; nothing if
  ///   providers are to be asked.
  private func restored(_ store: StoreLink, _ question: AddressQuestion) async -> StoreReading<FlightOutcome> {
    let stored: CacheEntry
    switch await store.read(question, source: SourceNames.store) {
    case .found(let entry): stored = entry
    case .nothing:
      storeReport?.read(isHit: false)
      return .nothing
    case .unavailable: return .unavailable
    }
    let now = clock.now
    let known = cache.value(question.host)?[question.family].entry
    let use = StoredUse(
      phase: cache.phase(of: stored, at: now), askedAt: stored.life.askedAt, isNegative: stored.isNegative,
      known: known?.life)
    storeReport?.read(isHit: use != .nothing)
    if use != .nothing { noteKept(evicted: cache.store(stored, for: question, now: now)) }
    switch use {
    case .answer:
      let answer = Answer(stored.content, ttl: nil, canonicalName: stored.canonicalName)
      return .found(.answered(answer, .store, stored.life))
    case .makeshift: return .found(.restored)
    case .improvement, .nothing: return .nothing
    }
  }

  /// Has the store told what a provider said.
  func tellStore(
    _ answered: Upstreams.Answered, _ question: AddressQuestion, source: UInt16, lease: StoreLink.Lease?
  ) {
    guard let store else { return }
    let entry = CacheEntry(
      answered.answer, source: source, policy: settings.configuration.cache, asked: answered.asked, now: clock.now)
    store.write(entry, to: question, provider: answered.provider, lease: lease)
  }

  // MARK: Ending

  /// For how long a process that ends waits for its store.
  public static let flushLimit = Duration.seconds(2)

  /// Waits for the queries under way, such as the refresh behind an answer that was served at once.
  ///
  /// They end with the resolver: a process that ends after a few lookups gives them a moment, so that the store gets what
  /// they bring.
  ///
  /// - Parameter limit: how long to wait at most.
  public func finishQueries(within limit: Duration) async {
    let flights = flights.underWay
    guard !flights.isEmpty else { return }
    _ = await Deadline.wait(until: clock.now + limit, clock) {
      for flight in flights { _ = await flight.landed() }
    }
  }

  /// Waits until the store has been told all that was learned.
  ///
  /// A store that fails is tried once.
  ///
  /// - Parameter limit: how long to wait at most; default ``flushLimit``.
  /// - Returns: what the store did not get; nothing unwritten where there is no store.
  @discardableResult
  public func flushStore(within limit: Duration = flushLimit) async -> StoreFlush {
    guard let store else { return StoreFlush(unwritten: 0) }
    let (unwritten, reason) = await store.flush(until: clock.now + limit)
    let flush = StoreFlush(unwritten: unwritten, reason: reason)
    storeReport?.unwritten(flush)
    return flush
  }

  /// Ends what is under way, like ``shutDown()``, and waits until the store has been told what was learned and has it where
  /// it stays: a copy of a store's file then has it, too.
  ///
  /// - Parameter limit: how long to wait for the store at most; see ``flushLimit``.
  /// - Returns: what the store did not get.
  @discardableResult
  public func shutDown(flushingWithin limit: Duration) async -> StoreFlush {
    shutDown()
    let end = clock.now + limit
    let flush = await flushStore(within: limit)
    await store?.checkpoint(until: end)
    return flush
  }
}

/// What a stored answer is good for: a pure function of where it and the cache's own stand in their lives.
enum StoredUse: Sendable, Hashable {
  /// It ends the flight.
  case answer
  /// It is not fresh, and better than the nothing that the cache has: those who wait may want it at once.
  case makeshift
  /// It is not fresh, and younger than the cache's own: kept while the providers are asked.
  case improvement
  case nothing

  /// - Parameters:
  ///   - phase: where the stored answer stands.
  ///   - askedAt: when it was asked for.
  ///   - isNegative: whether it is a negative one, which serves while it is fresh and never afterwards.
  ///   - known: the life of the cache's own, if it has one.
  init(phase: CachePhase, askedAt: Int64, isNegative: Bool, known: CacheLife?) {
    guard phase != .gone, askedAt > known?.askedAt ?? .min else {
      self = .nothing
      return
    }
    if phase == .fresh {
      self = .answer
    } else if isNegative {
      self = .nothing
    } else {
      self = known == nil ? .makeshift : .improvement
    }
  }
}
