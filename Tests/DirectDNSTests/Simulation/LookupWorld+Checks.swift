// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// What the machine wants done in a ``LookupWorld``, and what must hold.
extension LookupWorld {
  // MARK: What it wants done

  mutating func perform(_ action: LookupMachine.Action) throws(Fault) {
    switch action {
    case .query(.send(let number, let server, let subject, let timeout)):
      try send(number, server, subject, timeout)
      if slips(.sendsTwice, 1) { try send(number, server, subject, timeout) }
    case .query(.cancel(let number)):
      guard let query = sent[number] else { return }
      sent[number]?.isCancelled = true
      endPause(of: query.server)
      unschedule(number)
      let reply = QueryMachine.Reply(
        ProviderFailure(.cancelled, "cancelled"), .cancelled, asked: query.asked, to: query.subject)
      schedule(.reply(number, reply), after: milliseconds(0...50))
    case .query: break
    case .askSystem(let number, let question, _, let timeout):
      let isFine = systemMood == .fine
      schedule(
        .system(
          number,
          isFine ? .success(answer(to: question)) : .failure(ProviderFailure(.transport, "no name server"))),
        after: min(timeout, milliseconds(0...1500)))
    case .readStore(let number, let question): read(number, question)
    case .takeLease(let number, let question, let duration): takeLease(number, question, for: duration)
    case .endLease(let lease): try endLease(lease)
    case .writeStore(let entry, let question, _, let lease):
      store.answers[question] = entry
      if let lease { try endLease(lease) }
    case .forgetStored(let question): store.answers[question] = nil
    case .report(.kept(let evicted)): evictions += evicted
    case .report: break
    }
  }

  mutating func perform(_ ending: LookupMachine.Ending) throws(Fault) {
    if slips(.losesAnswer, 1) { return }
    for _ in 0..<(slips(.answersTwice, 1) ? 2 : 1) {
      switch ending {
      case .answer(let number, let result, _): try answer(number, result)
      case .records(let number, let result): try answerRecords(number, result)
      case .drained: break
      }
    }
  }

  private mutating func answerRecords(
    _ number: Number<DNSQuestion>, _ result: Result<QueryMachine.Answered<RecordAnswer>, QueryMachine.QuestionFailure>
  ) throws(Fault) {
    guard recordCallers.removeValue(forKey: number) != nil else {
      throw fault("lookup \(number) of records was answered twice, or nobody waits for it")
    }
    answered += 1
    let isAnswer = if case .success = result { true } else { false }
    say("  lookup \(number) of records \(isAnswer ? "gets some" : "fails")")
  }

  private mutating func answer(_ number: Number<DirectDNS.Lookup>, _ result: Result<Resolution, DirectDNSError>)
    throws(Fault)
  {
    guard let caller = callers.removeValue(forKey: number) else {
      throw fault("lookup \(number) was answered twice, or nobody waits for it")
    }
    answered += 1
    switch result {
    case .success(let resolution): say("  lookup \(number) gets \(resolution.freshness) addresses")
    case .failure(let error): say("  lookup \(number) fails: \(error.code)")
    }
    try check(caller, result)
  }

  private mutating func send(
    _ number: QueryMachine.QueryNumber, _ server: DNSServer, _ subject: QueryMachine.Subject, _ timeout: Duration
  ) throws(Fault) {
    queries += 1
    say("  query \(number) to server \(server.number.rawValue) for \(subject)")
    try expect(!isShutDown, "a query was sent after the end")
    try expect(timeout > .zero, "a query was sent without time")
    if let until = blocked[server.number.rawValue] {
      try expect(now >= until, "server \(server.number.rawValue) was asked although it said 429")
      let underWay = sent.values.filter {
        !$0.isCancelled && $0.server == server.number.rawValue && $0.asked >= until && $0.asked > now - .seconds(1)
      }
      try expect(
        underWay.count <= replies[server.number.rawValue, default: 0],
        "server \(server.number.rawValue) was asked \(underWay.count + 1) times at once after its pause")
    }
    let questions = subject.questions
    let zones = machine.settings.configuration.localZones
    for question in questions {
      try expect(zones.route(for: question.host) == .providers, "\(question) was asked of a provider, and may not be")
    }
    let isHedge = machine.servers.queries[number]?.isHedge == true
    let isForgotten = questions.contains { wasForgotten($0, before: number) }
    for question in questions where !isForgotten {
      let others = sent.values.filter { !$0.isCancelled && !$0.isForgotten && $0.questions.contains(question) }
      try expect(
        others.allSatisfy { $0.server != server.number.rawValue },
        "\(question) was asked of server \(server.number.rawValue) twice at a time")
      try expect(others.count < 4, "\(question) is asked of \(others.count + 1) servers at a time")
      try expect(!isHedge || others.allSatisfy { !$0.isHedge }, "\(question) has a second hedge")
      try checkNeed(of: question)
    }
    try countQuery(isHedge: isHedge, questions, until: machine.servers.queries[number]?.end)
    sent[number] = Sent(
      server: server.number.rawValue, subject: subject, isHedge: isHedge, asked: now, isForgotten: isForgotten)
    let (delay, reply) = reply(to: subject, from: server.number.rawValue)
    if delay < timeout {
      schedule(.reply(number, reply), after: delay)
    } else {
      let late = QueryMachine.Reply(
        ProviderFailure(HTTPTransportError.timedOut), .timedOut, asked: now, to: subject)
      schedule(.reply(number, late), after: timeout)
    }
  }

  mutating func noteEnd(of number: QueryMachine.QueryNumber, _ reply: QueryMachine.Reply) {
    guard let query = sent.removeValue(forKey: number) else { return }
    if reply.status == 429 {
      (blocked[query.server], replies[query.server]) = (now + .seconds(5), nil)
    } else if case .failure(let failure) = reply.health(of: query.subject), failure.kind != .response {
      endPause(of: query.server)
    } else if let until = blocked[query.server], until <= now {
      replies[query.server, default: 0] += 1
      if replies[query.server] == 16 { endPause(of: query.server) }
    }
  }

  /// A server is asked as before, if the time of its pause is over.
  private mutating func endPause(of server: Int) {
    if let until = blocked[server], until <= now { (blocked[server], replies[server]) = (nil, nil) }
  }

  /// Whether a question's name was forgotten, or the configuration changed, before the query could be sent: whoever asks
  /// now has one of his own.
  private func wasForgotten(_ question: AddressQuestion, before number: QueryMachine.QueryNumber) -> Bool {
    guard let ask = machine.servers.queries[number]?.question else { return false }
    let batch = machine.batches[Number(sameAs: ask)]
    let asked = batch?.members.first { $0.question == question }?.number ?? Number(sameAs: ask)
    guard let key = machine.questions[asked]?.key else { return false }
    return machine.questions.number(of: key) != asked
  }

  // MARK: What must hold

  /// What is asked for because its name is kept alive alone is not asked for while most of its life is left, nor again and
  /// again.
  private mutating func checkNeed(of question: AddressQuestion) throws(Fault) {
    let query = machine.questions.number(of: .init(question: question, server: .providers)).flatMap {
      machine.questions[$0]
    }
    guard query?.waiters == [.keepAlive(question.host)] else { return }
    var times = refreshes[question, default: []]
    times.removeAll { $0 < now - .seconds(10) }
    times.append(now)
    refreshes[question] = times
    // The shortest life is a second, and four servers may fail it each time.
    try expect(times.count <= 60, "\(question) is asked for \(times.count) times in ten seconds to keep it alive")
    // What it waits for meanwhile, others may bring.
    guard query?.asked == now,
      let entry = machine.cache.value(question.host)?[question.family].entry,
      machine.cache.phase(of: entry, at: now) == .fresh
    else { return }
    let age = now.nanoseconds - entry.life.askedAt
    try expect(age * 10 >= entry.life.duration * 6, "\(question) is asked for while its answer is fresh")
  }

  /// At most a tenth of a minute's queries has a second one beside it, or five of fewer than fifty; and where one family
  /// of a lookup has one, so may the other.
  private mutating func countQuery(
    isHedge: Bool, _ questions: [AddressQuestion], until end: ResolverInstant?
  ) throws(Fault) {
    let second = now.nanoseconds / 1_000_000_000
    minute.removeAll { $0.second <= second - 60 }
    minute.append((second, isHedge ? 0 : 1, isHedge ? 1 : 0))
    guard isHedge else { return }
    if let question = questions.first, let end {
      guard hedged[question] != end else { return hedged[question] = nil }
      hedged[question.ofOtherFamily] = end
    }
    let (queries, hedges) = minute.reduce((0, 0)) { ($0.0 + $1.queries, $0.1 + $1.hedges) }
    try expect(hedges <= max(5, (queries + 9) / 10), "\(hedges) hedges beside \(queries) queries in a minute")
  }

  /// After each event.
  mutating func check() throws(Fault) {
    // In an order, so that a seed's fault reads the same each time.
    try expect(
      left.map { callers[$0] == nil } ?? true && leftRecords.map { recordCallers[$0] == nil } ?? true,
      "a caller who left was not told")
    let waiting =
      callers.filter { $0.value.deadline < now }.keys.min()?.rawValue
      ?? recordCallers.filter { $0.value < now }.keys.min()?.rawValue
    if let waiting { throw fault("lookup \(waiting) waits beyond its deadline") }
    for (number, caller) in callers.filter({ $0.value.staleBy != nil }).sorted(by: { $0.key < $1.key }) {
      guard let staleBy = caller.staleBy else { continue }
      // Evicted, forgotten, negative or gone by now: there is nothing to serve until a server answers.
      if machine.cache.find(caller.request, at: now)?.resolution == nil {
        callers[number]?.staleBy = nil
      } else if staleBy < now {
        throw fault("lookup \(number) for \(caller.request.host) waits although its expired answer serves")
      }
    }
    let next = machine.nextInstant()
    for (number, lookup) in machine.lookups.all {
      try expect(
        next.map { $0 <= lookup.wait.end } ?? false, "lookup \(number) is due before the machine wants to be woken")
      let isAwaiting = machine.questions.all.contains { $0.value.waiters.contains(.lookup(number)) }
      try expect(isAwaiting, "lookup \(number) waits for nobody")
    }
    let pins = machine.settings.configuration.localZones.pins
    for host in pins.isEmpty ? [] : hosts where pins[host] != nil {
      let known = machine.cache.value(host)
      try expect(known?.ipv4.entry == nil && known?.ipv6.entry == nil, "an answer to \(host) covers its pin")
    }
    try expect(machine.cache.count <= configuration.capacity, "the cache has \(machine.cache.count) names")
  }

  private func check(_ caller: Caller, _ result: Result<Resolution, DirectDNSError>) throws(Fault) {
    let request = caller.request
    switch result {
    case .success(let resolution):
      try expect(!resolution.addresses.isEmpty, "an answer without addresses")
      for address in resolution.addresses {
        try expect(request.wanted.contains(address.family), "\(address) was not asked for")
      }
      try expect(
        request.expired != .refused || resolution.freshness <= .due, "an expired answer for a caller who refuses them")
      guard request.purpose == .handingOut, !caller.isPastCache, !caller.isRenewal else { return }
      let missing = resolution.addresses.reduce(request.wanted) { $0.subtracting(AddressFamilies($1.family)) }
      if case .wait? = machine.cache.find(request.host, missing, request.expired, prefersIPv6: true, at: now)?.verdict {
        throw fault("\(request.host) lacks its expired \(missing) addresses, which may be used")
      }
    case .failure(let error):
      guard !caller.isPastCache, error.code == .upstreamFailed || error.code == .timedOut else { return }
      try expect(
        machine.cache.find(request, at: now)?.resolution == nil,
        "\(request.host) failed although its answer may be used: \(error.message)")
    }
  }

  /// When all is over.
  mutating func checkEnd() throws(Fault) {
    try expect(callers.isEmpty, "\(callers.count) callers were never answered")
    try expect(recordCallers.isEmpty, "\(recordCallers.count) callers never got records")
    try expect(machine.servers.pending.isEmpty, "\(machine.servers.pending.count) questions are left")
    try expect(machine.lookupCount == 0, "\(machine.lookupCount) lookups are left")
    try expect(machine.questionCount == 0, "\(machine.questionCount) questions are left")
    try expect(machine.batches.isEmpty, "\(machine.batches.count) batches are left")
    try expect(machine.servers.queries.isEmpty, "\(machine.servers.queries.count) queries are left")
    try expect(machine.nextInstant() == nil, "it wants to be woken for nothing")
    try expect(store.taken.isEmpty, "\(store.taken.count) leases were not given back")
  }

  func expect(_ holds: Bool, _ text: @autoclosure () -> String) throws(Fault) {
    if !holds { throw fault(text()) }
  }

  func fault(_ text: String) -> Fault {
    Fault(
      description:
        "DIRECTDNS_SEED=\(seed): after \(steps) events, at \(now.nanoseconds / 1_000_000) ms: \(text)")
  }
}
