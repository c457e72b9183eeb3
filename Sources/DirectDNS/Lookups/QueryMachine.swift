// SPDX-License-Identifier: Apache-2.0
/// Decides which servers are asked each question: which one first, when a second one as well, when the next one
/// instead, and when none is left.
///
/// A value without a clock or a socket. It is told events and the time, and returns what is to be done as actions.
struct QueryMachine: Sendable {
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

  enum Action: Sendable {
    /// Send a query; its end is told under that number.
    case send(Int, to: DNSServer, Subject, timeout: Duration)
    /// Cancel a query; its end is still to be told.
    case cancel(Int)
    /// A question has ended.
    case finished(Int, Result<Answered, Failed>)
    /// A batch has ended; questions without an outcome have to be asked by themselves.
    case finishedBatch(Int, [AddressQuestion: BatchOutcome])
    /// A question for records has ended.
    case finishedRecords(Int, Result<AnsweredRecords, Failed>)
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
  struct Attempt: Sendable {
    var question: Int
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
    /// The timing of the attempts; nil if there is only one server to ask.
    var race: AttemptRace?
    var running: [Int] = []
    /// What it waits for, if no server could be asked at once.
    var turn: Turn?

    enum Turn: Sendable, Hashable {
      /// The next request that the rate of that server allows, which is reserved for it.
      case reserved(Int)
      /// The end of the pause that a server has asked for (429), or what its first query after that finds out.
      case blocked
    }

    /// Whether it asks for records: then it ends itself when its time is over, while for addresses the lookup does
    /// that.
    var isRecords: Bool { if case .records = subject { true } else { false } }
  }

  var states: ServerStates
  var pending = NumberTable<PendingQuestion>()
  var attempts = NumberTable<Attempt>()
  var actions: [Action] = []
  var timers = TimerQueue<Int, ResolverInstant>()
  var lastAttempt = 0
  let isWatched: Bool
  var isShutDown = false

  /// - Parameters:
  ///   - configuration: the servers, and how they are asked.
  ///   - isWatched: whether there are metrics or an observer.
  ///   - now: the present.
  init(_ configuration: ResolverConfiguration, isWatched: Bool = true, at now: ResolverInstant) {
    self.isWatched = isWatched
    states = ServerStates(configuration, at: now)
    reportBreakers()
  }

  /// Moves the actions into an empty array; see ``StateMachine``.
  mutating func takeActions(into taken: inout [Action]) { swap(&taken, &actions) }

  mutating func nextInstant() -> ResolverInstant? { timers.next() }

  // MARK: Events

  /// Asks a question until a server answers or none is left; each server once, and once more after a 429.
  ///
  /// - Parameters:
  ///   - number: the caller's number for it, under which its end will be reported.
  ///   - subject: what to ask: one question for addresses or for records.
  ///   - deadlines: the time limits of the lookup.
  ///   - failed: a server that has failed this question already, if any.
  ///   - now: the present.
  mutating func ask(
    _ number: Int, _ subject: Subject, _ deadlines: LookupDeadlines, after failed: Failure? = nil,
    at now: ResolverInstant
  ) {
    let order = order(for: subject, at: now)
    guard !isShutDown, !order.isEmpty else {
      return fail(number, subject, Failed(attempts: [], cause: isShutDown ? .cancelled : .failed))
    }
    var candidates = Candidates(order: failed == nil ? order : order.filter { $0 != failed?.server })
    if let failed { candidates.note(failed) }
    let race = race(among: candidates, deadlines)
    start(
      number, PendingQuestion(subject: subject, deadlines: deadlines, candidates: candidates, race: race), at: now)
  }

  /// The race of a question that can be asked of several servers; nil if there is only one.
  func race(among candidates: Candidates, _ deadlines: LookupDeadlines) -> AttemptRace? {
    candidates.order.count > 1 ? AttemptRace(time: deadlines.attempt, hedges: states.hedges) : nil
  }

  /// Asks the first server several questions in one query, once.
  mutating func askTogether(
    _ number: Int, _ questions: [AddressQuestion], _ deadlines: LookupDeadlines, at now: ResolverInstant
  ) {
    guard !isShutDown, let first = states.batchServer(at: now) else {
      actions.append(.finishedBatch(number, [:]))
      return
    }
    let question = PendingQuestion(
      subject: .batch(questions), deadlines: deadlines, candidates: Candidates(order: [first.number]))
    start(number, question, at: now)
  }

  /// A query has ended, or could not be sent.
  mutating func ended(_ number: Int, _ reply: Reply, at now: ResolverInstant) {
    guard let attempt = attempts.removeValue(forKey: number) else { return }
    var reply = reply
    if attempt.standing == .givenUp { reply.countAsTimedOut() }
    let result = note(attempt, reply, at: now)
    guard var question = pending.removeValue(forKey: attempt.question) else { return }
    question.running.removeAll { $0 == number }
    switch (reply.reading, result) {
    case (.batch(let reading), _): finishBatch(attempt, reply, reading)
    case (.one, .success(let answer)):
      endRace(question)
      timers.set(attempt.question, at: nil)
      let answered = Answered(
        answer: answer, server: attempt.server.number, provider: attempt.server.name, asked: reply.asked)
      actions.append(.finished(attempt.question, .success(answered)))
    case (.records(.success(let answer)), _):
      endRace(question)
      timers.set(attempt.question, at: nil)
      let answered = AnsweredRecords(answer: answer, server: attempt.server.number, provider: attempt.server.name)
      actions.append(.finishedRecords(attempt.question, .success(answered)))
    case (_, .failure(let failure)):
      question.candidates.note(reply.failure(failure, of: attempt.server))
      if case .rateLimited = failure.kind, states.isBlocked(attempt.server.number, at: now) {
        question.candidates.pause(attempt.server.number)
      }
      question.race?.end(attempt.server.number)
      guard !question.running.isEmpty else { return start(attempt.question, question, at: now) }
      // One that was given up has been replaced already.
      if attempt.standing != .givenUp { askAnother(attempt.question, &question, isHedge: attempt.isHedge, at: now) }
      setTimer(attempt.question, question)
      pending[attempt.question] = question
    // Impossible: a failure to get records also counts as one for the server's health.
    case (.records(.failure), .success): break
    }
  }

  /// Ends a question that nobody wants an answer to any more, and cancels its queries.
  mutating func cancel(_ number: Int) {
    if let question = pending.removeValue(forKey: number) { end(number, question, isCancelled: true) }
  }

  /// The instant has come that ``nextInstant()`` named.
  mutating func timePassed(at now: ResolverInstant) {
    while let number = timers.takeDue(at: now) {
      guard var question = pending.removeValue(forKey: number) else { continue }
      switch question.turn {
      case .reserved(let next)?:
        question.turn = nil
        // The server may have said 429 meanwhile, or the time may be over.
        if now < question.deadlines.providers, let server = states.begin(next, at: now) {
          question.candidates.take(next)
          begin(number, &question, server, at: now)
          setTimer(number, question)
          pending[number] = question
        } else {
          start(number, question, at: now)
        }
      case .blocked?: start(number, question, at: now)
      case nil where question.isRecords && now >= question.deadlines.whole: end(number, question)
      case nil:
        // After that it is too late for another query; those under way end by their own timeouts.
        if now < question.deadlines.providers {
          decide(number, &question, at: now)
          setTimer(number, question)
        } else if question.isRecords {
          timers.set(number, at: question.deadlines.whole)
        }
        pending[number] = question
      }
    }
  }

  // MARK: For warm-ups

  /// The server whose pause ends first, and when; nil unless all servers have said 429.
  func pause(at now: ResolverInstant) -> (server: String, end: ResolverInstant)? {
    let ends = states.all.map { ($0.server.name, $0.health.pause?.end ?? now) }
    return ends.min { $0.1 < $1.1 }.flatMap { $0.1 > now ? (server: $0.0, end: $0.1) : nil }
  }

  /// Whether the breakers of all servers are open.
  var areAllOpen: Bool { states.all.allSatisfy { $0.health.openedAt != nil } }
}
