// SPDX-License-Identifier: Apache-2.0
/// Decides which servers are asked each question: which one first, when a second one as well, when the next one
/// instead, and when none is left.
///
/// A value without a clock or a socket. It is told events (`QueryMachine+Events.swift`) and the time, and returns what is
/// to be done as actions, and how questions have ended.
struct QueryMachine: StateMachine {
  /// What is asked for: a name's addresses, those of several names in one query, or records of any type.
  enum Subject: Sendable, Hashable {
    case one(AddressQuestion)
    case batch([AddressQuestion])
    case records(DNSQuestion)

    /// The name, by which the queries of one lookup are told from others; nil if it is no host name.
    var host: HostName? {
      switch self {
      case .one(let question): question.host
      case .batch(let questions): questions[0].host
      case .records(let question): question.name.hostName
      }
    }
  }

  /// The number that the servers are asked something under, and of which its end is told.
  ///
  /// It is the asker's, who has one row of numbers for questions, for batches, and for lookups of records.
  typealias QuestionNumber = Number<Subject>
  /// The number of a query to one server.
  typealias QueryNumber = Number<Query>

  enum Action: Sendable {
    /// Send a query; its end is told under that number.
    case send(QueryNumber, to: DNSServer, Subject, timeout: Duration)
    /// Cancel a query; its end is still to be told.
    case cancel(QueryNumber)
    /// A query has ended; for logs, metrics and the observer.
    case ended(EndedQuery)
    /// A question has to wait, since the request rates of all servers are used up.
    case waits
    /// A server's breaker is open or closed, for the metrics.
    case breaker(DNSServer, isOpen: Bool)
    /// A server was removed, and none is left of its name.
    case removed(DNSServer)
    /// A server's breaker has just opened, for the log.
    case opened(DNSServer)
  }

  enum Ending: Sendable {
    /// A question has ended.
    case one(QuestionNumber, Result<Answered<Answer>, QuestionFailure>)
    /// A batch has ended; questions without an outcome have to be asked by themselves.
    case batch(QuestionNumber, [AddressQuestion: BatchOutcome])
    /// A question for records has ended.
    case records(QuestionNumber, Result<Answered<RecordAnswer>, QuestionFailure>)
  }

  /// A query that has ended, for logs, metrics and the observer.
  struct EndedQuery: Sendable {
    var server: DNSServer
    var results: Results
    var label: QueryLabel
    var status: Int?
    var address: IPAddress?
    var isHedge: Bool
    var duration: Duration

    enum Results: Sendable {
      case addresses([(AddressQuestion, Result<Answer, ProviderFailure>)])
      case records(DNSQuestion, Result<RecordAnswer, ProviderFailure>)
    }
  }

  /// A query under way.
  struct Query: Sendable {
    var question: QuestionNumber
    var server: DNSServer
    var subject: Subject
    var end: ResolverInstant
    var begun: ResolverInstant
    var isHedge: Bool
    /// Whether its caller allowed so little time that silence says nothing about the server.
    var isShort = false
    var standing = Standing.wanted

    enum Standing: Sendable {
      case wanted
      /// It was given up for another server: then it counts as timed out.
      case givenUp
      /// Another server answered first.
      case lost
    }
  }

  /// A question that is being asked.
  struct PendingQuestion: Sendable {
    var subject: Subject
    var deadlines: LookupDeadlines
    var candidates: Candidates
    /// The timing of the queries; nil if there is only one server to ask.
    var race: QueryRace?
    var running: [QueryNumber] = []
    /// What it waits for, if no server could be asked at once.
    var turn: Turn?

    enum Turn: Sendable, Hashable {
      /// The next request that the rate of that server allows, which is reserved for it; when that may be sent, and the
      /// rate.
      case reserved(Number<DNSServer>, at: ResolverInstant, by: RateLimit?)
      /// The end of the pause that a server has asked for (429), or what its first query after that finds out.
      case blocked
    }

    /// Whether it asks for records: then it ends itself when its time is over, while for addresses the lookup does
    /// that.
    var isRecords: Bool { if case .records = subject { true } else { false } }
  }

  var states: ServerStates
  var pending = NumberTable<Subject, PendingQuestion>()
  var queries = NumberTable<Query, Query>()
  var actions: [Action] = []
  var endings: [Ending] = []
  var timers = TimerQueue<QuestionNumber, ResolverInstant>()
  var lastQuery = 0
  let isObserved: Bool
  var isShutDown = false

  /// - Parameters:
  ///   - configuration: the servers, and how they are asked.
  ///   - isObserved: whether there are metrics or an observer.
  ///   - now: the present.
  init(_ configuration: ResolverConfiguration, isObserved: Bool = true, at now: ResolverInstant) {
    self.isObserved = isObserved
    states = ServerStates(configuration, at: now)
    reportBreakers()
  }

  mutating func takeActions(into taken: inout [Action]) { swap(&taken, &actions) }

  mutating func takeEndings(into taken: inout [Ending]) { swap(&taken, &endings) }

  mutating func nextInstant() -> ResolverInstant? { timers.next() }

  // MARK: Questions

  /// Whether there is something to be done, or a question has ended.
  var hasNews: Bool { !actions.isEmpty || !endings.isEmpty }

  /// The names of which records are asked for, by the numbers of the questions.
  var recordNames: [(number: QuestionNumber, name: DNSName)] {
    pending.all.compactMap { number, question in
      if case .records(let records) = question.subject { (number, records.name) } else { nil }
    }
  }

  /// Whether that server is still configured.
  func has(_ server: Number<DNSServer>) -> Bool { states.all.contains { $0.number == server } }

  /// How many names the first server takes in one query.
  func batchLimit(at now: ResolverInstant) -> Int { states.batchServer(at: now)?.limit ?? 1 }

  /// The server whose pause ends first, and when; nil unless all servers have said 429.
  func pause(at now: ResolverInstant) -> (server: String, end: ResolverInstant)? {
    let pauses = states.all.map { (server: $0.server.name, end: $0.health.pause?.end ?? now) }
    return pauses.min { $0.end < $1.end }.flatMap { $0.end > now ? $0 : nil }
  }

  /// Whether the breakers of all servers are open.
  var areAllBreakersOpen: Bool { states.all.allSatisfy { $0.health.openedAt != nil } }
}
