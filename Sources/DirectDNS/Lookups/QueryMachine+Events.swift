// SPDX-License-Identifier: Apache-2.0
/// The events that the machine is told of.
extension QueryMachine {
  /// Asks a question until a server answers or none is left; each server once, and once more after a 429.
  ///
  /// - Parameters:
  ///   - number: the caller's number for it, under which its end will be reported.
  ///   - subject: what to ask: one question for addresses or for records.
  ///   - deadlines: the time limits of the lookup.
  ///   - failed: a server that has failed this question already, if any.
  ///   - now: the present.
  mutating func ask(
    _ number: QuestionNumber, _ subject: Subject, _ deadlines: LookupDeadlines, after failed: ServerFailure? = nil,
    at now: ResolverInstant
  ) {
    let order = order(for: subject, at: now)
    guard !isShutDown, !order.isEmpty else {
      return fail(number, subject, QuestionFailure(attempts: [], cause: isShutDown ? .cancelled : .failed))
    }
    var candidates = Candidates(order: failed == nil ? order : order.filter { $0 != failed?.server })
    if let failed { candidates.note(failed) }
    let race = race(among: candidates, deadlines)
    start(
      number, PendingQuestion(subject: subject, deadlines: deadlines, candidates: candidates, race: race), at: now)
  }

  /// The race of a question that can be asked of several servers; nil if there is only one.
  func race(among candidates: Candidates, _ deadlines: LookupDeadlines) -> QueryRace? {
    candidates.order.count > 1 ? QueryRace(time: deadlines.query, hedges: states.hedges) : nil
  }

  /// Asks the first server several questions in one query, once.
  mutating func askTogether(
    _ number: QuestionNumber, _ questions: [AddressQuestion], _ deadlines: LookupDeadlines,
    at now: ResolverInstant
  ) {
    guard !isShutDown, let first = states.batchServer(at: now) else {
      endings.append(.batch(number, [:]))
      return
    }
    let question = PendingQuestion(
      subject: .batch(questions), deadlines: deadlines, candidates: Candidates(order: [first.number]))
    start(number, question, at: now)
  }

  /// A query has ended, or could not be sent.
  mutating func ended(_ number: QueryNumber, _ reply: Reply, at now: ResolverInstant) {
    guard let query = queries.removeValue(forKey: number) else { return }
    var reply = reply
    if query.standing == .givenUp { reply.countAsTimedOut() }
    let result = note(query, reply, at: now)
    guard var question = pending.removeValue(forKey: query.question) else { return }
    question.running.removeAll { $0 == number }
    switch (reply.reading, result) {
    case (.batch(let reading), _): finishBatch(query, reply, reading)
    case (.one, .success(let answer)):
      endRace(query.question, question)
      let answered = Answered(answer: answer, server: query.server, asked: reply.asked)
      endings.append(.one(query.question, .success(answered)))
    case (.records(.success(let answer)), _):
      endRace(query.question, question)
      let answered = Answered(answer: answer, server: query.server, asked: reply.asked)
      endings.append(.records(query.question, .success(answered)))
    case (_, .failure(let failure)):
      question.candidates.note(reply.failure(failure, of: query.server))
      if case .rateLimited = failure.kind, states.isBlocked(query.server.number, at: now) {
        question.candidates.pause(query.server.number)
      }
      question.race?.end(query.server.number)
      guard !question.running.isEmpty else { return start(query.question, question, at: now) }
      // One that was given up has been replaced already.
      if query.standing != .givenUp { askAnother(query.question, &question, isHedge: query.isHedge, at: now) }
      setTimer(query.question, question, at: now)
      pending[query.question] = question
    // Impossible: a failure to get records also counts as one for the server's health.
    case (.records(.failure), .success): break
    }
  }

  /// Ends a question that nobody wants an answer to any more, and cancels its queries.
  mutating func cancel(_ number: QuestionNumber) {
    guard let question = pending.removeValue(forKey: number) else { return }
    end(number, question, isCancelled: true)
    if case .reserved(let server, let turn, _)? = question.turn, !isShutDown { passOn(turn, of: server) }
  }

  /// Has those who wait behind a turn that nobody takes move up by one; the last of their turns is free again.
  private mutating func passOn(_ turn: ResolverInstant, of server: Number<DNSServer>) {
    var behind: [(number: QuestionNumber, turn: ResolverInstant, rate: RateLimit?)] = []
    for (number, question) in pending.all {
      if case .reserved(server, let later, let rate)? = question.turn, later >= turn {
        behind.append((number, later, rate))
      }
    }
    var free = turn
    for waiting in behind.sorted(by: { $0.turn < $1.turn }) {
      pending[waiting.number]?.turn = .reserved(server, at: free, by: waiting.rate)
      timers.set(waiting.number, at: free)
      free = waiting.turn
    }
    states.giveBack(server)
  }

  /// The instant has come that ``nextInstant()`` named.
  mutating func timePassed(at now: ResolverInstant) {
    while let number = timers.takeDue(at: now) {
      guard var question = pending.removeValue(forKey: number) else { continue }
      switch question.turn {
      case .reserved(let next, _, _)?:
        question.turn = nil
        // The server may have said 429 meanwhile, or the time may be over.
        if now < question.deadlines.providers, let server = states.begin(next, at: now) {
          begin(number, &question, server, at: now)
          setTimer(number, question, at: now)
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
          setTimer(number, question, at: now)
        } else if question.isRecords {
          timers.set(number, at: question.deadlines.whole)
        }
        pending[number] = question
      }
    }
  }

  // MARK: All questions at once

  /// Takes over other servers; those that stay keep their health and their request rate.
  ///
  /// Questions under way ask no server that was removed, and none that was added since they began. Those that wait for
  /// one decide anew by ``renewTurns(at:)``.
  mutating func update(_ configuration: ResolverConfiguration, at now: ResolverInstant) {
    let gone = states.all
    states.update(configuration, at: now)
    // A server that was added may have the name of one that was removed.
    let names = Set(states.all.map(\.server.name))
    for state in gone where !names.contains(state.server.name) { actions.append(.removed(state.server)) }
    reportBreakers()
  }

  /// Has those questions decide anew that wait for a server which is gone, or whose request rate is another one now.
  mutating func renewTurns(at now: ResolverInstant) {
    let waiting = pending.all.filter { _, question in
      switch question.turn {
      case .reserved(let server, _, let rate)?: rate != states.rateLimit(of: server)
      // Whose pause it is the question does not know.
      case .blocked?: true
      case nil: false
      }
    }
    // All of them first, since each takes the next request that is free.
    for (_, question) in waiting { if case .reserved(let server, _, _)? = question.turn { states.giveBack(server) } }
    for (number, question) in waiting {
      pending[number] = nil
      timers.set(number, at: nil)
      start(number, question, at: now)
    }
  }

  /// Forgets what was learned on the last network, and asks all questions under way again: a query that was lost with
  /// that network would only end with its timeout.
  mutating func networkDidChange(at now: ResolverInstant) {
    states.networkDidChange()
    reportBreakers()
    for (number, question) in pending.all {
      var question = question
      if case .reserved? = question.turn { continue }
      pending[number] = nil
      timers.set(number, at: nil)
      for query in question.running {
        actions.append(.cancel(query))
        queries[query] = nil
      }
      if case .batch = question.subject {
        endings.append(.batch(number, [:]))
        continue
      }
      (question.running, question.turn) = ([], nil)
      question.candidates = Candidates(order: order(for: question.subject, at: now))
      question.race = race(among: question.candidates, question.deadlines)
      start(number, question, at: now)
    }
  }

  /// Ends every question; none is taken afterwards.
  mutating func shutdown() {
    isShutDown = true
    for (number, _) in pending.all { cancel(number) }
  }
}
