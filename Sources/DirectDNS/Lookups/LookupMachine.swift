// SPDX-License-Identifier: Apache-2.0
/// Decides about all lookups that the cache cannot answer at once: who is asked and when, who waits for it, what is
/// served when nobody answers, and what is refreshed ahead of need.
///
/// A value without a clock, socket, lock or task. It is told events and the time; it writes the cache, and returns
/// everything else that is to be done as actions. From outside it is told events (`LookupMachine+Events.swift`).
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
    case records(Number<DNSQuestion>, Result<QueryMachine.Answered<RecordAnswer>, QueryMachine.QuestionFailure>)
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
  enum Drain {}

  /// A lookup of records.
  struct RecordLookup: Sendable {
    let question: DNSQuestion
    let deadlines: LookupDeadlines
    /// The number of the configuration whose servers are asked.
    var generation: Int
  }

  /// How a lookup begins.
  enum Beginning: Sendable {
    /// It is over: the cache has the result.
    case known(Result<Resolution, DirectDNSError>)
    /// It waits, and its result will have that number; `known` if the cache has one family and only the other is waited
    /// for.
    case waiting(Number<Lookup>, known: Resolution.Freshness?)
  }

  let cache: AnswerCache
  let hasStore: Bool
  let hasLeases: Bool
  /// Whether there are metrics or an observer to tell.
  let isObserved: Bool
  var settings: ResolverSettings
  /// Asks the servers; what is known of them is asked of it directly.
  var servers: QueryMachine
  /// What the system's DNS has failed, or denied while no provider answered.
  var systemFailures: FailureCache
  /// How the queries of the system's DNS ended.
  var systemTally = QueryTally()
  var isShutDown = false
  var keptAlive: KeepAliveMachine
  var lookups = WaitingLookups()
  var questions = InFlightQuestions()
  var batches: [Number<QuestionBatch>: QuestionBatch] = [:]
  /// Questions that have ended, and whose outcomes have yet to be told to those who wait.
  var questionOutcomes: [(Number<InFlightQuestion>, QuestionOutcome)] = []
  var recordLookups: [Number<DNSQuestion>: RecordLookup] = [:]
  /// The questions that each of them still waits for.
  var drains: [Number<Drain>: Set<Number<InFlightQuestion>>] = [:]
  /// When questions have waited long enough for the store, or read it again.
  var storeTimers = TimerQueue<Number<InFlightQuestion>, ResolverInstant>()
  var actions: [Action] = []
  var endings: [Ending] = []
  /// Empty arrays that are kept for their capacity, between one ``advance(at:)`` and the next.
  var actionRoom: [QueryMachine.Action] = []
  var endingRoom: [QueryMachine.Ending] = []
  /// The source that answered last, and its code.
  var lastSource = (provider: "", code: SourceNames.system)
  /// The number of the present configuration.
  var generation = 0
  /// When the network last changed.
  var networkChangedAt: ResolverInstant?
  var lastNumber = 0

  init(
    _ settings: ResolverSettings, cache: AnswerCache, hasStore: Bool, hasLeases: Bool, isObserved: Bool = true,
    seed: UInt64, at now: ResolverInstant
  ) {
    self.settings = settings
    self.isObserved = isObserved
    self.cache = cache
    self.hasStore = hasStore
    self.hasLeases = hasLeases
    let configuration = settings.configuration
    servers = QueryMachine(configuration, isObserved: isObserved, at: now)
    systemFailures = FailureCache(policy: configuration.cache, capacity: configuration.capacity)
    keptAlive = KeepAliveMachine(configuration, seed: seed)
  }

  mutating func takeActions(into taken: inout [Action]) { swap(&taken, &actions) }

  mutating func takeEndings(into taken: inout [Ending]) { swap(&taken, &endings) }

  /// Whether anything is being asked.
  var isAsking: Bool { !questions.isEmpty }
}
