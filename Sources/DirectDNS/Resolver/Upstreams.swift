/// Asks the endpoints one question: in order, with health, rates, hedging and deadlines.
final class Upstreams: Sendable {
  /// What the endpoints said together.
  struct Answered: Sendable {
    var answer: Answer
    /// The provider's place in the configuration.
    var provider: Int
    /// When the query was sent.
    var asked: ResolverInstant
  }

  /// Why none of them answered.
  struct Failed: Error, Sendable {
    var attempts: [DirectDNSError.Attempt]
    /// Whether time ran out, and nothing else went wrong.
    var isTimeout: Bool
    /// Whether the resolver was shut down meanwhile.
    var isCancelled: Bool
  }

  fileprivate struct State {
    var healths: [EndpointHealth]
    var buckets: [TokenBucket?]
    var tallies: [QueryTally]
    var budget = HedgeBudget()
  }

  let providers: [ProviderConfiguration]
  private let transport: any HTTPTransport
  private let clock: any ResolverClock
  private let bootstrap: Bootstrap
  private let hedges: Bool
  let report: UpstreamReport
  private let state: Locked<State>

  init(
    _ configuration: ResolverConfiguration, transport: any HTTPTransport, clock: any ResolverClock,
    bootstrap: Bootstrap, report: UpstreamReport
  ) {
    providers = configuration.providers
    self.transport = transport
    self.clock = clock
    self.bootstrap = bootstrap
    self.report = report
    hedges = configuration.hedges && providers.count > 1
    let now = clock.now
    state = Locked(
      State(
        healths: providers.map { _ in EndpointHealth() },
        buckets: providers.map { provider in provider.rateLimit.map { TokenBucket($0, now: now) } },
        tallies: providers.map { _ in QueryTally() }))
    for provider in providers { report.breaker(of: provider.provider, isOpen: false) }
  }

  /// Forgets what the last network taught.
  func networkDidChange() {
    state.withLock { state in
      for index in state.healths.indices { state.healths[index].networkDidChange() }
    }
    for provider in providers { report.breaker(of: provider.provider, isOpen: false) }
    transport.networkDidChange()
  }

  /// How the endpoints do, in the order of the configuration.
  var status: [UpstreamStatus] {
    zip(providers, state.withLock { $0.healths }).map { UpstreamStatus($0.provider, $1) }
  }

  // MARK: What a warm-up goes by

  /// When somebody may be asked again: now, unless all of them said 429.
  func unblocked(at now: ResolverInstant) -> ResolverInstant {
    state.withLock { state in max(now, state.healths.map { $0.blockedUntil ?? now }.min() ?? now) }
  }

  /// Whether every endpoint failed again and again.
  func areAllOpen() -> Bool {
    state.withLock { state in state.healths.allSatisfy { $0.openedAt != nil } }
  }

  /// The queries so far, by the providers' places in the configuration.
  var tallies: [QueryTally] { state.withLock { $0.tallies } }

  // MARK: Asking

  /// Asks until one answers or none is left; each endpoint at most once.
  func answer(_ question: AddressQuestion, _ deadlines: LookupDeadlines) async throws(Failed) -> Answered {
    guard !providers.isEmpty else { throw Failed(attempts: [], isTimeout: false, isCancelled: false) }
    var candidates = Candidates(order: state.withLock { UpstreamOrder.order($0.healths, at: clock.now) })
    if hedges {
      return try await hedged(question, deadlines, &candidates)
    }
    while let index = await next(&candidates, deadlines) {
      let outcome = await attempt(index, question, deadlines, isHedge: false)
      if let answered = candidates.note(outcome) { return answered }
    }
    throw candidates.failed(isLate: clock.now >= deadlines.providers)
  }

  /// The endpoints that are still to be asked, and what the others said.
  private struct Candidates {
    var order: [Int]
    var attempts: [DirectDNSError.Attempt] = []
    var timeouts = 0
    var isCancelled = false

    init(order: [Int]) { self.order = order }

    mutating func note(_ outcome: Outcome) -> Answered? {
      switch outcome {
      case .answered(let answered): return answered
      case .failed(let attempt, let isTimeout, let isCancelled):
        attempts.append(attempt)
        if isTimeout { timeouts += 1 }
        if isCancelled { self.isCancelled = true }
        return nil
      }
    }

    func failed(isLate: Bool) -> Failed {
      Failed(
        attempts: attempts, isTimeout: timeouts == attempts.count && (timeouts > 0 || isLate), isCancelled: isCancelled)
    }
  }

  private enum Outcome: Sendable {
    case answered(Answered)
    case failed(DirectDNSError.Attempt, isTimeout: Bool, isCancelled: Bool)
  }

  private enum RaceEvent: Sendable { case outcome(Outcome), hedge }

  /// Asks the first endpoint, and a second one too when the first takes longer than it usually does.
  ///
  /// The first good reply wins, and the others are cancelled.
  private func hedged(
    _ question: AddressQuestion, _ deadlines: LookupDeadlines, _ candidates: inout Candidates
  ) async throws(Failed) -> Answered {
    guard let first = await next(&candidates, deadlines) else { throw candidates.failed(isLate: true) }
    let delay = state.withLock { $0.healths[first].hedgingDelay }
    var remaining = candidates
    let result = await withTaskGroup(of: RaceEvent.self) { group -> Result<Answered, Failed> in
      var running = 1
      group.addTask { .outcome(await self.attempt(first, question, deadlines, isHedge: false)) }
      group.addTask {
        try? await self.clock.sleep(until: self.clock.now + delay)
        return .hedge
      }
      while let event = await group.next() {
        switch event {
        case .hedge:
          guard running > 0, !Task.isCancelled, let index = takeHedge(&remaining) else { continue }
          running += 1
          group.addTask { .outcome(await self.attempt(index, question, deadlines, isHedge: true)) }
        case .outcome(let outcome):
          running -= 1
          if let answered = remaining.note(outcome) {
            group.cancelAll()
            return .success(answered)
          }
          guard running == 0 else { continue }
          guard let index = await next(&remaining, deadlines) else {
            group.cancelAll()
            return .failure(remaining.failed(isLate: clock.now >= deadlines.providers))
          }
          running += 1
          group.addTask { .outcome(await self.attempt(index, question, deadlines, isHedge: false)) }
        }
      }
      return .failure(remaining.failed(isLate: true))
    }
    candidates = remaining
    return try result.get()
  }

  /// The next endpoint that may be asked now.
  ///
  /// An empty bucket is no failure: the next one is asked instead, and when all are empty the lookup waits
  /// for the first token. Those who wait for one bucket are served in the order of their coming.
  private func next(_ candidates: inout Candidates, _ deadlines: LookupDeadlines) async -> Int? {
    while !candidates.order.isEmpty {
      let now = clock.now
      guard now < deadlines.providers else { return nil }
      let step = state.withLock { state -> (turn: Int?, instant: ResolverInstant)? in
        for index in candidates.order where state.take(index, at: now) {
          state.budget.queried(at: now)
          return (index, now)
        }
        let earliest = candidates.order.min { state.ready($0, at: now) < state.ready($1, at: now) }
        guard let earliest, state.ready(earliest, at: now) < deadlines.providers else { return nil }
        // One that said 429 reserves nothing: it is asked when it may be.
        let instant = state.reserve(earliest, at: now)
        return (instant.map { _ in earliest }, instant ?? state.ready(earliest, at: now))
      }
      guard let (turn, instant) = step else {
        for index in candidates.order {
          candidates.attempts.append(
            .init(provider: providers[index].provider.name, reason: "its request rate is used up"))
        }
        return nil
      }
      if instant > now {
        report.waits()
        if (try? await clock.sleep(until: instant)) == nil {
          if let turn { state.withLock { $0.buckets[turn]?.giveBack() } }
          return nil
        }
      }
      // It may have said 429 meanwhile.
      guard let turn, instant == now || state.withLock({ $0.begin(turn, at: clock.now) }) else { continue }
      candidates.order.removeAll { $0 == turn }
      return turn
    }
    return nil
  }

  private func takeHedge(_ candidates: inout Candidates) -> Int? {
    let now = clock.now
    let order = candidates.order
    let taken = state.withLock { state -> Int? in
      // Only where there is somebody to ask: a hedge's right is not spent on nothing.
      guard let index = order.first(where: { state.isReady($0, at: now) }), state.budget.take(at: now) else {
        return nil
      }
      return state.take(index, at: now) ? index : nil
    }
    if let taken { candidates.order.removeAll { $0 == taken } }
    return taken
  }

  private func attempt(
    _ index: Int, _ question: AddressQuestion, _ deadlines: LookupDeadlines, isHedge: Bool
  ) async -> Outcome {
    let configuration = providers[index]
    let provider = configuration.provider
    let begun = clock.now
    state.withLock { $0.healths[index].asked(at: begun) }
    var asked = begun
    var reply: HTTPReply?
    var sendError: HTTPTransportError?
    let result: Result<Answer, ProviderFailure>
    do throws(ProviderFailure) {
      let timeout = deadlines.attemptTimeout(at: begun) ?? .zero
      let endpoint = timeout > .zero ? try await bootstrap.endpoint(configuration, timeout: timeout) : nil
      // What the endpoint's own address took is the attempt's time, and neither the answer's nor the endpoint's.
      asked = clock.now
      let left = timeout - (asked - begun)
      guard let endpoint, left > .zero else {
        sendError = .timedOut
        throw ProviderFailure(.cancelled, "no time was left for it")
      }
      let message = provider.request(for: question, at: clock.secondsSince1970)
      do throws(HTTPTransportError) {
        reply = try await transport.send(message, to: endpoint, timeout: left)
      } catch {
        if case .connect = error { bootstrap.connectingFailed(endpoint) }
        sendError = error
        throw ProviderFailure(error)
      }
      guard let reply else { throw .malformed("no reply") }
      result = .success(try provider.answer(from: reply, to: question))
    } catch {
      result = .failure(error)
    }
    let now = clock.now
    let (isOpen, hasOpened) = state.withLock { state in
      switch result {
      case .success: state.healths[index].answered(in: now - asked)
      case .failure(let failure):
        let lookup = EndpointHealth.Lookup(host: question.host, end: deadlines.whole)
        state.healths[index].failed(failure.kind, of: lookup, in: now - asked, at: now)
      }
      state.tallies[index].note(result)
      let openedAt = state.healths[index].openedAt
      return (openedAt != nil, openedAt == now)
    }
    report.breaker(of: provider, isOpen: isOpen)
    if hasOpened { report.opened(provider) }
    report.ended(
      provider, question, reply: reply, result: result,
      label: QueryLabel(result, error: sendError, status: reply?.status), isHedge: isHedge, duration: now - asked)
    let isTimeout = sendError == .timedOut
    switch result {
    case .success(let answer): return .answered(Answered(answer: answer, provider: index, asked: asked))
    case .failure(let failure):
      return .failed(
        .init(provider: provider.name, reason: failure.reason), isTimeout: isTimeout,
        isCancelled: failure.kind == .cancelled && !isTimeout)
    }
  }
}

extension Upstreams.State {
  fileprivate func isBlocked(_ index: Int, at now: ResolverInstant) -> Bool {
    healths[index].blockedUntil.map { $0 > now } ?? false
  }

  fileprivate func isReady(_ index: Int, at now: ResolverInstant) -> Bool {
    !isBlocked(index, at: now) && (buckets[index].map { $0.ready(at: now) <= now } ?? true)
  }

  fileprivate mutating func take(_ index: Int, at now: ResolverInstant) -> Bool {
    guard !isBlocked(index, at: now) else { return false }
    return buckets[index]?.take(at: now) ?? true
  }

  /// The next token of an endpoint that has said nothing against being asked, and when it may be used.
  fileprivate mutating func reserve(_ index: Int, at now: ResolverInstant) -> ResolverInstant? {
    guard !isBlocked(index, at: now) else { return nil }
    return buckets[index]?.reserve(at: now)
  }

  /// The turn that was reserved has come.
  fileprivate mutating func begin(_ index: Int, at now: ResolverInstant) -> Bool {
    guard !isBlocked(index, at: now) else { return false }
    budget.queried(at: now)
    return true
  }

  fileprivate func ready(_ index: Int, at now: ResolverInstant) -> ResolverInstant {
    max(healths[index].blockedUntil ?? now, buckets[index]?.ready(at: now) ?? now)
  }
}
