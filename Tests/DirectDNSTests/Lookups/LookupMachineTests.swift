// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// The lookups' machine by itself: what it is told, and what it wants done, in moved time.
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
    let known = KnownAnswers(
      cache: AnswerCache(policy: configuration.cache, capacity: 100), sources: SourceNames())
    var machine = LookupMachine(
      ResolverSettings(configuration, system: Unused()), known: known, hasStore: hasStore, hasLeases: false, seed: 1,
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
        case .drained(let number): "finished \(number)"
        }
      }
  }

  private func actions(_ machine: inout LookupMachine) -> [String] {
    machine.takeActions().compactMap { action in
      switch action {
      case .query(.send(let number, let endpoint, let subject, _, _)):
        "send \(number) to \(endpoint.number): \(subject.questions.map(\.type))"
      case .query(.cancel(let number)): "cancel \(number)"
      case .askSystem(let number, let question, _, _): "system \(number): \(question.type)"
      case .readStore(let number, _): "store \(number)"
      case .query, .takeLease, .endLease, .writeStore, .tell: nil
      }
    }
  }

  private func reply(_ answer: Answer, asked: Double = 0) -> QueryMachine.Reply {
    QueryMachine.Reply(asked: Sample.at(asked), reading: .one(.success(answer)), status: 200)
  }

  private let failed = QueryMachine.Reply(
    ProviderFailure(.transport, "refused"), .connect("refused"), asked: Sample.at(0), isBatch: false)

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
    let drain = machine.drain(nil, [.providers], at: Sample.at(0))
    #expect(words(&machine).isEmpty)
    machine.ended(1, reply(.negative(.noAddress)), at: Sample.at(1))
    #expect(words(&machine).last == "finished \(drain)")
    let another = machine.drain(nil, [.providers], at: Sample.at(1))
    #expect(words(&machine) == ["finished \(another)"])
  }
}
