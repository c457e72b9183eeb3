// SPDX-License-Identifier: Apache-2.0
extension QueryMachine {
  /// What a batch brought for one of its questions.
  enum BatchOutcome: Sendable {
    case answered(Answered)
    /// It has to be asked by itself; not of the server that failed, if one did.
    case alone(after: Failure?)
  }

  /// The servers that are still to be asked, by their numbers, and what the others said.
  struct Candidates: Sendable {
    var order: [Int]
    var attempts: [DirectDNSError.Attempt] = []
    private var servers: [Int] = []
    private var timeouts = 0
    private var isCancelled = false

    init(order: [Int]) { self.order = order }

    mutating func note(_ failure: Failure) {
      attempts.append(failure.attempt)
      if failure.isCancelled { isCancelled = true } else { servers.append(failure.server) }
      if failure.isTimeout { timeouts += 1 }
    }

    func failed(isLate: Bool) -> Failed {
      Failed(
        attempts: attempts, servers: servers,
        isTimeout: timeouts == attempts.count && (timeouts > 0 || isLate), isLate: timeouts > 0 || isLate,
        isCancelled: isCancelled)
    }
  }
}

extension QueryMachine.Reply {
  /// What a query that could not be sent, or was not answered, brought.
  init(_ failure: ProviderFailure, _ error: HTTPTransportError?, asked: ResolverInstant, isBatch: Bool) {
    self.asked = asked
    reading = isBatch ? .batch(BatchReading(failure, status: nil)) : .one(.failure(failure))
    sendError = error
  }

  /// The query was given up to make room for another: where that ended it, it has timed out.
  mutating func countAsTimedOut() {
    guard case .one(.failure(let failure)) = reading, failure.kind == .cancelled else { return }
    // Without an error, it was given up while the server's own address was looked up.
    if sendError == .cancelled { reading = .one(.failure(ProviderFailure(HTTPTransportError.timedOut))) }
    if sendError == .cancelled || sendError == nil { sendError = .timedOut }
  }

  /// What it says about its server's health.
  func health(of subject: QueryMachine.Subject) -> Result<Answer, ProviderFailure> {
    switch reading {
    case .one(let one): one
    case .batch(let reading): reading.health(of: subject.questions)
    }
  }

  /// What it says about each question.
  func results(
    of subject: QueryMachine.Subject
  ) -> [(AddressQuestion, Result<Answer, ProviderFailure>)] {
    switch reading {
    case .one(let one): [(subject.first, one)]
    case .batch(let reading): reading.results(of: subject.questions).map { ($0.key, $0.value) }
    }
  }

  func failure(_ failure: ProviderFailure, of server: DNSServer) -> QueryMachine.Failure {
    let isTimeout = sendError == .timedOut
    return QueryMachine.Failure(
      server: server.number,
      attempt: .init(
        provider: server.name, reason: failure.reason,
        trouble: .init(sendError, hasReply: status != nil)),
      isTimeout: isTimeout, isCancelled: failure.kind == .cancelled && !isTimeout)
  }
}
