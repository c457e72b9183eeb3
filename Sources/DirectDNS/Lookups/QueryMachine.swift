// SPDX-License-Identifier: Apache-2.0
/// Asks the servers: for each question which one, when a second one too, when the next one, and when nobody is left.
///
/// A value, moved by what happens and by `now`; what is sent and told is what it gives out as actions.
struct QueryMachine: Sendable {
  /// What is asked for: a name's addresses, those of several names in one query, or records of any type.
  enum Subject: Sendable, Hashable {
    case one(AddressQuestion)
    case batch([AddressQuestion])
    case records(DNSQuestion)

    /// By which the queries of one lookup are known to belong together; nil for a name that no host has.
    var host: HostName? {
      switch self {
      case .one(let question): question.host
      case .batch(let questions): questions[0].host
      case .records(let question): question.name.hostName
      }
    }
  }

  enum Action: Sendable {
    /// Send the query of that number.
    case send(Int, to: DNSServer, Subject, timeout: Duration, mayBeCancelled: Bool)
    /// Nobody wants that query any more; its end is still to be told.
    case cancel(Int)
    /// That is what came of a question.
    case finished(Int, Result<Answered, Failed>)
    /// That is what came of a batch: what is missing has to be asked by itself.
    case finishedBatch(Int, [AddressQuestion: BatchOutcome])
    /// That is what came of a question for records.
    case finishedRecords(Int, Result<AnsweredRecords, Failed>)
    /// A query has ended; for logs, metrics and the observer.
    case ended(EndedQuery)
    /// A question waits for a server's rate.
    case waits
    /// A server's breaker is open, or it is not.
    case breaker(DNSServer, isOpen: Bool)
    /// A server's breaker has just opened.
    case opened(DNSServer)
  }

  /// What there is to tell of a query that has ended.
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
  struct Attempt: Sendable {
    var ask: Int
    var server: DNSServer
    var subject: Subject
    var end: ResolverInstant
    var begun: ResolverInstant
    var isHedge: Bool
    /// Whether its silence would say nothing of the server.
    var isShort = false
    /// Whether it made room for another: it counts as one that timed out.
    var isGivenUp = false
    /// Whether another server answered before it.
    var lostRace = false
  }

  /// A question that is being asked.
  struct Ask: Sendable {
    var subject: Subject
    var deadlines: LookupDeadlines
    var candidates: Candidates
    /// The attempts under way, where there is another server to ask; nil before the first, and where there is none.
    var race: AttemptRace?
    var isRaced: Bool
    var hedges: Bool
    var running: [Int] = []
    /// Whom it waits for, if it waits for a rate.
    var turn: Turn?

    enum Turn: Sendable { case reserved(Int), blocked }

    /// A lookup of addresses keeps to its time itself, whatever becomes of its questions; one of records is its question.
    var isRecords: Bool { if case .records = subject { true } else { false } }
  }

  var states: ServerStates
  var asks = NumberTable<Ask>()
  var attempts = NumberTable<Attempt>()
  var actions: [Action] = []
  var timers = TimerQueue<Int, ResolverInstant>()
  var lastAttempt = 0
  let isWatched: Bool
  var isShutDown = false

  /// - Parameters:
  ///   - configuration: the servers, and how they are asked.
  ///   - isWatched: whether somebody counts queries or follows them.
  ///   - now: the present.
  init(_ configuration: ResolverConfiguration, isWatched: Bool = true, at now: ResolverInstant) {
    self.isWatched = isWatched
    states = ServerStates(configuration, at: now)
    tellBreakers()
  }

  /// Takes what is to be done, in order, into an array that is empty; see ``StateMachine``.
  mutating func takeActions(into taken: inout [Action]) { swap(&taken, &actions) }

  mutating func nextInstant() -> ResolverInstant? { timers.next() }

  // MARK: What happens

  /// Asks a question until a server answers or none is left; each server at most once.
  ///
  /// - Parameters:
  ///   - number: by which it will be finished; the caller's own, and of no other question under way.
  ///   - subject: what to ask: one question for addresses or for records.
  ///   - deadlines: the times of the lookup.
  ///   - failed: a server that has failed this question already, if one has.
  ///   - now: the present.
  mutating func ask(
    _ number: Int, _ subject: Subject, _ deadlines: LookupDeadlines, after failed: Failure? = nil,
    at now: ResolverInstant
  ) {
    let order = order(for: subject, at: now)
    guard !isShutDown, !order.isEmpty else {
      return fail(number, subject, Failed(attempts: [], isTimeout: false, isCancelled: isShutDown))
    }
    var candidates = Candidates(order: failed == nil ? order : order.filter { $0 != failed?.server })
    if let failed { candidates.note(failed) }
    let isRaced = candidates.order.count > 1
    start(
      number,
      Ask(
        subject: subject, deadlines: deadlines, candidates: candidates, isRaced: isRaced,
        hedges: states.hedges), at: now)
  }

  /// Asks several questions of the server that is first, once.
  mutating func askTogether(
    _ number: Int, _ questions: [AddressQuestion], _ deadlines: LookupDeadlines, at now: ResolverInstant
  ) {
    guard !isShutDown, let first = states.batchServer(at: now) else {
      actions.append(.finishedBatch(number, [:]))
      return
    }
    let ask = Ask(
      subject: .batch(questions), deadlines: deadlines, candidates: Candidates(order: [first.number]), isRaced: false,
      hedges: false)
    start(number, ask, at: now)
  }

  /// A query has ended, be it that it could not be sent.
  mutating func ended(_ number: Int, _ reply: Reply, at now: ResolverInstant) {
    guard let attempt = attempts.removeValue(forKey: number) else { return }
    var reply = reply
    if attempt.isGivenUp { reply.countAsTimedOut() }
    let result = note(attempt, reply, at: now)
    guard var ask = asks.removeValue(forKey: attempt.ask) else { return }
    ask.running.removeAll { $0 == number }
    switch (reply.reading, result) {
    case (.batch(let reading), _): finishBatch(attempt, reply, reading)
    case (.one, .success(let answer)):
      endRace(ask)
      timers.set(attempt.ask, at: nil)
      let answered = Answered(
        answer: answer, server: attempt.server.number, provider: attempt.server.name, asked: reply.asked)
      actions.append(.finished(attempt.ask, .success(answered)))
    case (.records(.success(let answer)), _):
      endRace(ask)
      timers.set(attempt.ask, at: nil)
      let answered = AnsweredRecords(answer: answer, server: attempt.server.number, provider: attempt.server.name)
      actions.append(.finishedRecords(attempt.ask, .success(answered)))
    case (_, .failure(let failure)):
      ask.candidates.note(reply.failure(failure, of: attempt.server))
      ask.race?.end(attempt.server.number)
      if ask.running.isEmpty {
        start(attempt.ask, ask, at: now)
      } else {
        setTimer(attempt.ask, ask)
        asks[attempt.ask] = ask
      }
    // A failure to get records is one for health too.
    case (.records(.failure), .success): break
    }
  }

  /// Nobody wants the answer to a question any more: its queries are given up.
  mutating func cancel(_ number: Int) {
    if let ask = asks.removeValue(forKey: number) { end(number, ask, isCancelled: true) }
  }

  /// The time has come that it wanted to be told of.
  mutating func timePassed(at now: ResolverInstant) {
    while let number = timers.takeDue(at: now) {
      guard var ask = asks.removeValue(forKey: number) else { continue }
      switch ask.turn {
      case .reserved(let next)?:
        ask.turn = nil
        // It may have said 429 meanwhile, and the time may be over.
        if now < ask.deadlines.providers, let server = states.begin(next, at: now) {
          ask.candidates.order.removeAll { $0 == next }
          begin(number, &ask, server, at: now)
          setTimer(number, ask)
          asks[number] = ask
        } else {
          start(number, ask, at: now)
        }
      case .blocked?:
        ask.turn = nil
        start(number, ask, at: now)
      case nil where ask.isRecords && now >= ask.deadlines.whole: end(number, ask)
      case nil:
        // Too late for another query: those under way end by themselves.
        if now < ask.deadlines.providers {
          decide(number, &ask, at: now)
          setTimer(number, ask)
        } else if ask.isRecords {
          timers.set(number, at: ask.deadlines.whole)
        }
        asks[number] = ask
      }
    }
  }

  // MARK: What a warm-up goes by

  /// The server that may be asked before the others, and when; nil unless all of them said 429.
  func pause(at now: ResolverInstant) -> (server: String, end: ResolverInstant)? {
    let ends = states.all.map { ($0.server.name, $0.health.blockedUntil ?? now) }
    return ends.min { $0.1 < $1.1 }.flatMap { $0.1 > now ? (server: $0.0, end: $0.1) : nil }
  }

  /// Whether every server failed again and again.
  var areAllOpen: Bool { states.all.allSatisfy { $0.health.openedAt != nil } }
}
