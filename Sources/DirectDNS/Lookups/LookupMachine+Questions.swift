// SPDX-License-Identifier: Apache-2.0
/// Questions under way: each is asked once, however many wait for it.
extension LookupMachine {
  // MARK: Joining

  /// Lets somebody wait for a question, which is asked unless it is already.
  mutating func join(
    _ key: InFlightQuestion.Key, _ deadlines: LookupDeadlines, _ waiter: InFlightQuestion.Waiter?,
    restored: CacheEntry? = nil, batch: Number<QuestionBatch>? = nil, at now: ResolverInstant
  ) {
    if let number = questions.number(of: key) {
      if let waiter { questions[number]?.add(waiter) }
      return
    }
    let number: Number<InFlightQuestion> = number()
    var inFlight = InFlightQuestion(key: key, deadlines: deadlines, asked: now, generation: generation)
    if let waiter { inFlight.add(waiter) }
    var turn: StoreTurn?
    if readsStore(key) {
      inFlight.restored = restored
      // Nobody is to wait for the system's answer: it is not written to the store.
      let hasLeases = self.hasLeases && key.server == .providers
      turn = StoreTurn(deadlines, settings.configuration, hasLeases: hasLeases, at: now)
      inFlight.turn = turn
    }
    if key.server == .providers, let batch {
      inFlight.batch = batch
      batches[batch]?.expect()
    }
    questions.add(inFlight, under: number)
    if let turn { follow(turn.beginning, number, at: now) } else { askServers(number, inFlight, at: now) }
  }

  /// Whether the store is read before anybody is asked.
  ///
  /// It has nothing of names that are the system's by their spelling, and has been read before the system's DNS is a
  /// fallback.
  private func readsStore(_ key: InFlightQuestion.Key) -> Bool {
    guard hasStore else { return false }
    switch key.server {
    case .providers: return true
    case .system:
      let configuration = settings.configuration
      return configuration.providers.isEmpty && configuration.localZones.route(for: key.question.host) == .providers
    case .systemAlone: return false
    }
  }

  /// When a question that is under way was asked, or asked again on this network; nil if it is not under way.
  func questionBegan(_ key: InFlightQuestion.Key) -> ResolverInstant? {
    guard let asked = questions.number(of: key).flatMap({ questions[$0]?.asked }) else { return nil }
    return max(asked, networkChangedAt ?? asked)
  }

  // MARK: Refreshing

  /// Asks for those families that are not fresh, unless a failure a moment ago forbids it.
  ///
  /// - Returns: the families that are asked for.
  mutating func startRefresh(
    _ host: HostName, _ wanted: AddressFamilies, _ route: NameRoute, _ deadlines: LookupDeadlines,
    waiter: InFlightQuestion.Waiter? = nil, restored: [IPAddress.Family: CacheEntry] = [:],
    batch: Number<QuestionBatch>? = nil,
    at now: ResolverInstant
  ) -> AddressFamilies {
    guard !isShutDown else { return [] }
    let value = cache.value(host)
    var started: AddressFamilies = []
    for family in wanted.members {
      let question = AddressQuestion(host, family)
      if let entry = value?[family].entry, cache.phase(of: entry, at: now) == .fresh { continue }
      guard cache.mayRefresh(question, at: now) else { continue }
      join(.init(question, by: route), deadlines, waiter, restored: restored[family], batch: batch, at: now)
      started.insert(AddressFamilies(family))
    }
    return started
  }

  /// Asks for those families that are not fresh, for a caller who waits for them.
  mutating func startRefresh(
    for caller: LookupCaller, _ deadlines: LookupDeadlines, at now: ResolverInstant
  ) -> AddressFamilies {
    let request = caller.request
    return startRefresh(
      request.host, request.wanted, request.route, deadlines, waiter: .lookup(caller.number),
      restored: caller.restored, at: now)
  }

  /// Refreshes what is not fresh while an answer is served.
  mutating func startRefreshBehind(_ request: LookupRequest, at now: ResolverInstant) -> AddressFamilies {
    let started = startRefresh(
      request.host, request.wanted, request.route, deadlines(nil, from: now), at: now)
    if !started.isEmpty { report(.refresh(request.host)) }
    return started
  }

  /// Refreshes what is not fresh while an answer of those families is served.
  ///
  /// - Returns: the families that are asked for, are not part of the answer, and may have addresses.
  mutating func startRefreshBeside(
    _ request: LookupRequest, _ served: AddressFamilies, at now: ResolverInstant
  ) -> AddressFamilies {
    let value = cache.value(request.host)
    return startRefreshBehind(request, at: now).filter { family in
      !served.contains(family) && value?[family].mayHaveAddresses == true
    }
  }

  /// Whether a family that is not served has addresses that are not kept, for a caller who would not learn of them
  /// later: a connection race asks for them itself.
  func lacksUnkept(_ request: LookupRequest, _ served: AddressFamilies) -> Bool {
    let missing = request.wanted.subtracting(served).members
    guard request.purpose == .handingOut, !missing.isEmpty, let value = cache.value(request.host) else { return false }
    return missing.contains { value[$0] == .notKept }
  }

  // MARK: The servers

  /// Sends a question to whom it is for.
  mutating func askServers(_ number: Number<InFlightQuestion>, _ inFlight: InFlightQuestion, at now: ResolverInstant) {
    let question = inFlight.question
    switch inFlight.key.server {
    case .providers:
      if let batch = inFlight.batch, batches[batch] != nil {
        batches[batch]?.join(number, question)
        send(batch, at: now)
      } else {
        servers.ask(.init(sameAs: number), .one(question), inFlight.deadlines, at: now)
      }
    case .system:
      if let error = systemFailures.error(for: question, at: now) {
        questionOutcomes.append((number, systemOutcome(error, inFlight)))
      } else if let system = settings.system {
        askSystem(number, inFlight, system, at: now)
      } else {
        questionOutcomes.append((number, .failed(DirectDNSError(.refused, "The system's DNS is off."))))
      }
    case .systemAlone: askSystem(number, inFlight, settings.systemSource, at: now)
    }
  }

  mutating func leaveBatch(_ number: Number<InFlightQuestion>, _ inFlight: InFlightQuestion, at now: ResolverInstant) {
    guard let batch = inFlight.batch else { return }
    batches[batch]?.leave(number)
    send(batch, at: now)
  }

  /// Sends a batch, if no other question is going to join it.
  mutating func send(_ number: Number<QuestionBatch>, at now: ResolverInstant) {
    guard let batch = batches[number], batch.isComplete else { return }
    let questions = batch.questions
    guard !questions.isEmpty else {
      batches[number] = nil
      return
    }
    batches[number]?.isSent = true
    servers.askTogether(.init(sameAs: number), questions, batch.deadlines, at: now)
  }

  mutating func batchAnswered(
    _ number: Number<QuestionBatch>, _ outcomes: [AddressQuestion: QueryMachine.BatchOutcome], at now: ResolverInstant
  ) {
    guard let batch = batches.removeValue(forKey: number) else { return }
    for (member, question) in batch.members {
      guard let inFlight = questions[member] else { continue }
      switch outcomes[question] {
      case .answered(let answered): serversAnswered(member, .success(answered), at: now)
      case .alone(let failed):
        servers.ask(.init(sameAs: member), .one(question), inFlight.deadlines, after: failed, at: now)
      case nil:
        servers.ask(.init(sameAs: member), .one(question), inFlight.deadlines, at: now)
      }
    }
  }

  mutating func serversAnswered(
    _ number: Number<InFlightQuestion>, _ result: Result<QueryMachine.Answered<Answer>, QueryMachine.QuestionFailure>,
    at now: ResolverInstant
  ) {
    guard let inFlight = questions[number] else { return }
    let question = inFlight.question
    switch result {
    case .success(let answered):
      serverAnswered(.provider(answered.server.number.rawValue), at: now)
      let source = code(of: answered.server.name)
      let entry = CacheEntry(
        answered.answer, source: source, policy: settings.configuration.cache, asked: answered.asked, now: now)
      // Callers of before a reload get what a provider says that is gone since; the next ones ask those that are there.
      // Without `&&` and `||`, as in `mayKeep`.
      let isKept =
        if !mayKeep(inFlight) { false } else if inFlight.generation == generation { true } else {
          servers.has(answered.server.number)
        }
      if !isKept {
        endLease(of: number)
      } else if hasStore {
        let lease = hasLeases ? questions[number]?.turn?.takeLease() : nil
        actions.append(.writeStore(entry, question, provider: answered.server.name, lease))
      }
      questionOutcomes.append(
        (number, keep(answered.answer, entry, inFlight, source, isKept: isKept, asked: answered.asked, at: now)))
    case .failure(let failed):
      if awaitStore(number, inFlight, after: failed, at: now) { return }
      endLease(of: number)
      guard !isShutDown else { return questionOutcomes.append((number, .failed(shutDownDuring(question.host)))) }
      let error = providersFailed(question, failed)
      // If no server was asked, none has failed: that the request rate is used up is not remembered as a failure.
      // Nor is what servers failed that a former configuration named.
      let isTelling = inFlight.generation == generation && !(inFlight.deadlines.isShort && failed.isLate)
      if !inFlight.isInvalidated, !failed.servers.isEmpty, isTelling {
        cache.remember(error, for: question, by: failed.servers.map { .provider($0.rawValue) }, now: now)
      }
      questionOutcomes.append((number, .failed(error)))
      if isTelling { renewSystemAnswer(inFlight, at: now) }
    }
  }

  /// Asks the system's DNS again, if its own answer is what would be served while no provider answers.
  private mutating func renewSystemAnswer(_ inFlight: InFlightQuestion, at now: ResolverInstant) {
    let question = inFlight.question
    guard !isShutDown, !inFlight.isInvalidated, settings.system != nil,
      settings.configuration.localZones.route(for: question.host) == .providers,
      let entry = cache.value(question.host)?[question.family].entry, entry.source == SourceNames.system,
      cache.phase(of: entry, at: now) != .fresh
    else { return }
    join(.init(question: question, server: .system), deadlines(nil, from: now), nil, at: now)
  }

  /// The code of a provider's name in the cache; it is nearly always the one that was asked for last.
  private mutating func code(of provider: String) -> UInt16 {
    if lastSource.provider != provider {
      lastSource = (provider, cache.sources.code(ofProvider: provider) ?? SourceNames.system)
    }
    return lastSource.code
  }

  // MARK: Records

  /// Asks for records, of the servers that carry them.
  ///
  /// No other caller shares the question, and nothing is kept.
  ///
  /// - Returns: the number that the result will have.
  mutating func askRecords(
    _ question: DNSQuestion, _ timeout: Duration?, at now: ResolverInstant
  ) -> Number<DNSQuestion> {
    defer { advance(at: now) }
    let number: Number<DNSQuestion> = number()
    let deadlines = deadlines(timeout, from: now, hasSystem: false)
    recordLookups[number] = RecordLookup(question: question, deadlines: deadlines, generation: generation)
    servers.ask(.init(sameAs: number), .records(question), deadlines, at: now)
    return number
  }

  /// The servers have answered a question for records, or failed it: if they are those of a former configuration, the
  /// present ones are asked in the time that is left.
  mutating func recordsAnswered(
    _ number: Number<DNSQuestion>, _ result: Result<QueryMachine.Answered<RecordAnswer>, QueryMachine.QuestionFailure>,
    at now: ResolverInstant
  ) {
    switch result {
    case .success(let answered): serverAnswered(.provider(answered.server.number.rawValue), at: now)
    case .failure(let failed):
      guard !isShutDown, failed.cause != .cancelled, let lookup = recordLookups[number],
        lookup.generation != generation, now < lookup.deadlines.providers
      else { break }
      recordLookups[number]?.generation = generation
      return servers.ask(.init(sameAs: number), .records(lookup.question), lookup.deadlines, at: now)
    }
    recordLookups[number] = nil
    endings.append(.records(number, result))
  }

  /// The caller of a lookup of records has been cancelled.
  mutating func cancelRecords(_ number: Number<DNSQuestion>, at now: ResolverInstant) {
    servers.cancel(.init(sameAs: number))
    advance(at: now)
  }
}
