// SPDX-License-Identifier: Apache-2.0
/// What comes of queries, and what they say together.
extension QueryMachine {
  /// What the servers said together.
  struct Answered: Sendable {
    var answer: Answer
    /// The server's number: its place in the first configuration, or a later one.
    var server: Int
    /// The provider's name.
    var provider: String
    /// When the query was sent.
    var asked: ResolverInstant
  }

  /// Why none of them answered.
  struct Failed: Error, Sendable {
    var attempts: [DirectDNSError.Attempt]
    /// The servers that failed, by their numbers.
    var servers: [Int] = []
    /// Whether time ran out, and nothing else went wrong.
    var isTimeout: Bool
    /// Whether time ran out, whatever else went wrong.
    var isLate = false
    /// Whether the resolver was shut down meanwhile.
    var isCancelled: Bool
  }

  /// A server that has failed a question, and how.
  struct Failure: Sendable {
    var server: Int
    var attempt: DirectDNSError.Attempt
    var isTimeout: Bool
    var isCancelled: Bool
  }

  /// What a query brought, as its sender saw it.
  struct Reply: Sendable {
    /// When it was sent.
    var asked: ResolverInstant
    var reading: Reading
    /// Why there was no reply, where the query was sent or time ran out before.
    var sendError: HTTPTransportError?
    /// The reply's status, where there was a reply.
    var status: Int?
    /// The address that answered, where it is known.
    var address: IPAddress?

    enum Reading: Sendable {
      case one(Result<Answer, ProviderFailure>)
      case batch(BatchReading)
    }
  }

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
