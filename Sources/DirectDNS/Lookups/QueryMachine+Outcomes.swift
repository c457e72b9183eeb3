// SPDX-License-Identifier: Apache-2.0
/// The outcomes of queries, and of questions, which may take several queries.
extension QueryMachine {
  /// An answer, about addresses or about records, and which server gave it.
  struct Answered<Content: Sendable>: Sendable {
    var answer: Content
    var server: DNSServer
    /// When the query was sent.
    var asked: ResolverInstant
  }

  /// Why no server answered a question.
  struct QuestionFailure: Error, Sendable {
    var attempts: [DirectDNSError.Attempt]
    /// The servers that failed.
    var servers: [Number<DNSServer>] = []
    var cause: Cause

    enum Cause: Sendable, Hashable {
      case failed
      /// Time ran out, among other things that went wrong.
      case failedLate
      /// All that went wrong is that time ran out.
      case timedOut
      /// Nobody wants it any more, or the resolver was shut down.
      case cancelled
    }

    var isLate: Bool { cause == .failedLate || cause == .timedOut }
  }

  /// A server that has failed a question, and how.
  struct ServerFailure: Sendable {
    var server: Number<DNSServer>
    var attempt: DirectDNSError.Attempt
    var cause: Cause

    enum Cause: Sendable { case failed, timedOut, cancelled }
  }

  /// How a query ended, as its sender saw it.
  struct Reply: Sendable {
    /// When it was sent.
    var asked: ResolverInstant
    var reading: Reading
    /// Why there was no reply; nil if there was one, or if the query could not be sent.
    var sendError: HTTPTransportError?
    /// The status of the reply, if there was one.
    var status: Int?
    /// The address that answered, if it is known.
    var address: IPAddress?

    enum Reading: Sendable {
      case one(Result<Answer, ProviderFailure>)
      case batch(BatchReading)
      case records(Result<RecordAnswer, ProviderFailure>)
    }
  }

  /// The outcome of one question of a batch.
  enum BatchOutcome: Sendable {
    case answered(Answered<Answer>)
    /// It has to be asked by itself, though not of the server that failed the batch, if it did.
    case alone(after: ServerFailure?)
  }
}

extension QueryMachine {
  /// The servers that a question can still be asked of, and how the others failed it.
  struct Candidates: Sendable {
    /// Those that have not been asked, in the order of asking.
    var order: [Number<DNSServer>]
    /// Those that have said 429: each is asked once more when its pause is over, if all others have been asked by then.
    private var paused: [Number<DNSServer>] = []
    /// Those that have had this second chance, or wait for it.
    private var forgiven: [Number<DNSServer>] = []
    var attempts: [DirectDNSError.Attempt] = []
    private var servers: [Number<DNSServer>] = []
    private var timeouts = 0
    private var isCancelled = false

    init(order: [Number<DNSServer>]) { self.order = order }

    /// Who is left to ask.
    enum Rest: Sendable, Hashable {
      /// Servers that have not been asked.
      case unasked
      /// Only servers that have said 429, and have their second chance.
      case paused
      case nobody
    }

    var rest: Rest { !order.isEmpty ? .unasked : !paused.isEmpty ? .paused : .nobody }
    /// All that may be asked, first those that have not been.
    var askable: [Number<DNSServer>] { paused.isEmpty ? order : order + paused }

    /// Notes that a server has said 429 and asked for a pause.
    mutating func pause(_ server: Number<DNSServer>) {
      guard !forgiven.contains(server) else { return }
      forgiven.append(server)
      paused.append(server)
    }

    /// Takes out a server that is asked.
    mutating func take(_ server: Number<DNSServer>) {
      // Not removed in place: that would first copy the array, which questions share.
      order = order.filter { $0 != server }
      if !paused.isEmpty { paused.removeAll { $0 == server } }
    }

    /// Adds why servers cannot be asked in time, but for those that have failed already.
    mutating func add(_ reasons: [DirectDNSError.Attempt]) {
      attempts += reasons.filter { reason in !attempts.contains { $0.server == reason.server } }
    }

    mutating func note(_ failure: ServerFailure) {
      attempts.append(failure.attempt)
      if failure.cause == .cancelled { isCancelled = true } else { servers.append(failure.server) }
      if failure.cause == .timedOut { timeouts += 1 }
    }

    func failed(isLate: Bool) -> QuestionFailure {
      let isLate = isLate || timeouts > 0
      let cause: QuestionFailure.Cause =
        if isCancelled { .cancelled } else if isLate { timeouts == attempts.count ? .timedOut : .failedLate } else {
          .failed
        }
      return QuestionFailure(attempts: attempts, servers: servers, cause: cause)
    }
  }
}

extension QueryMachine.Reply {
  /// The end of a query that could not be sent or was not answered.
  init(
    _ failure: ProviderFailure, _ error: HTTPTransportError?, asked: ResolverInstant, to subject: QueryMachine.Subject
  ) {
    self.asked = asked
    reading =
      switch subject {
      case .one: .one(.failure(failure))
      case .batch: .batch(BatchReading(failure, status: nil))
      case .records: .records(.failure(failure))
      }
    sendError = error
  }

  /// Makes the end of a query that was given up for another server count as a timeout, if it was given up only then.
  mutating func countAsTimedOut() {
    let timedOut = ProviderFailure(HTTPTransportError.timedOut)
    // Without a send error, the server's own address was still being looked up.
    switch reading {
    case .one(.failure(let failure)) where failure.kind == .cancelled:
      if sendError == .cancelled { reading = .one(.failure(timedOut)) }
    case .records(.failure(let failure)) where failure.kind == .cancelled:
      if sendError == .cancelled { reading = .records(.failure(timedOut)) }
    default: return
    }
    if sendError == .cancelled || sendError == nil { sendError = .timedOut }
  }

  /// What it says about its server's health.
  func health(of subject: QueryMachine.Subject) -> Result<Answer, ProviderFailure> {
    switch (reading, subject) {
    case (.one(let one), _): one
    case (.batch(let reading), .batch(let questions)): reading.health(of: questions)
    case (.batch(let reading), _): reading.health(of: [])
    case (.records(let records), _): records.map(\.counted)
    }
  }

  /// The result for each question.
  func results(of subject: QueryMachine.Subject) -> QueryMachine.EndedQuery.Results {
    switch (reading, subject) {
    case (.one(let one), .one(let question)): .addresses([(question, one)])
    case (.batch(let reading), .batch(let questions)):
      .addresses(reading.results(of: questions).map { ($0.key, $0.value) })
    case (.records(let records), .records(let question)): .records(question, records)
    default: .addresses([])
    }
  }

  func failure(_ failure: ProviderFailure, of server: DNSServer) -> QueryMachine.ServerFailure {
    let isTimeout = sendError == .timedOut
    let isRefusal = if case .rateLimited = failure.kind { true } else { false }
    return QueryMachine.ServerFailure(
      server: server.number,
      attempt: .init(
        server: server.name, reason: failure.reason,
        kind: isRefusal ? .rate : .init(sendError, status: status)),
      cause: isTimeout ? .timedOut : failure.kind == .cancelled ? .cancelled : .failed)
  }
}

extension RecordAnswer {
  /// The same as an answer about addresses, which health and metrics go by.
  fileprivate var counted: Answer {
    if isNameMissing { return Answer(.negative(.nameNotFound), ttl: nil) }
    return Answer(records.isEmpty ? .negative(.noAddress) : .addresses([]), ttl: nil)
  }
}
