// SPDX-License-Identifier: Apache-2.0
/// A question for records that is asked of one server after the other: who is next, and when.
///
/// A value, moved by what happens and by `now`. It goes by the servers' order, rates, pauses and breakers as lookups of
/// addresses do, and each server is asked at most once; a slow one is given up for the next, and none is asked beside it.
struct RecordAsk: Sendable {
  enum Step: Sendable {
    case ask(DNSServer, timeout: Duration)
    /// Nobody may be asked before.
    case wait(until: ResolverInstant)
    case failed(QueryMachine.Failed)
  }

  let lookup: ServerHealth.LookupKey
  private let deadlines: LookupDeadlines
  private var candidates: QueryMachine.Candidates
  /// Whose turn is waited for.
  private var turn: Int?

  /// - Parameters:
  ///   - name: what is asked for.
  ///   - order: the servers that may be asked, by their numbers.
  ///   - deadlines: the times of the lookup.
  init(_ name: DNSName, order: [Int], _ deadlines: LookupDeadlines) {
    // A name that no host has is told from others by the instant at which its lookup ends.
    lookup = ServerHealth.LookupKey(host: name.hostName ?? HostName(canonical: "invalid"), end: deadlines.whole)
    candidates = QueryMachine.Candidates(order: order)
    self.deadlines = deadlines
  }

  /// Who is asked now.
  mutating func next(among states: inout ServerStates, at now: ResolverInstant) -> Step {
    if let next = turn {
      turn = nil
      if now < deadlines.providers, let server = states.begin(next, at: now) {
        return ask(server, &states, at: now)
      }
    }
    guard now < deadlines.providers else { return .failed(candidates.failed(isLate: true)) }
    switch states.next(among: candidates.order, before: deadlines.providers, at: now) {
    case .taken(let server): return ask(server, &states, at: now)
    case .turn(let next, let instant):
      turn = next
      return .wait(until: instant)
    case .blocked(let instant): return .wait(until: instant)
    case .late(let attempts):
      candidates.attempts += attempts
      return .failed(candidates.failed(isLate: false))
    case .none: return .failed(candidates.failed(isLate: false))
    }
  }

  private mutating func ask(_ server: DNSServer, _ states: inout ServerStates, at now: ResolverInstant) -> Step {
    candidates.order.removeAll { $0 == server.number }
    states.asked(server.number, at: now)
    let left = deadlines.timeLeft(at: now) ?? .zero
    return .ask(server, timeout: candidates.order.isEmpty ? left : min(left, deadlines.attempt))
  }

  /// A server has failed.
  mutating func note(_ failure: QueryMachine.Failure) { candidates.note(failure) }
}

/// What a query for records brought.
struct RecordReply: Sendable {
  /// When it was sent.
  var asked: ResolverInstant
  var result: Result<RecordAnswer, ProviderFailure>
  /// Why there was no reply, where the query was sent or time ran out before.
  var sendError: HTTPTransportError?
  /// The reply's status, where there was a reply.
  var status: Int?
  /// The address that answered, where it is known.
  var address: IPAddress?

  /// The same as health and counts go by, to whom addresses and records are one.
  var counted: QueryMachine.Reply {
    let answer = result.map { answer in
      let content: Answer.Content =
        answer.isNameMissing
        ? .negative(.nameNotFound) : answer.records.isEmpty ? .negative(.noAddress) : .addresses([])
      return Answer(content, ttl: nil)
    }
    return QueryMachine.Reply(
      asked: asked, reading: .one(answer), sendError: sendError, status: status, address: address)
  }
}

extension LookupMachine {
  /// Begins to ask for records.
  func recordAsk(_ question: DNSQuestion, _ timeout: Duration?, at now: ResolverInstant) -> RecordAsk {
    let states = servers.states
    let able = Set(states.all.filter { $0.configuration.provider.carries(question) }.map(\.number))
    let deadlines = LookupDeadlines(
      timeout: timeout ?? settings.configuration.timeout, from: now, hasSystem: false)
    return RecordAsk(question.name, order: states.order(at: now).filter(able.contains), deadlines)
  }

  /// Who is asked now.
  mutating func next(_ ask: inout RecordAsk, at now: ResolverInstant) -> RecordAsk.Step {
    ask.next(among: &servers.states, at: now)
  }

  /// A query for records has ended.
  mutating func ended(_ ask: inout RecordAsk, _ server: DNSServer, _ reply: RecordReply, at now: ResolverInstant) {
    let counted = reply.counted
    if case .one(let result) = counted.reading {
      servers.count(result, of: server, ask.lookup, in: now - reply.asked, at: now)
    }
    switch reply.result {
    case .success: serverAnswered(.provider(server.number), at: now)
    case .failure(let failure): ask.note(counted.failure(failure, of: server))
    }
    advance(at: now)
  }
}
