// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// Questions under way: who waits for them, and what goes out for them.
extension LookupMachineTests {
  // MARK: Who waits

  @Test func `callers who want one family or both share the questions that they have in common`() throws {
    var machine = machine()
    let both = try #require(begin(&machine, request(.any)))
    #expect(words(&machine) == ["send 1 to 0: [AAAA]", "send 2 to 0: [A]"])
    let one = try #require(begin(&machine, request(.ipv4)))
    #expect(words(&machine) == [])
    machine.ended(2, reply(.addresses("192.0.2.1")), at: Sample.at(1))
    #expect(words(&machine) == ["answer \(one): [\"192.0.2.1\"] fresh"])
    machine.ended(1, reply(.addresses("2001:db8::1")), at: Sample.at(1))
    #expect(words(&machine) == ["answer \(both): [\"2001:db8::1\", \"192.0.2.1\"] fresh"])
  }

  @Test(arguments: 0..<3)
  func `of several who wait one may leave, and the others get the answer`(_ leaving: Int) throws {
    var machine = machine()
    let callers = try (0..<3).map { _ in try #require(begin(&machine, request())) }
    _ = words(&machine)
    machine.cancel(callers[leaving], at: Sample.at(0.5))
    #expect(words(&machine) == ["fail \(callers[leaving]): cancelled"])
    machine.ended(1, reply(.addresses("192.0.2.1")), at: Sample.at(1))
    let others = callers.filter { $0 != callers[leaving] }
    #expect(words(&machine) == others.map { "answer \($0): [\"192.0.2.1\"] fresh" })
  }

  @Test func `where all leave the question goes on, and whoever comes meanwhile joins it`() throws {
    var machine = machine()
    for _ in 0..<2 { machine.cancel(try #require(begin(&machine, request())), at: Sample.at(0.5)) }
    _ = words(&machine)
    let late = try #require(begin(&machine, request(), at: 1))
    #expect(words(&machine) == [])
    machine.ended(1, reply(.addresses("192.0.2.1")), at: Sample.at(2))
    #expect(words(&machine) == ["answer \(late): [\"192.0.2.1\"] fresh"])
  }

  @Test(arguments: [true, false])
  func `a question that had too little time is asked again for those who have more, unless they have left`(
    _ hasLeft: Bool
  ) throws {
    var machine = machine { $0.usesSystemDNS = false }
    let hurried = try #require(begin(&machine, request(timeout: .milliseconds(50))))
    let patient = try #require(begin(&machine, request()))
    if hasLeft { machine.cancel(patient, at: Sample.at(0.01)) }
    _ = words(&machine)
    machine.ended(1, late, at: Sample.at(0.049))
    #expect(words(&machine) == (hasLeft ? [] : ["send 2 to 0: [A]"]) + ["fail \(hurried): timedOut"])
    #expect(machine.questionCount == (hasLeft ? 0 : 1))
  }

  @Test func `a refresh behind an answer has no caller, and whoever comes joins it`() throws {
    var machine = machine()
    machine.refreshBehind(request(), at: Sample.at(0))
    #expect(words(&machine) == ["send 1 to 0: [A]"] && machine.lookupCount == 0 && machine.isAsking)
    machine.refreshBehind(request(), at: Sample.at(0))
    let number = try #require(begin(&machine, request()))
    #expect(words(&machine) == [])
    machine.ended(1, reply(.addresses("192.0.2.1", ttl: 100)), at: Sample.at(1))
    #expect(words(&machine) == ["answer \(number): [\"192.0.2.1\"] fresh"])
    machine.refreshBehind(request(), at: Sample.at(50))
    #expect(words(&machine) == [] && !machine.isAsking, "it is fresh")
    machine.shutdown(at: Sample.at(1000))
    machine.refreshBehind(request(), at: Sample.at(1000))
    #expect(words(&machine) == [], "it was shut down")
  }

  @Test func `an answer says which provider gave it`() {
    var machine = machine("one", "two")
    _ = begin(&machine, request())
    machine.ended(1, failed, at: Sample.at(0))
    machine.ended(2, reply(.addresses("192.0.2.1")), at: Sample.at(0))
    var other = request()
    other.host = Sample.name("other.example")
    _ = begin(&machine, other)
    machine.ended(3, reply(.addresses("192.0.2.2")), at: Sample.at(0))
    var sources: [Resolution.Source] = []
    for case .answer(_, .success(let resolution), _) in machine.takeEndings() { sources.append(resolution.source) }
    #expect(sources == [.provider("two"), .provider("one")])
  }

  // MARK: Several in one query

  private static let other = Sample.name("other.example")
  private static let otherQuestion = AddressQuestion(other, .ipv4)

  /// A machine whose servers take several names in one query, unless they do not.
  private func asking(
    _ hosts: [HostName] = [LookupMachineTests.host, LookupMachineTests.other], servers: Int = 1, hasStore: Bool = false,
    hasLeases: Bool = false,
    takesMany: Bool = true
  ) -> LookupMachine {
    let names = ["one", "two"].prefix(servers)
    var machine = machine(hasStore: hasStore, hasLeases: hasLeases) { configuration in
      configuration.providers = names.map { name in
        ProviderConfiguration(
          provider: takesMany ? LookupWorld.ManyAtOnce(name: name) : ScriptedProvider(name),
          bootstrap: Sample.addresses("192.0.2.53"))
      }
    }
    machine.askTogether(hosts, .ipv4, at: Sample.at(0))
    return machine
  }

  private func batch(_ answers: [AddressQuestion: Result<Answer, ProviderFailure>]) -> QueryMachine.Reply {
    QueryMachine.Reply(asked: Sample.at(0), reading: .batch(.answers(answers)), status: 200)
  }

  @Test func `names are asked for together where the server takes several, and one by one where it does not`() {
    var many = asking()
    #expect(words(&many) == ["send 1 to 0: [A, A]"])
    var single = asking(takesMany: false)
    #expect(words(&single) == ["send 1 to 0: [A]", "send 2 to 0: [A]"])
  }

  @Test func `names that providers are not asked for, and those that are known, are left out`() {
    var local = asking([Sample.name("nas.local"), Self.other])
    #expect(words(&local) == ["send 1 to 0: [A]"])
    local.ended(1, batch([Self.otherQuestion: .success(.addresses("192.0.2.2", ttl: 100))]), at: Sample.at(0))
    local.askTogether([Self.other], .ipv4, at: Sample.at(1))
    #expect(words(&local) == [] && local.batches.isEmpty && local.questionCount == 0)
  }

  @Test(arguments: [
    (Result<Answer, ProviderFailure>?.some(.success(.addresses("192.0.2.2"))), [String]()),
    (.some(.success(.negative(.noAddress))), []),
    (.some(.failure(ProviderFailure(.response, "answered SERVFAIL"))), ["send 2 to 0: [A]"]),
    (nil, ["send 2 to 0: [A]"]),
  ])
  func `a question that a batch brings no answer to is asked by itself`(
    _ result: Result<Answer, ProviderFailure>?, _ expected: [String]
  ) throws {
    var machine = asking()
    let number = try #require(begin(&machine, request()))
    _ = words(&machine)
    var answers = [Self.question: Result<Answer, ProviderFailure>.success(.addresses("192.0.2.1"))]
    answers[Self.otherQuestion] = result
    machine.ended(1, batch(answers), at: Sample.at(1))
    #expect(words(&machine) == expected + ["answer \(number): [\"192.0.2.1\"] fresh"])
    #expect(machine.questionCount == expected.count && machine.batches.isEmpty)
  }

  @Test func `after a batch that its server has failed each question is asked of another one`() {
    var machine = asking(servers: 2)
    _ = words(&machine)
    let failed = QueryMachine.Reply(
      ProviderFailure(.transport, "refused"), .connect("refused"), asked: Sample.at(0),
      to: .batch([Self.question, Self.otherQuestion]))
    machine.ended(1, failed, at: Sample.at(1))
    #expect(words(&machine) == ["send 2 to 1: [A]", "send 3 to 1: [A]"])
  }

  @Test func `a batch waits for the store, and goes out without what that has`() {
    var machine = asking(hasStore: true)
    #expect(words(&machine) == ["store 2", "store 3"])
    let entry = CacheEntry(
      content: .addresses(Sample.addresses("192.0.2.7")), canonicalName: nil, source: SourceNames.store,
      life: Sample.life(0, 100))
    machine.storeRead(2, .found(entry), at: Sample.at(0))
    #expect(words(&machine) == [])
    machine.storeRead(3, .nothing, at: Sample.at(0))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
  }

  /// Settings under which the one name is local, with the servers as they are.
  private func withLocalName(_ machine: LookupMachine) -> ResolverSettings {
    var configuration = machine.settings.configuration
    configuration.localZones.suffixes = [Self.host]
    return ResolverSettings(configuration, system: Unused())
  }

  @Test(arguments: [2, 3])
  func `a batch goes out without a name that becomes local while the store is read`(
    _ first: Number<InFlightQuestion>
  ) {
    var machine = asking(hasStore: true)
    #expect(words(&machine) == ["store 2", "store 3"])
    machine.storeRead(first, .nothing, at: Sample.at(0))
    machine.update(withLocalName(machine), at: Sample.at(0.01))
    #expect(words(&machine) == (first == 3 ? ["send 1 to 0: [A]"] : []))
    machine.storeRead(first == 3 ? 2 : 3, .nothing, at: Sample.at(0.02))
    #expect(words(&machine) == (first == 3 ? [] : ["send 1 to 0: [A]"]))
    #expect(machine.questionCount == 1)
  }

  @Test func `the other names of a batch are asked for by themselves when one of them becomes local`() {
    var machine = asking()
    #expect(words(&machine) == ["send 1 to 0: [A, A]"])
    machine.update(withLocalName(machine), at: Sample.at(1))
    #expect(words(&machine) == ["cancel 1", "send 2 to 0: [A]"])
    machine.ended(2, reply(.addresses("192.0.2.2"), asked: 1), at: Sample.at(2))
    #expect(machine.questionCount == 0 && machine.cache.value(Self.host)?.ipv4.entry == nil)
    #expect(machine.cache.value(Self.other)?.ipv4.addresses.map(\.description) == ["192.0.2.2"])
  }

  @Test func `a batch does not wait for a question that another process asks`() {
    var machine = asking(hasStore: true, hasLeases: true)
    machine.storeRead(2, .nothing, at: Sample.at(0))
    machine.storeRead(3, .nothing, at: Sample.at(0))
    machine.leaseTaken(3, .taken(StoreLease(question: Self.otherQuestion, holder: "this one")), at: Sample.at(0))
    machine.storeRead(3, .nothing, at: Sample.at(0))
    #expect(words(&machine) == ["store 2", "store 3", "store 3"], "the first is still open")
    machine.leaseTaken(2, .held, at: Sample.at(0))
    #expect(words(&machine) == ["send 1 to 0: [A]"] && machine.waitsForLease)
  }
}
