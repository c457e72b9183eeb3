// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// How a question goes on: to the next server, to a wait, or to its end.
extension QueryMachine {
  /// Asks the next server that may be asked now; waits if there is none, or fails if none can be asked in time.
  ///
  /// A server whose request rate is used up has not failed: the next one is asked instead, and if no server has room,
  /// the question waits for the first one that will. Questions that wait for the same server are served in order.
  mutating func start(_ number: Int, _ ask: consuming Ask, at now: ResolverInstant) {
    guard !ask.candidates.order.isEmpty, now < ask.deadlines.providers else { return lose(number, ask, at: now) }
    switch states.next(among: ask.candidates.order, before: ask.deadlines.providers, at: now) {
    case .taken(let server):
      // Not removed in place: that would first copy the array, which questions share.
      ask.candidates.order = ask.candidates.order.filter { $0 != server.number }
      begin(number, &ask, server, at: now)
      setTimer(number, ask)
    case .turn(let next, let instant):
      actions.append(.waits)
      ask.turn = .reserved(next)
      timers.set(number, at: instant)
    case .blocked(let instant):
      actions.append(.waits)
      ask.turn = .blocked
      timers.set(number, at: instant)
    case .late(let attempts):
      ask.candidates.attempts += attempts
      return lose(number, ask, at: now)
    case .none: return lose(number, ask, at: now)
    }
    asks[number] = ask
  }

  mutating func begin(
    _ number: Int, _ ask: inout Ask, _ server: DNSServer, isHedge: Bool = false, at now: ResolverInstant
  ) {
    if ask.isRaced {
      var race =
        ask.race
        ?? AttemptRace(
          time: ask.deadlines.attempt, hedgeAt: ask.hedges ? now + states.hedgingDelay(of: server.number) : nil)
      race.begin(server.number, at: now)
      ask.race = race
    }
    lastAttempt += 1
    let left = ask.deadlines.timeLeft(at: now) ?? .zero
    let timeout =
      if case .batch = ask.subject, states.all.count > 1 { min(left, ask.deadlines.attempt) } else { left }
    attempts[lastAttempt] = Attempt(
      ask: number, server: server, subject: ask.subject, end: ask.deadlines.whole, begun: now, isHedge: isHedge,
      isShort: ask.deadlines.isShort)
    ask.running.append(lastAttempt)
    states.asked(server.number, at: now)
    actions.append(
      .send(lastAttempt, to: server, ask.subject, timeout: timeout, mayBeCancelled: ask.isRaced || ask.isRecords))
  }

  /// Carries out the decisions that are due: asks a second server as a hedge, or another one instead of one that is
  /// late.
  mutating func decide(_ number: Int, _ ask: inout Ask, at now: ResolverInstant) {
    while let decision = ask.race?.due(at: now) {
      switch decision {
      case .hedge:
        guard let second = states.takeHedge(among: ask.candidates.order, at: now) else { continue }
        ask.candidates.order.removeAll { $0 == second.number }
        begin(number, &ask, second, isHedge: true, at: now)
      case .timeout(let late):
        switch states.takeFailover(among: ask.candidates.order, before: ask.deadlines.providers, at: now) {
        case .instead(let next):
          giveUp(late, &ask, at: now)
          ask.candidates.order.removeAll { $0 == next.number }
          begin(number, &ask, next, at: now)
        case .beside(let next):
          ask.candidates.order.removeAll { $0 == next.number }
          begin(number, &ask, next, at: now)
        case .later(let instant): ask.race?.postpone(late, until: instant)
        case .nobody: break
        }
      }
    }
  }

  /// Gives up a query whose time is used up, so that another server is asked instead.
  mutating func giveUp(_ late: Int, _ ask: inout Ask, at now: ResolverInstant) {
    guard let number = ask.running.first(where: { attempts[$0]?.server.number == late }),
      let attempt = attempts[number]
    else { return }
    actions.append(.cancel(number))
    // While the server's own address is being looked up, nothing can be said about the server yet: its end will tell.
    guard attempt.server.target != nil else {
      attempts[number]?.isGivenUp = true
      return
    }
    attempts[number] = nil
    ask.running.removeAll { $0 == number }
    ask.race?.end(late)
    let failure = ProviderFailure(HTTPTransportError.timedOut)
    let reply = Reply(failure, .timedOut, asked: attempt.begun, to: attempt.subject)
    _ = note(attempt, reply, at: now)
    ask.candidates.note(reply.failure(failure, of: attempt.server))
  }

  mutating func setTimer(_ number: Int, _ ask: Ask) {
    guard ask.isRaced || ask.isRecords else { return }
    let instant = ask.candidates.order.isEmpty ? nil : ask.race?.nextInstant
    timers.set(
      number,
      at: instant.flatMap { $0 < ask.deadlines.providers ? $0 : nil } ?? (ask.isRecords ? ask.deadlines.whole : nil))
  }

  /// Fails a question that no other server can be asked.
  mutating func lose(_ number: Int, _ ask: Ask, at now: ResolverInstant) {
    let isLate = now >= ask.deadlines.providers || ask.isRaced && ask.race == nil
    fail(number, ask.subject, ask.candidates.failed(isLate: isLate))
  }

  /// Ends a question whose queries are still under way: it was cancelled, or its time is over.
  mutating func end(_ number: Int, _ ask: Ask, isCancelled: Bool = false) {
    for attempt in ask.running { actions.append(.cancel(attempt)) }
    var failed = ask.candidates.failed(isLate: !isCancelled)
    failed.isCancelled = isCancelled
    fail(number, ask.subject, failed)
  }

  /// Reports that no server answers a question.
  mutating func fail(_ number: Int, _ subject: Subject, _ failed: Failed) {
    timers.set(number, at: nil)
    switch subject {
    case .one: actions.append(.finished(number, .failure(failed)))
    case .batch: actions.append(.finishedBatch(number, [:]))
    case .records: actions.append(.finishedRecords(number, .failure(failed)))
    }
  }

  /// Cancels the queries that another server's answer came before.
  mutating func endRace(_ ask: Ask) {
    for other in ask.running {
      attempts[other]?.lostRace = true
      actions.append(.cancel(other))
    }
  }

  /// The numbers of the servers that can be asked a question, in the order of asking.
  func order(for subject: Subject, at now: ResolverInstant) -> [Int] {
    let order = states.order(at: now)
    guard case .records(let question) = subject else { return order }
    let able = Set(states.all.filter { $0.configuration.provider.carries(question) }.map(\.number))
    return order.filter(able.contains)
  }

  mutating func finishBatch(_ attempt: Attempt, _ reply: Reply, _ reading: BatchReading) {
    guard case .batch(let questions) = attempt.subject else { return }
    if reading.isRefusal { states.refusesBatches(attempt.server.number) }
    let provider = attempt.server.name
    let outcomes = reading.results(of: questions).mapValues { result -> BatchOutcome in
      switch (result, reading) {
      case (.success(let answer), _):
        .answered(
          Answered(answer: answer, server: attempt.server.number, provider: provider, asked: reply.asked))
      case (.failure(let failure), .serverFailed): .alone(after: reply.failure(failure, of: attempt.server))
      case (.failure, _): .alone(after: nil)
      }
    }
    actions.append(.finishedBatch(attempt.ask, outcomes))
  }

  /// Notes what a query's end says about its server, and reports it to metrics and the observer.
  ///
  /// - Returns: what counts for the server's health.
  mutating func note(
    _ attempt: Attempt, _ reply: Reply, at now: ResolverInstant
  ) -> Result<Answer, ProviderFailure> {
    let duration = now - reply.asked
    let result = reply.health(of: attempt.subject)
    // Names that are no host names have no key of their own: the end of the lookup tells them apart.
    let lookup = ServerHealth.LookupKey(
      host: attempt.subject.host ?? HostName(canonical: "invalid"), end: attempt.end)
    let isTelling = !attempt.isShort || reply.sendError != .timedOut
    if attempt.lostRace, case .failure(let failure) = result, failure.kind == .cancelled {
      states.lostRace(attempt.server.number)
    } else {
      count(
        isTelling ? result : .failure(ProviderFailure(.cancelled, "its caller's time was short")), of: attempt.server,
        lookup, in: duration, at: now)
    }
    // Without metrics and observer only failures are of interest, to the log.
    if !isWatched, case .success = result { return result }
    actions.append(
      .ended(
        EndedQuery(
          server: attempt.server, results: reply.results(of: attempt.subject),
          label: QueryLabel(result, error: reply.sendError, status: reply.status.map { .init(code: $0) }),
          status: reply.status, address: reply.address, isHedge: attempt.isHedge, duration: duration)))
    return result
  }

  /// Counts a query's end for its server, and reports if that opened or closed the server's breaker.
  mutating func count(
    _ result: Result<Answer, ProviderFailure>, of server: DNSServer, _ lookup: ServerHealth.LookupKey,
    in duration: Duration, at now: ResolverInstant
  ) {
    let breaker = states.ended(server.number, result, of: lookup, in: duration, at: now)
    if breaker == .opened { actions.append(.breaker(server, isOpen: true)) }
    if breaker == .closed { actions.append(.breaker(server, isOpen: false)) }
    if breaker == .opened || breaker == .reopened { actions.append(.opened(server)) }
  }

  mutating func reportBreakers() {
    for state in states.all { actions.append(.breaker(state.server, isOpen: state.health.openedAt != nil)) }
  }
}
