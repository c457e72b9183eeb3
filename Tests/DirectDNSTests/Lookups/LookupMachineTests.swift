// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// The lookups' machine by itself: what it is told, and what it wants done, in moved time.
struct LookupMachineTests {
  static let host = ResolverFixture.host
  static let question = AddressQuestion(host, .ipv4)

  struct Unused: SystemSource, Hashable {
    func answer(
      to host: HostName, family: IPAddress.Family, timeout: Duration
    ) async throws(ProviderFailure) -> Answer {
      throw ProviderFailure(.transport, "nobody asks it here")
    }
  }

  func machine(
    _ providers: String..., hasStore: Bool = false, hasLeases: Bool = false, capacity: Int = 100,
    configure: (inout ResolverConfiguration) -> Void = { _ in }
  ) -> LookupMachine {
    var configuration = ResolverFixture.configuration(providers.isEmpty ? ["one"] : providers)
    configuration.hedges = false
    configure(&configuration)
    let cache = AnswerCache(policy: configuration.cache, capacity: capacity)
    var machine = LookupMachine(
      ResolverSettings(configuration, system: Unused()), cache: cache, hasStore: hasStore, hasLeases: hasLeases,
      seed: 1, at: Sample.at(0))
    // What it says of breakers at its beginning.
    _ = machine.takeActions()
    return machine
  }

  func request(_ families: AddressFamilies = .ipv4, timeout: Duration? = nil) -> LookupRequest {
    LookupRequest(
      host: Self.host, wanted: families, route: .providers, expired: .allowed, timeout: timeout, purpose: .handingOut,
      prefersIPv6: true)
  }

  func begin(
    _ machine: inout LookupMachine, _ request: LookupRequest, at seconds: Double = 0
  ) -> Number<DirectDNS.Lookup>? {
    if case .waiting(let number, _) = machine.begin(request, at: Sample.at(seconds)) { number } else { nil }
  }

  /// What a machine wants done, and then what those get who wait, in words that a table can have.
  func words(_ machine: inout LookupMachine) -> [String] {
    actions(&machine)
      + machine.takeEndings().map { ending in
        switch ending {
        case .answer(let number, .success(let resolution), _):
          "answer \(number): \(resolution.addresses.map(\.description)) \(resolution.freshness)"
        case .answer(let number, .failure(let error), _): "fail \(number): \(error.code)"
        case .records(let number, .success(let answered)):
          "records \(number): \(answered.answer.records.count) of \(answered.server.name)"
        case .records(let number, .failure(let failed)):
          "no records \(number)\(failed.cause == .cancelled ? ": cancelled" : "")"
        case .drained(let number): "finished \(number)"
        }
      }
  }

  func types(_ subject: QueryMachine.Subject) -> [DNSRecordType] {
    switch subject {
    case .one(let question): [question.type]
    case .batch(let questions): questions.map(\.type)
    case .records(let question): [question.type]
    }
  }

  func actions(_ machine: inout LookupMachine) -> [String] {
    machine.takeActions().compactMap { action in
      switch action {
      case .query(.send(let number, let server, let subject, _)):
        "send \(number) to \(server.number): \(types(subject))"
      case .query(.cancel(let number)): "cancel \(number)"
      case .askSystem(let number, let question, _, _): "system \(number): \(question.type)"
      case .readStore(let number, _): "store \(number)"
      case .writeStore(_, let question, _, _): "keep \(question.type)"
      case .forgetStored(let question): "forget \(question.type)"
      case .query, .takeLease, .endLease, .report: nil
      }
    }
  }

  func reply(_ answer: Answer, asked: Double = 0) -> QueryMachine.Reply {
    QueryMachine.Reply(asked: Sample.at(asked), reading: .one(.success(answer)), status: 200)
  }

  let failed = QueryMachine.Reply(
    ProviderFailure(.transport, "refused"), .connect("refused"), asked: Sample.at(0),
    to: .one(AddressQuestion(ResolverFixture.host, .ipv4)))

  // MARK: Addresses

  @Test func `a question is sent once, and its answer goes to all who wait`() {
    var machine = machine()
    let callers = (0..<3).map { _ in begin(&machine, request()) }
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    machine.ended(1, reply(.addresses("192.0.2.1")), at: Sample.at(1))
    #expect(words(&machine) == callers.compactMap { $0.map { "answer \($0): [\"192.0.2.1\"] fresh" } })
    #expect(machine.lookupCount == 0 && machine.questionCount == 0 && machine.nextInstant() == nil)
  }

  @Test func `an end that is told twice counts once`() {
    var machine = machine()
    _ = begin(&machine, request())
    _ = words(&machine)
    machine.ended(1, reply(.addresses("192.0.2.1")), at: Sample.at(1))
    _ = words(&machine)
    machine.ended(1, reply(.addresses("192.0.2.2")), at: Sample.at(2))
    #expect(words(&machine).isEmpty)
  }

  @Test func `a caller who leaves is told so, and the query goes on for the cache`() throws {
    var machine = machine()
    let caller = try #require(begin(&machine, request()))
    _ = words(&machine)
    machine.cancel(caller, at: Sample.at(1))
    machine.cancel(caller, at: Sample.at(1))
    #expect(words(&machine) == ["fail \(caller): cancelled"])
    machine.ended(1, reply(.addresses("192.0.2.1")), at: Sample.at(2))
    #expect(words(&machine).isEmpty)
    guard case .known(.success) = machine.begin(request(), at: Sample.at(3)) else {
      Issue.record("the answer was not kept")
      return
    }
  }

  @Test func `a caller is answered by its deadline, whoever hangs`() throws {
    var machine = machine { $0.usesSystemDNS = false }
    let caller = try #require(begin(&machine, request(timeout: .seconds(1))))
    _ = words(&machine)
    #expect(machine.nextInstant() == Sample.at(1))
    machine.timePassed(at: Sample.at(1).before)
    #expect(words(&machine).isEmpty)
    machine.timePassed(at: Sample.at(1))
    #expect(words(&machine) == ["fail \(caller): timedOut"])
  }

  let late = QueryMachine.Reply(
    ProviderFailure(HTTPTransportError.timedOut), .timedOut, asked: Sample.at(0),
    to: .one(AddressQuestion(ResolverFixture.host, .ipv4)))

  @Test func `one who has little time fails nobody who has more, and says nothing of the server`() throws {
    var machine = machine { $0.usesSystemDNS = false }
    for round in 0..<4 {
      let start = Double(round)
      let hurried = try #require(begin(&machine, request(timeout: .milliseconds(50)), at: start))
      let patient = try #require(begin(&machine, request(), at: start + 0.01))
      let query = QueryMachine.QueryNumber(rawValue: 2 * round + 1)
      let next = QueryMachine.QueryNumber(rawValue: 2 * round + 2)
      #expect(words(&machine) == ["send \(query) to 0: [A]"])
      machine.ended(query, late, at: Sample.at(start + 0.049))
      #expect(words(&machine) == ["send \(next) to 0: [A]", "fail \(hurried): timedOut"])
      let other = try #require(begin(&machine, request(), at: start + 0.06), "the failure is not remembered")
      machine.ended(next, reply(.addresses("192.0.2.1", ttl: 0), asked: start + 0.05), at: Sample.at(start + 0.1))
      #expect(
        words(&machine) == [patient, other].map { "answer \($0): [\"192.0.2.1\"] fresh" })
    }
    #expect(!machine.servers.areAllBreakersOpen)
  }

  @Test func `a server that is silent for those who have little time stays closed, and for others it does not`() {
    for (timeout, isOpen) in [(Duration.milliseconds(900), false), (.seconds(1), true), (.seconds(4), true)] {
      var machine = machine {
        $0.usesSystemDNS = false
        $0.cache.minimumFailureTTL = .zero
      }
      for query in 1...3 {
        let start = Double(query) * 10
        _ = begin(&machine, request(timeout: timeout), at: start)
        machine.ended(Number(rawValue: query), late, at: Sample.at(start + 5))
      }
      #expect(machine.servers.areAllBreakersOpen == isOpen, "\(timeout)")
    }
  }

  @Test func `the system's DNS is asked again for one who has more time`() throws {
    var machine = machine()
    let hurried = try #require(begin(&machine, request(timeout: .milliseconds(500))))
    let patient = try #require(begin(&machine, request()))
    _ = words(&machine)
    machine.ended(1, failed, at: Sample.at(0.1))
    let first = try #require(system(words(&machine)))
    machine.systemAnswered(first, .failure(ProviderFailure(.transport, "timed out")), at: Sample.at(0.5))
    let told = words(&machine)
    let second = try #require(system(told))
    #expect(second != first && told.contains("fail \(hurried): upstreamFailed"))
    machine.systemAnswered(second, .success(.addresses("192.0.2.9")), at: Sample.at(1))
    #expect(words(&machine) == ["answer \(patient): [\"192.0.2.9\"] fresh"])
  }

  /// The number of the question that the system's DNS is asked.
  func system(_ words: [String]) -> Number<InFlightQuestion>? {
    words.first { $0.hasPrefix("system ") }.flatMap { Int($0.dropFirst(7).prefix { $0 != ":" }) }
      .map { Number(rawValue: $0) }
  }
}
