// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// What servers, the system's DNS, a store and the other members of a fleet do in a ``LookupWorld``.
extension LookupWorld {
  /// How a server behaves for a while.
  enum Mood: CaseIterable { case fine, slow, silent, refusing, broken, busy, malformed, failing, empty }

  /// A store that a fleet shares, and its leases.
  struct Store {
    var answers: [AddressQuestion: CacheEntry] = [:]
    /// Who asks for all, and until when.
    var leases: [AddressQuestion: (holder: String, until: ResolverInstant)] = [:]
    /// Those that this member was given, and has not given back.
    var taken: Set<StoreLease> = []
    var mood = Mood.fine

    static let moods = [Mood.fine, .fine, .slow, .refusing]
    /// A lookup waits no longer for it.
    static let limit = Duration.milliseconds(250)
  }

  /// The system's DNS as the machine names it; the world answers for it.
  struct NoSystem: SystemSource {
    func answer(
      to host: HostName, family: IPAddress.Family, timeout: Duration
    ) async throws(ProviderFailure) -> Answer {
      throw ProviderFailure(.transport, "only the world answers")
    }
  }

  /// A server that takes several names in one query.
  struct ManyAtOnce: BatchProvider {
    let name: String
    let batchLimit = 50
    var url: WebURL { Sample.url("https://\(name).example/") }

    func request(for question: AddressQuestion, at secondsSince1970: Int64) -> HTTPMessage { HTTPMessage(url: "") }
    func request(for questions: [AddressQuestion], at secondsSince1970: Int64) -> HTTPMessage { HTTPMessage(url: "") }

    func answer(from reply: HTTPReply, to question: AddressQuestion) throws(ProviderFailure) -> Answer {
      throw ProviderFailure(.response, "only the world answers")
    }

    func refusesBatch(_ reply: HTTPReply) -> Bool { false }

    func answers(
      from reply: HTTPReply, to questions: [AddressQuestion]
    ) throws(ProviderFailure) -> [AddressQuestion: Result<Answer, ProviderFailure>] { [:] }
  }

  mutating func changeMoods() {
    for server in moods.indices where chance(40) {
      moods[server] = Mood.allCases.randomElement(using: &random) ?? .fine
    }
    systemMood = chance(70) ? .fine : .failing
    store.mood = Store.moods.randomElement(using: &random) ?? .fine
  }

  // MARK: Servers

  /// What a server says, and after how long.
  mutating func reply(
    to subject: QueryMachine.Subject, from server: Int
  ) -> (Duration, QueryMachine.Reply) {
    let mood = moods[server % moods.count]
    switch mood {
    case .fine, .slow, .empty:
      let reply = QueryMachine.Reply(asked: now, reading: reading(of: subject, mood), status: 200)
      return (mood == .slow ? milliseconds(100...6000) : milliseconds(0...40), reply)
    case .silent: return (.seconds(3600), failed(.transport, .timedOut, nil, subject))
    case .refusing: return (milliseconds(0...5), failed(.transport, .connect("refused"), nil, subject))
    case .broken: return (milliseconds(0...50), failed(.transport, nil, 500, subject))
    case .busy: return (milliseconds(0...20), failed(.rateLimited(retryAfter: .seconds(5)), nil, 429, subject))
    case .malformed: return (milliseconds(0...50), failed(.transport, nil, 200, subject))
    case .failing: return (milliseconds(0...50), failed(.response, nil, 200, subject))
    }
  }

  private func failed(
    _ kind: ProviderFailure.Kind, _ error: HTTPTransportError?, _ status: Int?, _ subject: QueryMachine.Subject
  ) -> QueryMachine.Reply {
    let failure = ProviderFailure(kind, "so it goes")
    switch subject {
    case .one:
      return .init(asked: now, reading: .one(.failure(failure)), sendError: error, status: status)
    case .batch:
      return .init(
        asked: now, reading: .batch(BatchReading(failure, status: status)), sendError: error, status: status)
    case .records:
      return .init(asked: now, reading: .records(.failure(failure)), sendError: error, status: status)
    }
  }

  private mutating func reading(of subject: QueryMachine.Subject, _ mood: Mood) -> QueryMachine.Reply.Reading {
    let questions: [AddressQuestion]
    switch subject {
    case .one(let question): return .one(.success(said(to: question, mood)))
    case .batch(let several): questions = several
    case .records(let question):
      let record = DNSRecord(owner: question.name, type: question.type, ttl: 60, data: .opaque([]))
      return .records(.success(RecordAnswer(records: mood == .empty ? [] : [record], isNameMissing: chance(10))))
    }
    var answers: [AddressQuestion: Result<Answer, ProviderFailure>] = [:]
    // Some are left out, and some fail by themselves.
    for question in questions where !chance(10) {
      answers[question] =
        chance(10) ? .failure(ProviderFailure(.response, "not this one")) : .success(said(to: question, mood))
    }
    return .batch(.answers(answers))
  }

  private mutating func said(to question: AddressQuestion, _ mood: Mood) -> Answer {
    guard mood == .empty else { return answer(to: question) }
    return .negative(
      chance(50) ? .nameNotFound : .noAddress, ttl: chance(50) && !unkept.contains(question) ? 5 : nil)
  }

  mutating func answer(to question: AddressQuestion) -> Answer {
    let lifetimes: [UInt32] = [0, 1, 30, 300, 86_400]
    let ttl = unkept.contains(question) ? 0 : lifetimes.randomElement(using: &random) ?? 60
    let count = Int.random(in: 1...3, using: &random)
    return Answer(
      .addresses(
        (0..<count).map { number in
          question.family == .ipv4
            ? .ipv4(0xC000_0200 + UInt32(number)) : .ipv6(high: 0x2001_0db8 << 32, low: UInt64(number))
        }), ttl: ttl)
  }

  // MARK: The store

  mutating func read(_ number: Number<InFlightQuestion>, _ question: AddressQuestion) {
    let reading = store.answers[question].map { StoreReading.found($0) } ?? .nothing
    if let delay = storeDelay() { return schedule(.store(number, reading), after: delay) }
    let isLate = store.mood == .slow
    schedule(.store(number, isLate ? .late : .unavailable), after: Store.limit)
    // Some never say what they have.
    guard isLate, chance(80) else { return }
    schedule(.store(number, chance(90) ? reading : .unavailable), after: milliseconds(60...900))
  }

  mutating func takeLease(_ number: Number<InFlightQuestion>, _ question: AddressQuestion, for duration: Duration) {
    guard let delay = storeDelay() else { return schedule(.lease(number, .unavailable), after: Store.limit) }
    guard store.leases[question].map({ $0.until <= now }) ?? true else {
      return schedule(.lease(number, .held), after: delay)
    }
    let lease = StoreLease(question: question, holder: "\(number) at \(now.nanoseconds)")
    store.leases[question] = (lease.holder, now + duration)
    store.taken.insert(lease)
    schedule(.lease(number, .taken(lease)), after: delay)
  }

  /// How long the store takes; nil if it does not answer in time.
  private mutating func storeDelay() -> Duration? {
    switch store.mood {
    case .fine: milliseconds(0...20)
    case .slow: chance(50) ? milliseconds(20...249) : nil
    default: nil
    }
  }

  mutating func endLease(_ lease: StoreLease) throws(Fault) {
    if slips(.keepsLease, 20) { return }
    try expect(store.taken.remove(lease) != nil, "the lease on \(lease.question) was given back, and was not held")
    if store.leases[lease.question]?.holder == lease.holder { store.leases[lease.question] = nil }
  }

  /// Another member asks, brings an answer or dies; now and then the store begins anew, and all leases are lost.
  mutating func actAsFleet() {
    if chance(2) {
      store.answers = [:]
      store.leases = [:]
    }
    guard let host = hosts.randomElement(using: &random) else { return }
    let question = AddressQuestion(host, chance(50) ? .ipv4 : .ipv6)
    if store.leases[question].map({ $0.until <= now }) ?? true, chance(50) {
      // One that dies never brings its answer: its lease ends by itself.
      store.leases[question] = ("another", now + .seconds(6))
    } else if store.leases[question]?.holder == "another" {
      store.leases[question] = nil
      let asked = now - .seconds(Int64.random(in: 0...4000, using: &random))
      store.answers[question] = CacheEntry(
        content: chance(90) ? answer(to: question).content : .negative(.noAddress), canonicalName: nil,
        source: SourceNames.store,
        life: CacheLife(askedAt: asked.nanoseconds, expireAt: (asked + .seconds(300)).nanoseconds))
    }
  }
}

extension QueryMachine.Subject {
  /// The questions for addresses.
  var questions: [AddressQuestion] {
    switch self {
    case .one(let question): [question]
    case .batch(let questions): questions
    case .records: []
    }
  }
}
