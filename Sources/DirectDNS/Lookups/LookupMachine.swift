// SPDX-License-Identifier: Apache-2.0
/// Decides about all lookups that the cache cannot answer at once: who is asked and when, who waits for it, what is
/// served when nobody answers, and what is refreshed ahead of need.
///
/// A value without a clock, socket, lock or task. It is told events and the time; it writes the cache, and returns
/// everything else that is to be done as actions. What happens in it is in the other files: from outside it is told
/// events, and asked the questions at the end of this file.
struct LookupMachine: StateMachine {
  enum Action: Sendable {
    /// Do what the ``QueryMachine`` wants.
    case query(QueryMachine.Action)
    /// Ask the system's DNS.
    case askSystem(Number<InFlightQuestion>, AddressQuestion, any SystemSource, timeout: Duration)
    /// Read the store.
    case readStore(Number<InFlightQuestion>, AddressQuestion)
    case takeLease(Number<InFlightQuestion>, AddressQuestion, for: Duration)
    case endLease(StoreLease)
    /// Write a provider's answer to the store; nil for one that is not to be kept.
    case writeStore(CacheEntry?, AddressQuestion, provider: String, StoreLease?)
    /// Have the store forget its answer, and any that is still to be written.
    case forgetStored(AddressQuestion)
    case report(Notice)
  }

  enum Ending: Sendable {
    /// The result of a lookup, and whether the store or a server had to be asked for it.
    case answer(Number<Lookup>, Result<Resolution, DirectDNSError>, wasAsked: Bool)
    /// The result of a lookup of records.
    case records(Number<DNSQuestion>, Result<QueryMachine.AnsweredRecords, QueryMachine.Failed>)
    /// All questions have ended that ``LookupMachine/drain(_:_:)`` was about.
    case drained(Number<Drain>)
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

  /// Somebody who wants to know when all questions have ended that were under way when he asked.
  struct Drain: Sendable {
    /// Those that have not ended yet.
    var open: Set<Number<InFlightQuestion>>
  }

  /// How a lookup begins.
  enum Beginning: Sendable {
    /// It is over: the cache has the result.
    case known(Result<Resolution, DirectDNSError>)
    /// It waits, and its result will have that number; `known` if the cache has one family and only the other is waited
    /// for.
    case waiting(Number<Lookup>, known: Resolution.Freshness?)
  }

  private(set) var state: State

  init(
    _ settings: ResolverSettings, cache: AnswerCache, hasStore: Bool, hasLeases: Bool, isWatched: Bool = true,
    seed: UInt64, at now: ResolverInstant
  ) {
    state = State(
      settings, cache: cache, hasStore: hasStore, hasLeases: hasLeases, isWatched: isWatched, seed: seed, at: now)
  }

  mutating func takeActions(into taken: inout [Action]) { swap(&taken, &state.actions) }

  mutating func takeEndings(into taken: inout [Ending]) { swap(&taken, &state.endings) }

  mutating func nextInstant() -> ResolverInstant? { state.nextInstant() }

  // MARK: What callers want

  // A caller has routed its request to see whether anybody needs to be asked. It says by which settings, so that the
  // zones are searched again only if others have come between the two.

  /// Begins the lookup of a name that has no fresh answer.
  mutating func begin(
    _ request: LookupRequest, routedBy settings: ResolverSettings? = nil, at now: ResolverInstant
  ) -> Beginning {
    state.begin(request, routedBy: settings, at: now)
  }

  /// Begins a lookup that refreshes everything about a name that is not fresh, and waits for all of it.
  ///
  /// - Returns: the number that its result will have.
  mutating func renew(
    _ request: LookupRequest, routedBy settings: ResolverSettings? = nil, isPatient: Bool, at now: ResolverInstant
  ) -> Number<Lookup> {
    state.renew(request, routedBy: settings, isPatient: isPatient, at: now)
  }

  /// Looks up a name by the system's DNS alone.
  ///
  /// - Returns: the number that the result will have.
  mutating func askSystemAlone(
    _ request: LookupRequest, routedBy settings: ResolverSettings? = nil, at now: ResolverInstant
  ) -> Number<Lookup> {
    state.askSystemAlone(request, routedBy: settings, at: now)
  }

  /// Ends a lookup whose caller was cancelled; its questions go on, for the cache.
  mutating func cancel(_ number: Number<Lookup>, at now: ResolverInstant) { state.cancel(number, at: now) }

  /// Asks for records, of the servers that carry them.
  ///
  /// No other caller shares the question, and nothing is kept.
  ///
  /// - Returns: the number that the result will have.
  mutating func askRecords(
    _ question: DNSQuestion, _ timeout: Duration?, at now: ResolverInstant
  ) -> Number<DNSQuestion> {
    state.askRecords(question, timeout, at: now)
  }

  /// The caller of a lookup of records has been cancelled.
  mutating func cancelRecords(_ number: Number<DNSQuestion>, at now: ResolverInstant) {
    state.servers.cancel(.init(sameAs: number))
    state.advance(at: now)
  }

  /// Refreshes what is not fresh, without a lookup that waits for it.
  mutating func refreshBehind(
    _ request: LookupRequest, routedBy settings: ResolverSettings? = nil, at now: ResolverInstant
  ) {
    state.refreshBehind(request, routedBy: settings, at: now)
  }

  /// Asks for everything about several names that is not fresh, in one query.
  mutating func askTogether(_ hosts: [HostName], _ families: AddressFamilies, at now: ResolverInstant) {
    state.askTogether(hosts, families, at: now)
  }

  /// Asks to be told when all questions that are under way now have ended.
  ///
  /// - Parameters:
  ///   - host: only questions about this name count; nil for all.
  ///   - servers: only questions to these servers count.
  /// - Returns: the number that ``Ending/drained(_:)`` will have.
  mutating func drain(_ host: HostName? = nil, _ servers: Set<InFlightQuestion.Server>) -> Number<Drain> {
    state.drain(host, servers)
  }

  // MARK: What has happened

  /// A query has ended.
  mutating func ended(_ query: QueryMachine.QueryNumber, _ reply: QueryMachine.Reply, at now: ResolverInstant) {
    state.servers.ended(query, reply, at: now)
    state.advance(at: now)
  }

  /// The system's DNS has answered, or has failed to.
  mutating func systemAnswered(
    _ number: Number<InFlightQuestion>, _ result: Result<Answer, ProviderFailure>, at now: ResolverInstant
  ) {
    state.noteSystem(number, result, at: now)
    state.advance(at: now)
  }

  /// The store has been read.
  mutating func storeRead(
    _ number: Number<InFlightQuestion>, _ reading: StoreReading<CacheEntry>, at now: ResolverInstant
  ) {
    state.noteStore(number, reading, at: now)
    state.advance(at: now)
  }

  /// The store has said who holds the lease on a question.
  mutating func leaseTaken(_ number: Number<InFlightQuestion>, _ lease: StoreLease.State, at now: ResolverInstant) {
    state.noteLease(number, lease, at: now)
    state.advance(at: now)
  }

  /// The instant has come that ``nextInstant()`` named.
  mutating func timePassed(at now: ResolverInstant) { state.timePassed(at: now) }

  // MARK: What changes

  /// Takes over new settings.
  mutating func update(_ settings: ResolverSettings, at now: ResolverInstant) { state.update(settings, at: now) }

  /// The computer is on another network: forgets failures and the servers' health.
  mutating func networkDidChange(at now: ResolverInstant) { state.networkDidChange(at: now) }

  /// Forgets what is known about a name, and detaches the questions under way: who asks from now on does not join them,
  /// and their answers are not kept.
  mutating func invalidate(_ host: HostName, at now: ResolverInstant) { state.invalidate(host, at: now) }

  /// Sets the names that are kept alive, as many as the cache has room for.
  ///
  /// - Returns: how many names were left out.
  @discardableResult
  mutating func keepAlive(_ names: Set<HostName>, at now: ResolverInstant) -> Int { state.keepAlive(names, at: now) }

  /// Adds names to those that are kept alive; they stay when a later configuration does not name them.
  ///
  /// - Returns: how many names were left out.
  mutating func keepAlive(adding names: Set<HostName>, at now: ResolverInstant) -> Int {
    state.keepAlive(adding: names, at: now)
  }

  /// Asks soon for those of the names that are kept alive: they are looked up elsewhere by now.
  mutating func refreshSoon(_ hosts: Set<HostName>, at now: ResolverInstant) {
    state.keptAlive.refreshSoon(hosts, at: now)
  }

  /// Ends all lookups and queries; nothing is asked afterwards.
  mutating func shutdown(at now: ResolverInstant) { state.shutdown(at: now) }

  // MARK: Questions

  var isShutDown: Bool { state.isShutDown }

  /// Whether anything is being asked.
  var isAsking: Bool { !state.questions.isEmpty }

  /// How many names the first server takes in one query.
  func batchLimit(at now: ResolverInstant) -> Int { state.servers.batchLimit(at: now) }

  /// The server whose pause ends first, and when; nil unless all servers have said 429.
  func pause(at now: ResolverInstant) -> (server: String, end: ResolverInstant)? { state.servers.pause(at: now) }

  /// Whether the breakers of all servers are open.
  var areAllBreakersOpen: Bool { state.servers.areAllBreakersOpen }

  /// The servers in the configured order, with their health and how their queries ended.
  var serverStates: [DNSServerState] { state.servers.serverStates }

  /// How the queries of the system's DNS ended.
  var systemTally: QueryTally { state.systemTally }
}
