// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// The lookups' machine by itself: what it is told, and what it wants done, in moved time.
struct InFlightQueryTests {
  @Test func `who waits already does not wait twice, and all others do in their order`() {
    var query = InFlightQuery(
      key: .init(question: AddressQuestion(Sample.name("a.test"), .ipv4), server: .providers),
      deadlines: LookupDeadlines(timeout: .seconds(5), from: Sample.at(0)), asked: Sample.at(0), generation: 0)
    let kept = InFlightQuery.Waiter.keepAlive(Sample.name("a.test"))
    for waiter in [.lookup(7), kept, .lookup(7), .lookup(9), kept, .lookup(7), .lookup(8)] { query.add(waiter) }
    #expect(query.waiters == [.lookup(7), kept, .lookup(9), .lookup(8)])
  }
}

struct LookupMachineTests {
  private static let host = ResolverFixture.host
  private static let question = AddressQuestion(host, .ipv4)

  private struct Unused: SystemSource {
    func answer(
      to host: HostName, family: IPAddress.Family, timeout: Duration
    ) async throws(ProviderFailure) -> Answer {
      throw ProviderFailure(.transport, "nobody asks it here")
    }
  }

  private func machine(
    _ providers: String..., hasStore: Bool = false, configure: (inout ResolverConfiguration) -> Void = { _ in }
  ) -> LookupMachine {
    var configuration = ResolverFixture.configuration(providers.isEmpty ? ["one"] : providers)
    configuration.hedges = false
    configure(&configuration)
    let cache = AnswerCache(policy: configuration.cache, capacity: 100)
    var machine = LookupMachine(
      ResolverSettings(configuration, system: Unused()), cache: cache, hasStore: hasStore, hasLeases: false, seed: 1,
      at: Sample.at(0))
    // What it says of breakers at its beginning.
    _ = machine.takeActions()
    return machine
  }

  private func request(_ families: AddressFamilies = .ipv4, timeout: Duration? = nil) -> LookupRequest {
    LookupRequest(
      host: Self.host, wanted: families, route: .providers, expired: .allowed, timeout: timeout, purpose: .handingOut,
      prefersIPv6: true)
  }

  private func begin(
    _ machine: inout LookupMachine, _ request: LookupRequest, at seconds: Double = 0
  ) -> Int? {
    if case .waiting(let number, _) = machine.begin(request, at: Sample.at(seconds)) { number } else { nil }
  }

  /// What a machine wants done, and then what those get who wait, in words that a table can have.
  private func words(_ machine: inout LookupMachine) -> [String] {
    actions(&machine)
      + machine.takeEndings().map { ending in
        switch ending {
        case .answer(let number, .success(let resolution), _):
          "answer \(number): \(resolution.addresses.map(\.description)) \(resolution.freshness)"
        case .answer(let number, .failure(let error), _): "fail \(number): \(error.code)"
        case .records(let number, .success(let answered)):
          "records \(number): \(answered.answer.records.count) of \(answered.provider)"
        case .records(let number, .failure(let failed)):
          "no records \(number)\(failed.isCancelled ? ": cancelled" : "")"
        case .drained(let number): "finished \(number)"
        }
      }
  }

  private func types(_ subject: QueryMachine.Subject) -> [DNSRecordType] {
    switch subject {
    case .one(let question): [question.type]
    case .batch(let questions): questions.map(\.type)
    case .records(let question): [question.type]
    }
  }

  private func actions(_ machine: inout LookupMachine) -> [String] {
    machine.takeActions().compactMap { action in
      switch action {
      case .query(.send(let number, let server, let subject, _, _)):
        "send \(number) to \(server.number): \(types(subject))"
      case .query(.cancel(let number)): "cancel \(number)"
      case .askSystem(let number, let question, _, _): "system \(number): \(question.type)"
      case .readStore(let number, _): "store \(number)"
      case .writeStore(_, let question, _, _): "keep \(question.type)"
      case .forgetStored(let question): "forget \(question.type)"
      case .query, .takeLease, .endLease, .tell: nil
      }
    }
  }

  private func reply(_ answer: Answer, asked: Double = 0) -> QueryMachine.Reply {
    QueryMachine.Reply(asked: Sample.at(asked), reading: .one(.success(answer)), status: 200)
  }

  private let failed = QueryMachine.Reply(
    ProviderFailure(.transport, "refused"), .connect("refused"), asked: Sample.at(0),
    to: .one(AddressQuestion(ResolverFixture.host, .ipv4)))

  // MARK: Kept alive

  /// Otherwise the other family would be asked for again and again, without a pause.
  @Test func `a family that a lookup has refreshed is due no more, also while the other brings nothing to keep`() throws
  {
    var machine = machine { $0.families = .any }
    machine.keepAlive([Self.host], at: Sample.at(0))
    #expect(machine.nextInstant() == Sample.at(0))
    // The lookup comes before the refresh that is due.
    let number = try #require(begin(&machine, request(.any)))
    #expect(words(&machine) == ["send 1 to 0: [AAAA]", "send 2 to 0: [A]"])
    machine.ended(1, reply(.negative(.noAddress, ttl: nil)), at: Sample.at(0))
    machine.ended(2, reply(.addresses("192.0.2.1", ttl: 100)), at: Sample.at(0))
    #expect(words(&machine) == ["answer \(number): [\"192.0.2.1\"] fresh"])
    machine.timePassed(at: Sample.at(0))
    #expect(words(&machine) == ["send 3 to 0: [AAAA]"])
    machine.ended(3, reply(.negative(.noAddress, ttl: nil)), at: Sample.at(0))
    let next = machine.nextInstant()
    #expect(try #require(next) >= Sample.at(65))
  }

  // MARK: Records

  private static let records = DNSQuestion(name: DNSName(host), type: .a)

  private func reply(_ records: Result<RecordAnswer, ProviderFailure>, _ error: HTTPTransportError? = nil)
    -> QueryMachine.Reply
  {
    QueryMachine.Reply(
      asked: Sample.at(0), reading: .records(records), sendError: error, status: error == nil ? 200 : nil)
  }

  private let oneRecord = RecordAnswer(records: [ResourceRecord(owner: .root, type: .mx, ttl: 1, data: .opaque([]))])

  @Test func `records are asked for of one server after the other, and each caller asks`() {
    var machine = machine("one", "two")
    let first = machine.askRecords(Self.records, nil, at: Sample.at(0))
    let second = machine.askRecords(Self.records, nil, at: Sample.at(0))
    #expect(words(&machine) == ["send 1 to 0: [A]", "send 2 to 0: [A]"])
    machine.ended(1, reply(.failure(ProviderFailure(.transport, "refused")), .connect("refused")), at: Sample.at(1))
    machine.ended(2, reply(.success(oneRecord)), at: Sample.at(1))
    #expect(words(&machine) == ["send 3 to 1: [A]", "records \(second): 1 of one"])
    machine.ended(3, reply(.success(RecordAnswer(records: []))), at: Sample.at(2))
    #expect(words(&machine) == ["records \(first): 0 of two"])
    #expect(machine.nextInstant() == nil && machine.servers.attempts.isEmpty)
  }

  @Test func `a server that is slow with records has a second one beside it, and what comes first counts`() throws {
    var machine = machine("one", "two") { $0.hedges = true }
    let number = machine.askRecords(Self.records, nil, at: Sample.at(0))
    _ = words(&machine)
    let due = machine.nextInstant()
    let hedge = try #require(due)
    #expect(hedge < Sample.at(1))
    machine.timePassed(at: hedge)
    #expect(words(&machine) == ["send 2 to 1: [A]"])
    machine.ended(2, reply(.success(oneRecord)), at: Sample.at(1))
    #expect(words(&machine) == ["cancel 1", "records \(number): 1 of two"])
    machine.ended(1, reply(.failure(ProviderFailure(.cancelled, "cancelled")), .cancelled), at: Sample.at(1))
    #expect(words(&machine).isEmpty && machine.servers.attempts.isEmpty)
  }

  @Test func `whoever leaves takes the query for records along, and the end does so with all`() {
    var machine = machine()
    let left = machine.askRecords(Self.records, nil, at: Sample.at(0))
    let kept = machine.askRecords(Self.records, nil, at: Sample.at(0))
    _ = words(&machine)
    machine.cancelRecords(left, at: Sample.at(1))
    machine.cancelRecords(left, at: Sample.at(1))
    #expect(words(&machine) == ["cancel 1", "no records \(left): cancelled"])
    machine.shutdown(at: Sample.at(2))
    #expect(words(&machine) == ["cancel 2", "no records \(kept): cancelled"])
    let late = machine.askRecords(Self.records, nil, at: Sample.at(3))
    #expect(words(&machine) == ["no records \(late): cancelled"])
  }

  @Test func `a lookup of records that waits for a rate ends with the resolver`() {
    var machine = machine { $0.providers[0].rateLimit = RateLimit(perSecond: 0.1, burst: 1) }
    _ = machine.askRecords(Self.records, .seconds(60), at: Sample.at(0))
    let waits = machine.askRecords(Self.records, .seconds(60), at: Sample.at(0))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    machine.shutdown(at: Sample.at(1))
    #expect(words(&machine).contains("no records \(waits): cancelled"))
  }

  @Test func `records are waited for until the time is over, be there a server that never says anything`() {
    var machine = machine()
    let number = machine.askRecords(Self.records, .seconds(2), at: Sample.at(0))
    _ = words(&machine)
    for seconds in [1.97, 1.98, 1.99] {
      machine.timePassed(at: Sample.at(seconds))
      #expect(words(&machine).isEmpty && machine.nextInstant() == Sample.at(2))
    }
    machine.timePassed(at: Sample.at(2))
    #expect(words(&machine) == ["cancel 1", "no records \(number)"])
    #expect(machine.nextInstant() == nil)
  }

  @Test func `another network has records asked for anew`() {
    var machine = machine()
    _ = machine.askRecords(Self.records, nil, at: Sample.at(0))
    _ = words(&machine)
    machine.networkDidChange(at: Sample.at(1))
    #expect(words(&machine) == ["cancel 1", "send 2 to 0: [A]"])
  }

  // MARK: Addresses

  @Test func `a question is sent once, and its answer goes to all who wait`() {
    var machine = machine()
    let callers = (0..<3).map { _ in begin(&machine, request()) }
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    machine.ended(1, reply(.addresses("192.0.2.1")), at: Sample.at(1))
    #expect(words(&machine) == callers.compactMap { $0.map { "answer \($0): [\"192.0.2.1\"] fresh" } })
    #expect(machine.lookupCount == 0 && machine.queryCount == 0 && machine.nextInstant() == nil)
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

  private let late = QueryMachine.Reply(
    ProviderFailure(HTTPTransportError.timedOut), .timedOut, asked: Sample.at(0),
    to: .one(AddressQuestion(ResolverFixture.host, .ipv4)))

  @Test func `one who has little time fails nobody who has more, and says nothing of the server`() throws {
    var machine = machine { $0.usesSystemDNS = false }
    for round in 0..<4 {
      let start = Double(round)
      let hurried = try #require(begin(&machine, request(timeout: .milliseconds(50)), at: start))
      let patient = try #require(begin(&machine, request(), at: start + 0.01))
      let query = 2 * round + 1
      #expect(words(&machine) == ["send \(query) to 0: [A]"])
      machine.ended(query, late, at: Sample.at(start + 0.049))
      #expect(words(&machine) == ["send \(query + 1) to 0: [A]", "fail \(hurried): timedOut"])
      let other = try #require(begin(&machine, request(), at: start + 0.06), "the failure is not remembered")
      machine.ended(query + 1, reply(.addresses("192.0.2.1", ttl: 0), asked: start + 0.05), at: Sample.at(start + 0.1))
      #expect(
        words(&machine) == [patient, other].map { "answer \($0): [\"192.0.2.1\"] fresh" })
    }
    #expect(!machine.servers.areAllOpen)
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
        machine.ended(query, late, at: Sample.at(start + 5))
      }
      #expect(machine.servers.areAllOpen == isOpen, "\(timeout)")
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
  private func system(_ words: [String]) -> Int? {
    words.first { $0.hasPrefix("system ") }.flatMap { Int($0.dropFirst(7).prefix { $0 != ":" }) }
  }

  // MARK: Another network

  @Test func `on another network what is under way is asked anew at once, and the old network's silence says nothing`()
    throws
  {
    var machine = machine { $0.usesSystemDNS = false }
    let caller = try #require(begin(&machine, request()))
    _ = words(&machine)
    machine.networkDidChange(at: Sample.at(1))
    #expect(words(&machine) == ["cancel 1", "send 2 to 0: [A]"])
    machine.ended(1, late, at: Sample.at(3))
    #expect(words(&machine).isEmpty)
    machine.ended(2, reply(.addresses("192.0.2.1"), asked: 1), at: Sample.at(3.1))
    #expect(words(&machine) == ["answer \(caller): [\"192.0.2.1\"] fresh"])
    #expect(machine.servers.states.all[0].health.failuresInARow == 0)
  }

  @Test func `a name that is kept alive is not asked for again while the system's answer is young`() throws {
    var machine = machine { $0.families = .ipv4 }
    _ = begin(&machine, request())
    machine.ended(1, failed, at: Sample.at(0))
    let fallback = try #require(system(words(&machine)))
    // Its query has the time of a caller in a hurry.
    _ = begin(&machine, request(timeout: .milliseconds(500)), at: 1)
    machine.keepAlive([Self.host], at: Sample.at(1))
    machine.timePassed(at: Sample.at(1))
    #expect(words(&machine) == ["send 2 to 0: [A]"])
    machine.systemAnswered(fallback, .success(.addresses("192.0.2.1")), at: Sample.at(1.2))
    _ = words(&machine)
    machine.ended(2, late, at: Sample.at(1.35))
    #expect(words(&machine).allSatisfy { $0.hasPrefix("answer ") })
    // At three quarters of its minute, a tenth of that earlier or later.
    let next = machine.nextInstant()
    #expect(machine.queryCount == 0)
    #expect(next.map { $0 > Sample.at(38) && $0 < Sample.at(52) } == true)
  }

  @Test(arguments: [(["a.test"], ["b.test"]), ([], ["b.test"]), (["a.test"], []), (["a.test"], ["a.test"])])
  func `other settings keep their own names alive, and those that were added since`(
    _ before: [String], _ after: [String]
  ) {
    func settings(_ names: [String]) -> ResolverSettings {
      var configuration = ResolverFixture.configuration(["one"])
      configuration.keepAlive = Set(names.map { Sample.name($0) })
      return ResolverSettings(configuration, system: Unused())
    }
    var machine = machine()
    machine.update(settings(before), at: Sample.at(0))
    machine.keepAlive(machine.keptAlive.names.union([Sample.name("added.test")]), at: Sample.at(1))
    machine.update(settings(after), at: Sample.at(2))
    #expect(machine.keptAlive.names == Set((after + ["added.test"]).map { Sample.name($0) }))
  }

  @Test func `a name of this network that is kept alive is asked of the system's DNS, where that may be asked`() {
    for isOn in [true, false] {
      var machine = machine {
        $0.usesSystemDNS = isOn
        $0.families = .ipv4
      }
      machine.keepAlive([Sample.name("nas.local")], at: Sample.at(0))
      machine.timePassed(at: Sample.at(0))
      #expect((system(words(&machine)) != nil) == isOn)
      if !isOn { #expect(machine.nextInstant() == Sample.at(1), "it may be allowed by then") }
    }
  }

  @Test func `of more names to keep alive than the cache has room for, the rest are counted`() {
    var machine = machine { $0.capacity = 2 }
    let names = ["a.test", "b.test", "c.test"].map { Sample.name($0) }
    #expect(machine.keepAlive([names[0], names[2]], at: Sample.at(0)) == 0)
    #expect(machine.keepAlive(Set(names), at: Sample.at(1)) == 1)
    #expect(machine.keptAlive.names == [names[0], names[2]], "who is kept alive stays so")
  }

  // MARK: Names that are forgotten

  @Test func `who asks for a name that was just forgotten gets no answer to a query from before`() throws {
    var machine = machine { $0.usesSystemDNS = false }
    let before = try #require(begin(&machine, request()))
    _ = words(&machine)
    machine.invalidate(Self.host, at: Sample.at(1))
    let after = try #require(begin(&machine, request(), at: 1))
    #expect(words(&machine) == ["send 2 to 0: [A]"])
    machine.ended(1, reply(.addresses("192.0.2.1")), at: Sample.at(2))
    #expect(words(&machine) == ["answer \(before): [\"192.0.2.1\"] fresh"])
    #expect(machine.cache.value(Self.host)?.ipv4.entry == nil, "it is not kept")
    machine.ended(2, reply(.addresses("192.0.2.2"), asked: 1), at: Sample.at(3))
    #expect(words(&machine) == ["answer \(after): [\"192.0.2.2\"] fresh"])
    #expect(machine.cache.value(Self.host)?.ipv4.entry != nil)
    #expect(machine.numbers.isEmpty && machine.queryCount == 0)
  }

  @Test func `the store forgets a name behind what it was told before, and before anybody looks there again`() throws {
    var machine = machine(hasStore: true) { $0.usesSystemDNS = false }
    let first = try #require(begin(&machine, request()))
    #expect(words(&machine) == ["store 2"])
    machine.storeRead(2, .nothing, at: Sample.at(0))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    machine.ended(1, reply(.addresses("192.0.2.1")), at: Sample.at(1))
    machine.invalidate(Self.host, at: Sample.at(1))
    _ = begin(&machine, request(), at: 1)
    #expect(
      words(&machine) == [
        "keep A", "forget A", "forget AAAA", "store 4", "answer \(first): [\"192.0.2.1\"] fresh",
      ])
  }

  @Test func `a failure from before a name was forgotten is not remembered`() throws {
    var machine = machine { $0.usesSystemDNS = false }
    _ = begin(&machine, request())
    machine.invalidate(Self.host, at: Sample.at(1))
    machine.ended(1, failed, at: Sample.at(2))
    _ = words(&machine)
    #expect(begin(&machine, request(), at: 2) != nil)
    #expect(words(&machine) == ["send 2 to 0: [A]"])
  }

  @Test func `after the providers the system's DNS is asked, and after that nobody`() throws {
    var machine = machine()
    let caller = try #require(begin(&machine, request()))
    _ = words(&machine)
    machine.ended(1, failed, at: Sample.at(1))
    let asked = words(&machine)
    #expect(asked.count == 1 && asked[0].hasPrefix("system "))
    let number = try #require(Int(asked[0].dropFirst(7).prefix { $0 != ":" }))
    machine.systemAnswered(number, .failure(ProviderFailure(.transport, "no name server")), at: Sample.at(2))
    #expect(words(&machine) == ["fail \(caller): upstreamFailed"])
  }

  /// Found by the simulation: it failed although an answer for another caller had come meanwhile.
  @Test func `an answer that came for others while the system's DNS was asked serves`() throws {
    var machine = machine { $0.cache.minimumFailureTTL = .zero }
    let first = try #require(begin(&machine, request()))
    _ = words(&machine)
    machine.ended(1, failed, at: Sample.at(0.1))
    let number = try #require(words(&machine).first.flatMap { Int($0.dropFirst(7).prefix { $0 != ":" }) })
    let second = try #require(begin(&machine, request(), at: 0.2))
    #expect(words(&machine) == ["send 2 to 0: [A]"])
    machine.ended(2, reply(.addresses("192.0.2.1"), asked: 0.2), at: Sample.at(0.3))
    #expect(words(&machine) == ["answer \(second): [\"192.0.2.1\"] fresh"])
    machine.systemAnswered(number, .failure(ProviderFailure(.transport, "no name server")), at: Sample.at(0.4))
    #expect(words(&machine) == ["answer \(first): [\"192.0.2.1\"] fresh"])
  }

  @Test func `the store is looked into before anybody is asked`() throws {
    var machine = machine(hasStore: true)
    _ = begin(&machine, request())
    let looked = words(&machine)
    #expect(looked.count == 1 && looked[0].hasPrefix("store "))
    let number = try #require(Int(looked[0].dropFirst(6)))
    machine.storeRead(number, .nothing, at: Sample.at(0.01))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
  }

  @Test func `what is shut down answers all who wait, and asks nobody any more`() throws {
    var machine = machine("one", "two")
    let caller = try #require(begin(&machine, request(.any)))
    _ = words(&machine)
    machine.shutdown(at: Sample.at(1))
    let said = words(&machine)
    #expect(said.contains("fail \(caller): shutDown") && said.contains("cancel 1") && said.contains("cancel 2"))
    let late = try #require(begin(&machine, request(), at: 2))
    #expect(words(&machine) == ["fail \(late): shutDown"])
    #expect(machine.queryCount == 0 && machine.lookupCount == 0 && machine.nextInstant() == nil)
  }

  @Test func `who wants to know when all is over is told then`() {
    var machine = machine()
    _ = begin(&machine, request())
    _ = words(&machine)
    let drain = machine.drain(nil, [.providers])
    #expect(words(&machine).isEmpty)
    machine.ended(1, reply(.negative(.noAddress)), at: Sample.at(1))
    #expect(words(&machine).last == "finished \(drain)")
    let another = machine.drain(nil, [.providers])
    #expect(words(&machine) == ["finished \(another)"])
  }

  @Test func `a lookup waits for the store no longer than the limit, however many stand before it`() {
    var machine = machine(hasStore: true) { $0.storeTimeout = .milliseconds(50) }
    let caller = begin(&machine, request(timeout: .seconds(5)))
    #expect(words(&machine) == ["store 2"])
    machine.timePassed(at: Sample.at(0.049))
    #expect(words(&machine).isEmpty)
    machine.timePassed(at: Sample.at(0.05))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    // What it says in the end is of no use any more, and nothing waits for it.
    machine.storeRead(2, .nothing, at: Sample.at(0.06))
    #expect(words(&machine).isEmpty)
    machine.ended(1, reply(.addresses("192.0.2.1"), asked: 0.05), at: Sample.at(0.07))
    #expect(words(&machine).last == "answer \(caller ?? 0): [\"192.0.2.1\"] fresh")
    #expect(machine.lookupCount == 0 && machine.queryCount == 0 && machine.nextInstant() == nil)
  }

  @Test func `a store that answers in time is waited for no more`() {
    var machine = machine(hasStore: true) { $0.storeTimeout = .milliseconds(50) }
    _ = begin(&machine, request(timeout: .seconds(5)))
    machine.storeRead(2, .nothing, at: Sample.at(0.02))
    #expect(words(&machine) == ["store 2", "send 1 to 0: [A]"])
    machine.timePassed(at: Sample.at(0.05))
    #expect(words(&machine).isEmpty)
  }
}
