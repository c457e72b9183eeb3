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
    /// The endpoints that failed, by their numbers.
    var endpoints: [Int] = []
    /// Whether time ran out, and nothing else went wrong.
    var isTimeout: Bool
    /// Whether the resolver was shut down meanwhile.
    var isCancelled: Bool
  }

  private let transport: any HTTPTransport
  let clock: any ResolverClock
  private let bootstrap: Bootstrap
  let report: UpstreamReport
  let state: Locked<EndpointStates>

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
  ///
  /// - Parameters:
  ///   - question: what to ask.
  ///   - deadlines: the times of the lookup.
  ///   - failed: an endpoint that has failed this question already, if one has.
  /// - Returns: the first good reply.
  /// - Throws: why there is none.
  func answer(
    _ question: AddressQuestion, _ deadlines: LookupDeadlines, after failed: Failure? = nil
  ) async throws(Failed) -> Answered {
    let now = clock.now
    let (order, hedges) = state.withLock { ($0.order(at: now), $0.hedges) }
    guard !order.isEmpty else { throw Failed(attempts: [], isTimeout: false, isCancelled: false) }
    var candidates = Candidates(order: order.filter { $0 != failed?.endpoint })
    if let failed { _ = candidates.note(failed.outcome, of: failed.endpoint) }
    if candidates.order.count > 1 { return try await raced(question, deadlines, hedges: hedges, &candidates) }
    if let endpoint = await next(&candidates, deadlines) {
      let outcome = await attempt(endpoint, question, deadlines)
      if let answered = candidates.note(outcome, of: endpoint.number) { return answered }
    }
    throw candidates.failed(isLate: clock.now >= deadlines.providers)
  }

  /// The endpoints that are still to be asked, by their numbers, and what the others said.
  struct Candidates {
    var order: [Int]
    var attempts: [DirectDNSError.Attempt] = []
    var endpoints: [Int] = []
    var timeouts = 0
    var isCancelled = false

    init(order: [Int]) { self.order = order }

    mutating func note(_ outcome: Outcome, of number: Int) -> Answered? {
      switch outcome {
      case .answered(let answered): return answered
      case .failed(let attempt, let isTimeout, let isCancelled):
        attempts.append(attempt)
        if !isCancelled { endpoints.append(number) }
        if isTimeout { timeouts += 1 }
        if isCancelled { self.isCancelled = true }
        return nil
      }
    }

    func failed(isLate: Bool) -> Failed {
      Failed(
        attempts: attempts, endpoints: endpoints,
        isTimeout: timeouts == attempts.count && (timeouts > 0 || isLate), isCancelled: isCancelled)
    }
  }

  /// An endpoint that has failed a question, and how.
  struct Failure: Sendable {
    var endpoint: Int
    var outcome: Outcome
  }

  enum Outcome: Sendable {
    case answered(Answered)
    case failed(DirectDNSError.Attempt, isTimeout: Bool, isCancelled: Bool)
  }

  private enum RaceEvent: Sendable {
    case ended(Int, Outcome)
    /// Something is to be decided.
    case timer
  }

  /// An attempt under way among others: it can be given up, and counts as one that timed out then.
  private struct Running: Sendable {
    let isGivenUp: Locked<Bool>
    let work: Task<Outcome, Never>

    func giveUp() {
      isGivenUp.withLock { $0 = true }
      work.cancel()
    }
  }

  /// Asks the first endpoint; a second one too when the first takes longer than it usually does; and the next one when an
  /// attempt has failed, or has had its time and there is a next one.
  ///
  /// The first good reply wins, and the others are cancelled.
  private func raced(
    _ question: AddressQuestion, _ deadlines: LookupDeadlines, hedges: Bool, _ candidates: inout Candidates
  ) async throws(Failed) -> Answered {
    guard let first = await next(&candidates, deadlines) else { throw candidates.failed(isLate: true) }
    var remaining = candidates
    let result = await withTaskGroup(of: RaceEvent.self) { group -> Result<Answered, Failed> in
      let now = clock.now
      var race = AttemptRace(time: deadlines.attempt, hedgeAt: hedges ? now + first.health.hedgingDelay : nil)
      var running: [Int: Running] = [:]
      var wakesAt: ResolverInstant?

      func begin(_ endpoint: EndpointState, isHedge: Bool = false) {
        let isGivenUp = Locked(false)
        let work = Task.immediate {
          await self.attempt(endpoint, question, deadlines, isHedge: isHedge, isGivenUp: { isGivenUp.withLock(\.self) })
        }
        running[endpoint.number] = Running(isGivenUp: isGivenUp, work: work)
        race.begin(endpoint.number, at: clock.now)
        group.addTask {
          await withTaskCancellationHandler {
            .ended(endpoint.number, await work.value)
          } onCancel: {
            work.cancel()
          }
        }
      }

      func setTimer() {
        guard !remaining.order.isEmpty, let instant = race.nextInstant, instant < deadlines.providers,
          wakesAt.map({ instant < $0 }) ?? true
        else { return }
        wakesAt = instant
        group.addTask {
          try? await self.clock.sleep(until: instant)
          return .timer
        }
      }

      begin(first)
      setTimer()
      while let event = await group.next() {
        switch event {
        case .timer:
          guard !Task.isCancelled else { continue }
          wakesAt = nil
          while let decision = race.due(at: clock.now) {
            switch decision {
            case .hedge:
              if let second = takeHedge(&remaining) { begin(second, isHedge: true) }
            case .relief(let number):
              switch relief(&remaining, deadlines) {
              case .instead(let next):
                running[number]?.giveUp()
                begin(next)
              case .beside(let next): begin(next)
              case .later(let instant): race.putOff(number, until: instant)
              case .nobody: break
              }
            }
          }
        case .ended(let number, let outcome):
          race.end(number)
          if let answered = remaining.note(outcome, of: number) {
            group.cancelAll()
            return .success(answered)
          }
          guard race.isOver else { continue }
          guard let other = await next(&remaining, deadlines) else {
            group.cancelAll()
            return .failure(remaining.failed(isLate: clock.now >= deadlines.providers))
          }
          begin(other)
        }
        setTimer()
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
  func next(_ candidates: inout Candidates, _ deadlines: LookupDeadlines) async -> EndpointState? {
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

  private func relief(_ candidates: inout Candidates, _ deadlines: LookupDeadlines) -> EndpointStates.Relief {
    let now = clock.now
    let relief = state.withLock { $0.relief(among: candidates.order, before: deadlines.providers, at: now) }
    switch relief {
    case .instead(let taken), .beside(let taken): candidates.order.removeAll { $0 == taken.number }
    case .later, .nobody: break
    }
    return relief
  }

  private func takeHedge(_ candidates: inout Candidates) -> EndpointState? {
    let now = clock.now
    guard let taken = state.withLock({ $0.takeHedge(among: candidates.order, at: now) }) else { return nil }
    candidates.order.removeAll { $0 == taken.number }
    return taken
  }

  private func attempt(
    _ endpoint: EndpointState, _ question: AddressQuestion, _ deadlines: LookupDeadlines, isHedge: Bool = false,
    isGivenUp: @Sendable () -> Bool = { false }
  ) async -> Outcome {
    let provider = endpoint.configuration.provider
    let exchange = await exchange(
      with: endpoint, timeout: deadlines.timeLeft(at: clock.now) ?? .zero, isGivenUp: isGivenUp
    ) { provider.request(for: question, at: $0) }
    let result: Result<Answer, ProviderFailure>
    do throws(ProviderFailure) {
      result = .success(try provider.answer(from: exchange.result.get(), to: question))
    } catch {
      result = .failure(error)
    }
    let duration = ended(endpoint, exchange, result, EndpointHealth.Lookup(host: question.host, end: deadlines.whole))
    report.ended(
      provider, [question: result], reply: exchange.reply,
      label: QueryLabel(result, error: exchange.sendError, status: exchange.reply?.status), isHedge: isHedge,
      duration: duration)
    switch result {
    case .success(let answer):
      return .answered(
        Answered(answer: answer, endpoint: endpoint.number, provider: provider.name, asked: exchange.asked))
    case .failure(let failure): return failed(provider, failure, exchange)
    }
  }

  func failed(_ provider: any Provider, _ failure: ProviderFailure, _ exchange: Exchange) -> Outcome {
    let isTimeout = exchange.sendError == .timedOut
    return .failed(
      .init(
        provider: provider.name, reason: failure.reason,
        trouble: .init(exchange.sendError, hasReply: exchange.reply != nil)),
      isTimeout: isTimeout, isCancelled: failure.kind == .cancelled && !isTimeout)
  }

  /// One request to an endpoint, and what came back.
  struct Exchange: Sendable {
    /// When it was sent.
    var asked: ResolverInstant
    var result: Result<HTTPReply, ProviderFailure>
    /// Why there was no reply, where the request was sent or time ran out before.
    var sendError: HTTPTransportError?

    var reply: HTTPReply? { try? result.get() }
  }

  /// Sends a request to an endpoint.
  func exchange(
    with endpoint: EndpointState, timeout: Duration, isGivenUp: @Sendable () -> Bool = { false },
    _ message: (_ secondsSince1970: Int64) -> HTTPMessage
  ) async -> Exchange {
    let begun = clock.now
    state.withLock { $0.asked(endpoint.number, at: begun) }
    var asked = begun
    var sendError: HTTPTransportError?
    do throws(ProviderFailure) {
      let address = timeout > .zero ? try await bootstrap.endpoint(endpoint.configuration, timeout: timeout) : nil
      // What the endpoint's own address took is the attempt's time, and neither the answer's nor the endpoint's.
      asked = clock.now
      let left = timeout - (asked - begun)
      guard let address, left > .zero else {
        sendError = .timedOut
        throw ProviderFailure(.cancelled, "no time was left for it")
      }
      do throws(HTTPTransportError) {
        let reply = try await transport.send(message(clock.secondsSince1970), to: address, timeout: left)
        return Exchange(asked: asked, result: .success(reply))
      } catch {
        if case .connect = error { bootstrap.connectingFailed(address) }
        let reason = error == .cancelled && isGivenUp() ? .timedOut : error
        sendError = reason
        throw ProviderFailure(reason)
      }
    } catch {
      // Given up while the endpoint's own address was looked up, which says nothing about the endpoint.
      if sendError == nil, error.kind == .cancelled, isGivenUp() { sendError = .timedOut }
      return Exchange(asked: asked, result: .failure(error), sendError: sendError)
    }
  }

  /// Notes what came of an exchange, and says how long it took.
  func ended(
    _ endpoint: EndpointState, _ exchange: Exchange, _ result: Result<Answer, ProviderFailure>,
    _ lookup: EndpointHealth.Lookup
  ) -> Duration {
    let now = clock.now
    let provider = endpoint.configuration.provider
    let duration = now - exchange.asked
    let health = state.withLock { $0.ended(endpoint.number, result, of: lookup, in: duration, at: now) }
    if let health { report.breaker(of: provider, isOpen: health.openedAt != nil) }
    if health?.openedAt == now { report.opened(provider) }
    return duration
  }
}
