/// Asks the endpoints one question: in order, with health, rates, hedging and deadlines.
final class Upstreams: Sendable {
  /// What the endpoints said together.
  struct Answered: Sendable {
    var answer: Answer
    /// The endpoint's number: its place in the first configuration, or a later one.
    var endpoint: Int
    /// The provider's name.
    var provider: String
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

  private let transport: any HTTPTransport
  private let clock: any ResolverClock
  private let bootstrap: Bootstrap
  let report: UpstreamReport
  private let state: Locked<EndpointStates>

  init(
    _ configuration: ResolverConfiguration, transport: any HTTPTransport, clock: any ResolverClock,
    bootstrap: Bootstrap, report: UpstreamReport
  ) {
    self.transport = transport
    self.clock = clock
    self.bootstrap = bootstrap
    self.report = report
    let states = EndpointStates(configuration, at: clock.now)
    state = Locked(states)
    reportBreakers(of: states.endpoints)
  }

  /// Goes on with other providers; those that stay keep their health and what is left of their rate.
  ///
  /// A lookup under way asks none any more that has gone, and none that came after it had begun.
  func update(_ configuration: ResolverConfiguration) {
    let now = clock.now
    let (gone, here) = state.withLock { state in
      let before = state.endpoints
      state.update(configuration, at: now)
      return (before, state.endpoints)
    }
    // A breaker that has gone is closed; one that came may have the same name.
    for endpoint in gone { report.breaker(of: endpoint.configuration.provider, isOpen: false) }
    reportBreakers(of: here)
  }

  private func reportBreakers(of endpoints: [EndpointState]) {
    for endpoint in endpoints {
      report.breaker(of: endpoint.configuration.provider, isOpen: endpoint.health.openedAt != nil)
    }
  }

  /// Forgets what the last network taught.
  func networkDidChange() {
    reportBreakers(
      of: state.withLock { state in
        state.networkDidChange()
        return state.endpoints
      })
    transport.networkDidChange()
  }

  /// All endpoints as they stand, in the order of the configuration.
  var endpoints: [EndpointState] { state.withLock(\.endpoints) }

  /// How the endpoints do, in the order of the configuration.
  var status: [UpstreamStatus] {
    endpoints.map { UpstreamStatus($0.configuration.provider, $0.health) }
  }

  // MARK: What a warm-up goes by

  /// When somebody may be asked again: now, unless all of them said 429.
  func unblocked(at now: ResolverInstant) -> ResolverInstant {
    max(now, endpoints.map { $0.health.blockedUntil ?? now }.min() ?? now)
  }

  /// Whether every endpoint failed again and again.
  func areAllOpen() -> Bool {
    endpoints.allSatisfy { $0.health.openedAt != nil }
  }

  /// The queries so far, in the order of the configuration.
  var tallies: [QueryTally] { endpoints.map(\.tally) }

  // MARK: Asking

  /// Asks until one answers or none is left; each endpoint at most once.
  func answer(_ question: AddressQuestion, _ deadlines: LookupDeadlines) async throws(Failed) -> Answered {
    let now = clock.now
    let (order, hedges) = state.withLock { ($0.order(at: now), $0.hedges) }
    guard !order.isEmpty else { throw Failed(attempts: [], isTimeout: false, isCancelled: false) }
    var candidates = Candidates(order: order)
    if hedges {
      return try await hedged(question, deadlines, &candidates)
    }
    while let endpoint = await next(&candidates, deadlines) {
      let outcome = await attempt(endpoint, question, deadlines, isHedge: false)
      if let answered = candidates.note(outcome) { return answered }
    }
    throw candidates.failed(isLate: clock.now >= deadlines.providers)
  }

  /// The endpoints that are still to be asked, by their numbers, and what the others said.
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
    let delay = first.health.hedgingDelay
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
          guard running > 0, !Task.isCancelled, let second = takeHedge(&remaining) else { continue }
          running += 1
          group.addTask { .outcome(await self.attempt(second, question, deadlines, isHedge: true)) }
        case .outcome(let outcome):
          running -= 1
          if let answered = remaining.note(outcome) {
            group.cancelAll()
            return .success(answered)
          }
          guard running == 0 else { continue }
          guard let other = await next(&remaining, deadlines) else {
            group.cancelAll()
            return .failure(remaining.failed(isLate: clock.now >= deadlines.providers))
          }
          running += 1
          group.addTask { .outcome(await self.attempt(other, question, deadlines, isHedge: false)) }
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
  private func next(_ candidates: inout Candidates, _ deadlines: LookupDeadlines) async -> EndpointState? {
    while !candidates.order.isEmpty {
      let now = clock.now
      guard now < deadlines.providers else { return nil }
      switch state.withLock({ $0.next(among: candidates.order, before: deadlines.providers, at: now) }) {
      case .taken(let endpoint):
        candidates.order.removeAll { $0 == endpoint.number }
        return endpoint
      case .turn(let number, let instant):
        report.waits()
        guard (try? await clock.sleep(until: instant)) != nil else {
          state.withLock { $0.giveBack(number) }
          return nil
        }
        // It may have said 429 meanwhile.
        guard let endpoint = state.withLock({ $0.begin(number, at: clock.now) }) else { continue }
        candidates.order.removeAll { $0 == number }
        return endpoint
      case .blocked(let instant):
        report.waits()
        guard (try? await clock.sleep(until: instant)) != nil else { return nil }
      case .late(let names):
        candidates.attempts += names.map { .init(provider: $0, reason: "its request rate is used up") }
        return nil
      case .none: return nil
      }
    }
    return nil
  }

  private func takeHedge(_ candidates: inout Candidates) -> EndpointState? {
    let now = clock.now
    guard let taken = state.withLock({ $0.takeHedge(among: candidates.order, at: now) }) else { return nil }
    candidates.order.removeAll { $0 == taken.number }
    return taken
  }

  private func attempt(
    _ endpoint: EndpointState, _ question: AddressQuestion, _ deadlines: LookupDeadlines, isHedge: Bool
  ) async -> Outcome {
    let configuration = endpoint.configuration
    let provider = configuration.provider
    let begun = clock.now
    state.withLock { $0.asked(endpoint.number, at: begun) }
    var asked = begun
    var reply: HTTPReply?
    var sendError: HTTPTransportError?
    let result: Result<Answer, ProviderFailure>
    do throws(ProviderFailure) {
      let timeout = deadlines.attemptTimeout(at: begun) ?? .zero
      let address = timeout > .zero ? try await bootstrap.endpoint(configuration, timeout: timeout) : nil
      // What the endpoint's own address took is the attempt's time, and neither the answer's nor the endpoint's.
      asked = clock.now
      let left = timeout - (asked - begun)
      guard let address, left > .zero else {
        sendError = .timedOut
        throw ProviderFailure(.cancelled, "no time was left for it")
      }
      let message = provider.request(for: question, at: clock.secondsSince1970)
      do throws(HTTPTransportError) {
        reply = try await transport.send(message, to: address, timeout: left)
      } catch {
        if case .connect = error { bootstrap.connectingFailed(address) }
        sendError = error
        throw ProviderFailure(error)
      }
      guard let reply else { throw .malformed("no reply") }
      result = .success(try provider.answer(from: reply, to: question))
    } catch {
      result = .failure(error)
    }
    let now = clock.now
    let lookup = EndpointHealth.Lookup(host: question.host, end: deadlines.whole)
    let health = state.withLock { $0.ended(endpoint.number, result, of: lookup, in: now - asked, at: now) }
    if let health { report.breaker(of: provider, isOpen: health.openedAt != nil) }
    if health?.openedAt == now { report.opened(provider) }
    report.ended(
      provider, question, reply: reply, result: result,
      label: QueryLabel(result, error: sendError, status: reply?.status), isHedge: isHedge, duration: now - asked)
    let isTimeout = sendError == .timedOut
    switch result {
    case .success(let answer):
      return .answered(Answered(answer: answer, endpoint: endpoint.number, provider: provider.name, asked: asked))
    case .failure(let failure):
      return .failed(
        .init(provider: provider.name, reason: failure.reason, trouble: .init(sendError, hasReply: reply != nil)),
        isTimeout: isTimeout,
        isCancelled: failure.kind == .cancelled && !isTimeout)
    }
  }
}
