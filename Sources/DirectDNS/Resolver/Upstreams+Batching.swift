internal import HTTPTypes

/// Several questions in one query, where the endpoint that is asked first takes them.
extension Upstreams {
  /// What a batch brought for one of its questions.
  enum BatchOutcome: Sendable {
    case answered(Answered)
    /// It has to be asked by itself; not of the endpoint that failed, if one did.
    case alone(after: Failure?)
  }

  /// How many names whoever is asked first takes in one query.
  func batchLimit(at now: ResolverInstant) -> Int { state.withLock { $0.batchEndpoint(at: now)?.limit ?? 1 } }

  /// Asks several questions of the endpoint that is first, once, and waits for its rate if it has one.
  ///
  /// What is missing here has to be asked by itself.
  func answers(
    _ questions: [AddressQuestion], _ deadlines: LookupDeadlines
  ) async -> [AddressQuestion: BatchOutcome] {
    let now = clock.now
    let (first, count) = state.withLock { ($0.batchEndpoint(at: now), $0.endpoints.count) }
    guard let first, let host = questions.first?.host else { return [:] }
    var candidates = Candidates(order: [first.number])
    guard let endpoint = await next(&candidates, deadlines),
      let provider = endpoint.configuration.provider as? any BatchProvider,
      let left = deadlines.timeLeft(at: clock.now)
    else { return [:] }
    let exchange = await exchange(with: endpoint, timeout: count > 1 ? min(left, deadlines.attempt) : left) {
      provider.request(for: questions, at: $0)
    }
    let reading: BatchReading
    do throws(ProviderFailure) {
      reading = .answers(try provider.answers(from: exchange.result.get(), to: questions))
    } catch {
      reading = BatchReading(error, status: exchange.reply?.status.code)
    }
    let lookup = EndpointHealth.Lookup(host: host, end: deadlines.whole)
    let duration = ended(endpoint, exchange, reading.health(of: questions), lookup)
    let results = reading.results(of: questions)
    report.ended(
      provider, results, reply: exchange.reply,
      label: QueryLabel(reading.health(of: questions), error: exchange.sendError, status: exchange.reply?.status),
      duration: duration)
    if reading.isRefusal { state.withLock { $0.refusesBatches(endpoint.number) } }
    return results.mapValues { result in
      switch (result, reading) {
      case (.success(let answer), _):
        .answered(Answered(answer: answer, endpoint: endpoint.number, provider: provider.name, asked: exchange.asked))
      case (.failure(let failure), .endpointFailed):
        .alone(after: Failure(endpoint: endpoint.number, outcome: failed(provider, failure, exchange)))
      case (.failure, _): .alone(after: nil)
      }
    }
  }
}

/// What a reply to several questions says about them and about its endpoint: a pure function.
enum BatchReading: Sendable {
  case answers([AddressQuestion: Result<Answer, ProviderFailure>])
  /// The endpoint works and answers none of them: one name may have spoilt it for all.
  case answersNone(ProviderFailure)
  /// The endpoint does not know such queries.
  case refused(ProviderFailure)
  /// There is no use in asking this endpoint for each of them.
  case endpointFailed(ProviderFailure)

  /// Judges a failure by the reply that it came with, if any.
  init(_ failure: ProviderFailure, status: Int?) {
    self =
      switch (failure.kind, status) {
      case (.response, _): .answersNone(failure)
      // 429: the endpoint stands back by itself until it may be asked again.
      case (.rateLimited, _): .answersNone(failure)
      // Whoever gets no answer from it but this may not be talking to it: a reply that cannot be read is a failure.
      case (.transport, let status?) where (200..<300).contains(status): .refused(failure)
      case (.transport, let status?) where Self.saysNo(status): .refused(ProviderFailure(.response, failure.reason))
      case (.transport, _), (.cancelled, _): .endpointFailed(failure)
      }
  }

  /// Whether a reply that is none to several names is the endpoint's word that it takes one at a time.
  private static func saysNo(_ status: Int) -> Bool {
    [400, 404, 405, 414, 501].contains(status)
  }

  var isRefusal: Bool { if case .refused = self { true } else { false } }

  /// What it says about the endpoint's health; a refusal by status is a reply.
  func health(of questions: [AddressQuestion]) -> Result<Answer, ProviderFailure> {
    switch self {
    case .answers(let answers):
      questions.lazy.compactMap { answers[$0] }.first { if case .success = $0 { true } else { false } }
        ?? .failure(ProviderFailure(.response, "answered none of the names"))
    case .answersNone(let failure), .endpointFailed(let failure), .refused(let failure): .failure(failure)
    }
  }

  /// What it says about each question.
  func results(of questions: [AddressQuestion]) -> [AddressQuestion: Result<Answer, ProviderFailure>] {
    switch self {
    case .answers(let answers): answers
    case .answersNone(let failure), .refused(let failure), .endpointFailed(let failure):
      Dictionary(questions.map { ($0, .failure(failure)) }) { first, _ in first }
    }
  }
}
