// SPDX-License-Identifier: Apache-2.0
/// Decides about all lookups that the cache cannot answer at once: who is asked and when, who waits for it, what is
/// served when nobody answers, and what is refreshed ahead of need.
///
/// A value without a clock, socket, lock or task. It is told events and the time; it writes the cache, and returns
/// everything else that is to be done as actions.
struct LookupMachine: StateMachine {
  enum Action: Sendable {
    /// Do what the ``QueryMachine`` wants.
    case query(QueryMachine.Action)
    /// Ask the system's DNS.
    case askSystem(Int, AddressQuestion, any SystemSource, timeout: Duration)
    /// Read the store.
    case readStore(Int, AddressQuestion)
    case takeLease(Int, AddressQuestion, for: Duration)
    case endLease(StoreLease)
    /// Write a provider's answer to the store; nil for one that is not to be kept.
    case writeStore(CacheEntry?, AddressQuestion, provider: String, StoreLease?)
    /// Have the store forget its answer, and any that is still to be written.
    case forgetStored(AddressQuestion)
    case report(Notice)
  }

  enum Ending: Sendable {
    /// The result of a lookup, and whether the store or a server had to be asked for it.
    case answer(Int, Result<Resolution, DirectDNSError>, wasAsked: Bool)
    /// The result of a lookup of records.
    case records(Int, Result<QueryMachine.AnsweredRecords, QueryMachine.Failed>)
    /// All questions have ended that ``LookupMachine/drain(_:_:)`` was about.
    case drained(Int)
  }

  /// Something that logs, metrics and the observer are told.
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

    /// Whether it is logged, so that it has to be told even without metrics and observer.
    var isLogged: Bool {
      switch self {
      case .hit(_, let freshness): freshness == .stale
      case .kept(let evicted): evicted > 0
      case .askingSystem, .released: true
      case .refresh, .refreshAhead, .systemAnswered, .storeRead, .turn: false
      }
    }
  }

  /// How a lookup begins.
  enum Beginning: Sendable {
    /// It is over: the cache has the result.
    case known(Result<Resolution, DirectDNSError>)
    /// It waits, and its result will have that number; `known` if the cache has one family and only the other is waited
    /// for.
    case waiting(Int, known: Resolution.Freshness?)
  }

  /// Whose time has come.
  enum Due: Sendable {
    case lookup(Int)
    /// A query has waited long enough for the store, or is to read it again.
    case store(Int)
    case keepAlive(HostName)
  }

  let cache: AnswerCache
  let hasStore: Bool
  let hasLeases: Bool
  /// Whether there are metrics or an observer to tell.
  let isWatched: Bool
  var settings: ResolverSettings
  var servers: QueryMachine
  var systemFailures: FailureCache
  var systemTally = QueryTally()
  var isShutDown = false
  var keptAlive: KeepAliveMachine
  var lookups = NumberTable<Lookup>()
  var queries = NumberTable<InFlightQuery>()
  var numbers: [InFlightQuery.Key: Int] = [:]
  var batches: [Int: QuestionBatch] = [:]
  /// Questions that have ended, and whose outcomes have yet to be told to those who wait.
  var queryOutcomes: [(Int, QueryOutcome)] = []
  var drains: [Int: Set<Int>] = [:]
  var ends = LookupEnds()
  /// When queries have waited long enough for the store, or read it again.
  var storeTimers = TimerQueue<Int, ResolverInstant>()
  var actions: [Action] = []
  var endings: [Ending] = []
  /// An empty array that is kept for its capacity, between one ``advance(at:)`` and the next.
  private var room: [QueryMachine.Action] = []
  /// The source that answered last, and its code.
  var lastSource = (provider: "", code: SourceNames.system)
  /// The number of the present configuration.
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
    keptAlive = KeepAliveMachine(configuration, seed: seed)
  }

  mutating func takeActions(into taken: inout [Action]) { swap(&taken, &actions) }

  mutating func takeEndings(into taken: inout [Ending]) { swap(&taken, &endings) }

  mutating func nextInstant() -> ResolverInstant? {
    var next = servers.nextInstant()
    if let end = ends.next(among: lookups) { next = min(end, next ?? end) }
    if let timer = storeTimers.next() { next = min(timer, next ?? timer) }
    if let due = keptAlive.next() { next = min(due, next ?? due) }
    return next
  }

  /// What is due first; of several at the same instant a lookup, and a kept-alive name last.
  mutating func takeDue(at now: ResolverInstant) -> Due? {
    let (lookup, store, keepAlive) = (ends.next(among: lookups), storeTimers.next(), keptAlive.next())
    guard let first = [lookup, store, keepAlive].compactMap(\.self).min() else { return nil }
    if lookup == first { return ends.takeDue(among: lookups, at: now).map { .lookup($0) } }
    if store == first { return storeTimers.takeDue(at: now).map { .store($0) } }
    return keptAlive.takeDue(at: now).map { .keepAlive($0) }
  }

  mutating func number() -> Int {
    lastNumber += 1
    return lastNumber
  }

  mutating func report(_ notice: Notice) { if isWatched || notice.isLogged { actions.append(.report(notice)) } }

  // MARK: Lookups

  /// Begins the lookup of a name that has no fresh answer.
  mutating func begin(_ request: LookupRequest, at now: ResolverInstant) -> Beginning {
    defer { advance(at: now) }
    let cached = find(request, at: now)
    switch cached?.verdict {
    case .serve(let served, _, let refresh):
      guard let resolution = cached?.resolution else { break }
      let open = refresh ? openFamilies(request, served, at: now) : []
      report(.hit(request.host, resolution.freshness))
      guard !open.isEmpty, request.purpose == .handingOut else { return .known(.success(resolution)) }
      let caller = caller(request, at: now)
      complete(caller, resolution, open, at: now)
      return .waiting(caller.number, known: resolution.freshness)
    case .negative(let negative, let left):
      return .known(.failure(DirectDNSError(negative, of: request.host, request.wanted, left: left)))
    case .wait:
      let caller = caller(request, at: now)
      refresh(caller, at: now)
      return .waiting(caller.number, known: nil)
    case .miss, nil: break
    }
    let caller = caller(request, at: now)
    ask(caller, hasRecord: cached != nil, at: now)
    return .waiting(caller.number, known: nil)
  }

  /// Begins a lookup that refreshes everything about a name that is not fresh, and waits for all of it.
  mutating func renew(_ request: LookupRequest, isPatient: Bool, at now: ResolverInstant) -> Int {
    defer { advance(at: now) }
    let caller = caller(request, at: now)
    renew(caller, isPatient: isPatient, round: 0, at: now)
    return caller.number
  }

  /// Ends a lookup whose caller was cancelled; its queries go on, for the cache.
  mutating func cancel(_ number: Int, at now: ResolverInstant) {
    guard let lookup = lookups.removeValue(forKey: number) else { return }
    finish(lookup.caller, .failure(cancelledError(lookup.request.host)))
    advance(at: now)
  }

  /// Refreshes what is not fresh, without a lookup that waits for it.
  mutating func refreshBehind(_ request: LookupRequest, at now: ResolverInstant) {
    _ = startRefreshBehind(request, at: now)
    advance(at: now)
  }

  /// Asks for everything about several names that is not fresh, in one query.
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

  // MARK: Consequences

  /// Handles what the servers and ended questions lead to, until nothing more follows.
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
      // Outcomes that these lead to wait for the next round.
      let count = queryOutcomes.count
      for index in 0..<count {
        let (number, outcome) = queryOutcomes[index]
        deliver(number, outcome, at: now)
      }
      queryOutcomes.removeFirst(count)
    }
  }

  mutating func caller(_ request: LookupRequest, at now: ResolverInstant) -> LookupCaller {
    LookupCaller(number: number(), request: request, deadlines: deadlines(request.timeout, from: now), began: now)
  }

  func deadlines(_ timeout: Duration?, from now: ResolverInstant, hasSystem: Bool? = nil) -> LookupDeadlines {
    LookupDeadlines(
      timeout: timeout ?? settings.configuration.timeout, from: now, hasSystem: hasSystem ?? (settings.system != nil),
      usual: timeout == nil ? nil : settings.configuration.timeout)
  }

  /// What the cache has for a lookup, if anything.
  func find(_ request: LookupRequest, at now: ResolverInstant) -> AnswerCache.Found? {
    cache.find(
      request.host, request.wanted, request.expired, prefersIPv6: request.prefersIPv6,
      addsStale: request.purpose == .handingOut, at: now)
  }
}
