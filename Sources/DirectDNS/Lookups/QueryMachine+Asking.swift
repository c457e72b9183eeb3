// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// How a question goes on: to the next server, to a wait, or to its end.
extension QueryMachine {
  /// Asks the next server that may be asked now; waits if there is none, or fails if none can be asked in time.
  ///
  /// A server whose request rate is used up has not failed: the next one is asked instead, and if no server has room,
  /// the question waits for the first one that will. Questions that wait for the same server are served in order.
  mutating func start(
    _ number: QuestionNumber, _ question: consuming PendingQuestion, at now: ResolverInstant
  ) {
    let candidates = question.candidates.askable
    guard !candidates.isEmpty, now < question.deadlines.providers else { return lose(number, question, at: now) }
    switch states.next(among: candidates, before: question.deadlines.providers, at: now) {
    case .taken(let server):
      question.turn = nil
      begin(number, &question, server, at: now)
      setTimer(number, question, at: now)
    case .turn(let next, let instant):
      if question.turn == nil { actions.append(.waits) }
      question.turn = .reserved(next, at: instant, by: states.rateLimit(of: next))
      timers.set(number, at: instant)
    case .blocked(let instant):
      if question.turn == nil { actions.append(.waits) }
      question.turn = .blocked
      timers.set(number, at: instant)
    case .late(let attempts):
      question.candidates.add(attempts)
      return lose(number, question, at: now)
    case .none: return lose(number, question, at: now)
    }
    pending[number] = consume question
  }

  mutating func begin(
    _ number: QuestionNumber, _ question: inout PendingQuestion, _ server: DNSServer, isHedge: Bool = false,
    at now: ResolverInstant
  ) {
    question.candidates.take(server.number)
    let isStopgap =
      question.race != nil && question.running.isEmpty
      && states.isStopgap(
        server.number, among: question.candidates.askable, before: question.deadlines.providers, at: now)
    let left = max(question.deadlines.providers - now, .zero)
    question.race?.begin(
      server.number, hedgingDelay: states.hedgingDelay(of: server.number), left: left,
      others: question.candidates.order.count, isStopgap: isStopgap, at: now)
    lastQuery += 1
    let query = QueryNumber(rawValue: lastQuery)
    let timeout =
      if case .batch = question.subject, states.all.count > 1 { min(left, question.deadlines.query) } else { left }
    queries[query] = Query(
      question: number, server: server, subject: question.subject, end: question.deadlines.whole, begun: now,
      isHedge: isHedge,
      isShort: question.deadlines.isShort)
    question.running.append(query)
    states.asked(server.number, at: now)
    actions.append(.send(query, to: server, question.subject, timeout: timeout))
  }

  /// Carries out the decisions that are due: asks a second server as a hedge, or another one instead of one that is
  /// late, or once more one that has said 429.
  mutating func decide(
    _ number: QuestionNumber, _ question: inout PendingQuestion, at now: ResolverInstant
  ) {
    // Beside those that have said nothing yet: nobody else is left to ask.
    if question.candidates.rest == .paused { askAnother(number, &question, isHedge: false, at: now) }
    while let decision = question.race?.due(at: now) {
      switch decision {
      case .hedge: askAnother(number, &question, isHedge: true, at: now)
      case .another: askAnother(number, &question, isHedge: false, at: now)
      case .timeout(let late):
        switch states.takeFailover(among: question.candidates.askable, before: question.deadlines.providers, at: now)
        {
        case .replace(let next):
          let givenUp = giveUp(late, &question)
          begin(number, &question, next, at: now)
          // Not before: it may let other questions go on, which have to find the next server asked.
          if let givenUp { noteSilence(of: givenUp, &question, at: now) }
        case .alongside(let next): begin(number, &question, next, at: now)
        case .later(let instant): question.race?.postpone(late, until: instant)
        case .noServer: break
        }
      }
    }
  }

  /// Asks the next server although a query is still under way: because that takes long, or another one has failed.
  mutating func askAnother(
    _ number: QuestionNumber, _ question: inout PendingQuestion, isHedge: Bool, at now: ResolverInstant
  ) {
    guard now < question.deadlines.providers else { return }
    let next: DNSServer?
    if isHedge {
      // What replaces a hedge that has failed is part of their budget, too.
      let family: AddressQuestion? = if case .one(let one) = question.subject { one } else { nil }
      next = states.takeHedge(among: question.candidates.order, for: family, until: question.deadlines.whole, at: now)
    } else {
      let candidates = question.candidates.askable
      switch states.takeFailover(among: candidates, before: question.deadlines.providers, at: now) {
      case .replace(let server), .alongside(let server): next = server
      case .later, .noServer: next = nil
      }
    }
    // Without one the timeout of the query that is under way decides.
    if let next { begin(number, &question, next, isHedge: isHedge, at: now) }
  }

  /// Gives up a query whose time is used up, so that another server is asked instead.
  ///
  /// - Returns: the query, if its end is to be noted now.
  private mutating func giveUp(_ late: Number<DNSServer>, _ question: inout PendingQuestion) -> Query? {
    guard let number = question.running.first(where: { queries[$0]?.server.number == late }),
      let query = queries[number]
    else { return nil }
    actions.append(.cancel(number))
    // While the server's own address is being looked up, nothing can be said about the server yet: its end will tell.
    guard query.server.target != nil else {
      queries[number]?.standing = .givenUp
      return nil
    }
    queries[number] = nil
    question.running.removeAll { $0 == number }
    question.race?.end(late)
    return query
  }

  /// Notes that a server has not answered a query in time.
  private mutating func noteSilence(of query: Query, _ question: inout PendingQuestion, at now: ResolverInstant) {
    let failure = ProviderFailure(HTTPTransportError.timedOut)
    let reply = Reply(failure, .timedOut, asked: query.begun, to: query.subject)
    _ = note(query, reply, at: now)
    question.candidates.note(reply.failure(failure, of: query.server))
  }

  mutating func setTimer(_ number: QuestionNumber, _ question: PendingQuestion, at now: ResolverInstant) {
    guard question.race != nil || question.isRecords else { return }
    let end = question.deadlines.providers
    let next: ResolverInstant? =
      switch question.candidates.rest {
      case .unasked: question.race?.nextInstant
      case .paused: states.failoverInstant(among: question.candidates.askable, before: end, at: now)
      case .nobody: nil
      }
    // Later than that nobody is asked any more; and a lookup of addresses ends by itself, one of records here.
    let last = question.isRecords ? question.deadlines.whole : nil
    timers.set(number, at: next.flatMap { $0 < end ? $0 : nil } ?? last)
  }

  /// Fails a question that no other server can be asked.
  mutating func lose(_ number: QuestionNumber, _ question: PendingQuestion, at now: ResolverInstant) {
    let isLate = now >= question.deadlines.providers || question.race?.hasBegun == false
    fail(number, question.subject, question.candidates.failed(isLate: isLate))
  }

  /// Ends a question whose queries are still under way: it was cancelled, or its time is over.
  mutating func end(_ number: QuestionNumber, _ question: PendingQuestion, isCancelled: Bool = false) {
    for query in question.running { actions.append(.cancel(query)) }
    var failed = question.candidates.failed(isLate: true)
    if isCancelled { failed.cause = .cancelled }
    fail(number, question.subject, failed)
  }

  /// Reports that no server answers a question.
  mutating func fail(
    _ number: QuestionNumber, _ subject: Subject, _ failed: QuestionFailure
  ) {
    timers.set(number, at: nil)
    switch subject {
    case .one: endings.append(.one(number, .failure(failed)))
    case .batch: endings.append(.batch(number, [:]))
    case .records: endings.append(.records(number, .failure(failed)))
    }
  }

  /// Cancels the queries that another server's answer came before.
  mutating func endRace(_ number: QuestionNumber, _ question: PendingQuestion) {
    timers.set(number, at: nil)
    for other in question.running {
      queries[other]?.standing = .lost
      actions.append(.cancel(other))
    }
  }

  /// The numbers of the servers that can be asked a question, in the order of asking.
  func order(for subject: Subject, at now: ResolverInstant) -> [Number<DNSServer>] {
    let order = states.order(at: now)
    guard case .records(let question) = subject else { return order }
    let able = Set(states.all.filter { $0.configuration.provider.carries(question) }.map(\.number))
    return order.filter(able.contains)
  }

  mutating func finishBatch(_ query: Query, _ reply: Reply, _ reading: BatchReading) {
    guard case .batch(let questions) = query.subject else { return }
    if reading.isRefusal { states.noteBatchRefusal(query.server.number) }
    let outcomes = reading.results(of: questions).mapValues { result -> BatchOutcome in
      switch (result, reading) {
      case (.success(let answer), _): .answered(Answered(answer: answer, server: query.server, asked: reply.asked))
      case (.failure(let failure), .serverFailed): .alone(after: reply.failure(failure, of: query.server))
      case (.failure, _): .alone(after: nil)
      }
    }
    endings.append(.batch(query.question, outcomes))
  }

  /// Notes what a query's end says about its server, and reports it to metrics and the observer.
  ///
  /// - Returns: what counts for the server's health.
  mutating func note(
    _ query: Query, _ reply: Reply, at now: ResolverInstant
  ) -> Result<Answer, ProviderFailure> {
    let duration = now - reply.asked
    let result = reply.health(of: query.subject)
    // Names that are no host names have no key of their own: the end of the lookup tells them apart.
    let lookup = ServerHealth.LookupKey(
      host: query.subject.host ?? HostName(canonical: "invalid"), end: query.end)
    if query.standing == .lost, case .failure(let failure) = result, failure.kind == .cancelled {
      states.lostRace(query.server.number)
    } else if query.isShort, reply.sendError == .timedOut {
      report(states.wasSilent(query.server.number, to: lookup.host, for: duration, at: now), of: query.server)
    } else {
      count(result, of: query.server, lookup, in: duration, at: now)
    }
    // Without metrics and observer only failures are of interest, to the log.
    if !isObserved, case .success = result { return result }
    actions.append(
      .ended(
        EndedQuery(
          server: query.server, results: reply.results(of: query.subject),
          label: QueryLabel(result, error: reply.sendError, status: reply.status.map { .init(code: $0) }),
          status: reply.status, address: reply.address, isHedge: query.isHedge, duration: duration)))
    return result
  }

  /// Counts a query's end for its server, and reports if that opened or closed the server's breaker.
  mutating func count(
    _ result: Result<Answer, ProviderFailure>, of server: DNSServer, _ lookup: ServerHealth.LookupKey,
    in duration: Duration, at now: ResolverInstant
  ) {
    let wasTried = states.isTried(server.number, at: now)
    report(states.ended(server.number, result, of: lookup, in: duration, at: now), of: server)
    if wasTried, !states.isTried(server.number, at: now) { goOn(at: now) }
  }

  /// Has the questions decide anew that wait for the end of a pause: it is over, or it goes on.
  private mutating func goOn(at now: ResolverInstant) {
    for (number, question) in pending.all {
      if question.turn == .blocked {
        pending[number] = nil
        timers.set(number, at: nil)
        start(number, question, at: now)
      } else if question.turn == nil, question.candidates.rest == .paused {
        timers.set(number, at: now)
      }
    }
  }

  private mutating func report(_ breaker: ServerHealth.BreakerChange?, of server: DNSServer) {
    if breaker == .opened { actions.append(.breaker(server, isOpen: true)) }
    if breaker == .closed { actions.append(.breaker(server, isOpen: false)) }
    if breaker == .opened || breaker == .reopened { actions.append(.opened(server)) }
  }

  mutating func reportBreakers() {
    for state in states.all { actions.append(.breaker(state.server, isOpen: state.health.openedAt != nil)) }
  }
}
