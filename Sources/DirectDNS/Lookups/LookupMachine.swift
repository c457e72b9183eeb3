// SPDX-License-Identifier: Apache-2.0
/// All lookups that have to ask: what is waited for, who asks, what serves when nobody answers, and what is refreshed
/// without being asked for.
///
/// A value, moved by what happens and by `now`, beside the cache that it writes: it has no clock, socket, lock or task. What
/// is to be done it gives out as actions.
struct LookupMachine: StateMachine {
  enum Action: Sendable {
    /// What the servers' machine wants done.
    case query(QueryMachine.Action)
    /// Ask the system's DNS.
    case askSystem(Int, AddressQuestion, any SystemSource, timeout: Duration)
    /// Look into the store.
    case readStore(Int, AddressQuestion)
    case takeLease(Int, AddressQuestion, for: Duration)
    case endLease(StoreLink.Lease)
    /// Tell the store what a provider said; nil for what is not to be kept.
    case writeStore(CacheEntry?, AddressQuestion, provider: String, StoreLink.Lease?)
    /// Have the store forget what it has, and what it was told before.
    case forgetStored(AddressQuestion)
    case tell(Notice)
  }

  enum Ending: Sendable {
    /// That is what a lookup gets, and whether anything had to be asked for.
    case answer(Int, Result<Resolution, DirectDNSError>, wasAsked: Bool)
    /// That is what a lookup of records gets.
    case records(Int, Result<QueryMachine.AnsweredRecords, QueryMachine.Failed>)
    /// All of what was under way is over.
    case drained(Int)
  }

  /// What happened, for logs, metrics and the observer.
  enum Notice: Sendable {
    case hit(HostName, Resolution.Freshness)
    case refresh(HostName)
    case refreshAhead
    case kept(evicted: Int)
    case askingSystem(HostName)
    case systemAnswered(AddressQuestion, Result<Answer, ProviderFailure>, Duration)
    case released(Int)
    case storeRead(isHit: Bool)
    case turn(LeaseTurn)

    /// Whether the log has it, be there nobody who counts.
    var isLogged: Bool {
      switch self {
      case .hit(_, let freshness): freshness == .stale
      case .kept(let evicted): evicted > 0
      case .askingSystem, .released: true
      case .refresh, .refreshAhead, .systemAnswered, .storeRead, .turn: false
      }
    }
  }

  /// What a lookup gets at once.
  enum Beginning: Sendable {
    /// The cache knows.
    case known(Result<Resolution, DirectDNSError>)
    /// It has to wait; `known` where the cache serves and only the other family is waited for.
    case waiting(Int, known: Resolution.Freshness?)
  }

  enum Timer: Sendable, Hashable {
    case lookup(Int)
    /// A query has waited for the store, or is to look into it again.
    case store(Int)
    case keepAlive(HostName)
  }

  let cache: AnswerCache
  let hasStore: Bool
  let hasLeases: Bool
  /// Whether somebody counts what happens or follows it.
  let isWatched: Bool
  var settings: ResolverSettings
  var servers: QueryMachine
  var systemFailures: FailureCache
  var systemTally = QueryTally()
  var isShutDown = false
  var keptAlive: KeptNames
  var lookups = NumberTable<Lookup>()
  var queries = NumberTable<InFlightQuery>()
  var numbers: [InFlightQuery.Key: Int] = [:]
  var batches: [Int: QuestionBatch] = [:]
  /// What has become of questions, and is still to be told to those who wait.
  var queryOutcomes: [(Int, QueryOutcome)] = []
  var drains: [Int: Set<Int>] = [:]
  var ends = LookupEnds()
  var timers = TimerQueue<Timer, ResolverInstant>()
  var actions: [Action] = []
  var endings: [Ending] = []
  /// Room for what the servers' machine wants done.
  private var room: [QueryMachine.Action] = []
  /// The source that answered last, and its code.
  var lastSource = (provider: "", code: SourceNames.system)
  /// Counts configurations.
  var generation = 0
  /// When the network last changed.
  var networkChangedAt: ResolverInstant?
  private var lastNumber = 0

  init(
    _ settings: ResolverSettings, cache: AnswerCache, hasStore: Bool, hasLeases: Bool, isWatched: Bool = true,
    seed: UInt64, at now: ResolverInstant
  ) {
    self.settings = settings
    self.isWatched = isWatched
    self.cache = cache
    self.hasStore = hasStore
    self.hasLeases = hasLeases
    let configuration = settings.configuration
    servers = QueryMachine(configuration, isWatched: isWatched, at: now)
    systemFailures = FailureCache(policy: configuration.cache, capacity: configuration.capacity)
    keptAlive = KeptNames(seed: seed)
  }

  mutating func takeActions(into taken: inout [Action]) { swap(&taken, &actions) }

  mutating func takeEndings(into taken: inout [Ending]) { swap(&taken, &endings) }

  mutating func nextInstant() -> ResolverInstant? {
    var next = servers.nextInstant()
    if let end = ends.next(among: lookups) { next = min(end, next ?? end) }
    if let timer = timers.next() { next = min(timer, next ?? timer) }
    return next
  }

  mutating func takeDue(at now: ResolverInstant) -> Timer? {
    guard let end = ends.next(among: lookups), end <= timers.next() ?? end else { return timers.takeDue(at: now) }
    return ends.takeDue(among: lookups, at: now).map { .lookup($0) }
  }

  mutating func number() -> Int {
    lastNumber += 1
    return lastNumber
  }

  mutating func tell(_ notice: Notice) { if isWatched || notice.isLogged { actions.append(.tell(notice)) } }

  // MARK: Lookups

  /// Looks a name up that has no fresh answer.
  mutating func begin(_ request: LookupRequest, at now: ResolverInstant) -> Beginning {
    defer { advance(at: now) }
    let deadlines = deadlines(request.timeout, from: now)
    let cached = find(request, at: now)
    switch cached?.verdict {
    case .serve(let served, let freshness, let refresh):
      guard let resolution = cached?.resolution else { break }
      let open = refresh ? openFamilies(request, served, at: now) : []
      tell(.hit(request.host, freshness))
      guard !open.isEmpty, request.purpose == .handingOut else { return .known(.success(resolution)) }
      let number = number()
      complete(number, request, deadlines, resolution, open, at: now)
      return .waiting(number, known: freshness)
    case .negative(let negative, let left):
      return .known(.failure(DirectDNSError(negative, of: request.host, request.wanted, left: left)))
    case .wait:
      let number = number()
      refresh(number, request, deadlines, at: now)
      return .waiting(number, known: nil)
    case .miss, nil: break
    }
    let number = number()
    ask(number, request, deadlines, hasRecord: cached != nil, at: now)
    return .waiting(number, known: nil)
  }

  /// Asks for whatever is not fresh of a name and waits for all of it.
  mutating func renew(_ request: LookupRequest, isPatient: Bool, at now: ResolverInstant) -> Int {
    defer { advance(at: now) }
    let number = number()
    renew(number, request, deadlines(request.timeout, from: now), isPatient: isPatient, round: 0, at: now)
    return number
  }

  /// Nobody waits for a lookup any more; what was asked for goes on for the cache.
  mutating func cancel(_ number: Int, at now: ResolverInstant) {
    guard let lookup = lookups.removeValue(forKey: number) else { return }
    finish(number, .failure(cancelledError(lookup.request.host)))
    advance(at: now)
  }

  /// Starts the refresh of what is not fresh.
  mutating func refreshBehind(_ request: LookupRequest, at now: ResolverInstant) {
    _ = startRefreshBehind(request, at: now)
    advance(at: now)
  }

  /// Begins to ask for whatever is not fresh of several names, in one query.
  mutating func askTogether(_ hosts: [HostName], _ families: AddressFamilies, at now: ResolverInstant) {
    let deadlines = deadlines(nil, from: now)
    let batch = number()
    batches[batch] = QuestionBatch(deadlines)
    for host in hosts where settings.configuration.localZones.route(host) == .providers {
      _ = startRefresh(host, families, .providers, deadlines, batch: batch, at: now)
    }
    batches[batch]?.close()
    send(batch, at: now)
    advance(at: now)
  }

  /// How many questions are under way.
  var queryCount: Int { queries.count }

  // MARK: What follows

  /// Carries on until nothing follows any more.
  mutating func advance(at now: ResolverInstant) {
    while true {
      guard !servers.actions.isEmpty || !queryOutcomes.isEmpty else { return }
      var answers: [QueryMachine.Action] = []
      swap(&answers, &room)
      servers.takeActions(into: &answers)
      for action in answers {
        switch action {
        case .finished(let number, let result): serversAnswered(number, result, at: now)
        case .finishedBatch(let number, let outcomes): batchAnswered(number, outcomes, at: now)
        case .finishedRecords(let number, let result):
          if case .success(let answered) = result { serverAnswered(.provider(answered.server), at: now) }
          endings.append(.records(number, result))
        default: actions.append(.query(action))
        }
      }
      answers.removeAll(keepingCapacity: true)
      swap(&answers, &room)
      // Those that follow from these have their turn after the servers' next actions.
      let count = queryOutcomes.count
      for index in 0..<count {
        let (number, outcome) = queryOutcomes[index]
        deliver(number, outcome, at: now)
      }
      queryOutcomes.removeFirst(count)
    }
  }

  func deadlines(_ timeout: Duration?, from now: ResolverInstant, hasSystem: Bool? = nil) -> LookupDeadlines {
    LookupDeadlines(
      timeout: timeout ?? settings.configuration.timeout, from: now, hasSystem: hasSystem ?? (settings.system != nil),
      usual: timeout == nil ? nil : settings.configuration.timeout)
  }

  /// What the cache has for a lookup.
  func find(_ request: LookupRequest, at now: ResolverInstant) -> AnswerCache.Found? {
    cache.find(request.host, request.wanted, request.expired, prefersIPv6: request.prefersIPv6, at: now)
  }
}
