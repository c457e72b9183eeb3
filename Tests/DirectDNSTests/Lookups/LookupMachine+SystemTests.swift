// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// When the system's DNS is asked, and how far it is believed.
extension LookupMachineTests {
  /// The way of a lookup by the system's DNS alone.
  private func wayAlone(_ script: LookupScript, _ machine: inout LookupMachine, at seconds: Double = 0) -> [String] {
    script.way(of: &machine, at: seconds) { .waiting($0.askSystemAlone(request(), at: $1), known: nil) }
  }

  private func source(_ machine: LookupMachine) -> UInt16? { machine.cache.value(Self.host)?.ipv4.entry?.source }

  // MARK: Where it is asked

  @Test(arguments: [
    ("www.example.net", true, ["provider A", "system A", "192.0.2.9 fresh"]),
    ("www.example.net", false, ["provider A", "upstreamFailed"]),
    ("nas.local", true, ["system A", "192.0.2.9 fresh"]),
    ("nas.local", false, ["refused"]),
  ])
  func `it is asked after the providers, alone for names of this network, and not at all where it is off`(
    _ host: String, _ isOn: Bool, _ expected: [String]
  ) {
    let script = LookupScript(providers: .fails, system: isOn ? .answers : nil)
    var machine = machine(for: script)
    let name = Sample.name(host)
    let way = way(script, &machine) { ($0.host, $0.route) = (name, LocalZones().route(for: name)) }
    #expect(way == expected)
  }

  @Test(arguments: [
    // A family that the providers have denied is denied.
    (LookupScript.Reply.denies, LookupScript.Reply.answers, ["system A", "192.0.2.9 fresh"]),
    (.denies, .denies, ["system A", "nameNotFound"]), (.denies, .fails, ["system A", "upstreamFailed"]),
    // Those of one family are enough.
    (.answers, .answers, ["2001:db8::1 fresh"]),
    (.fails, .answers, ["system AAAA", "system A", "2001:db8::9 192.0.2.9 fresh"]),
    (.fails, .denies, ["system AAAA", "system A", "upstreamFailed"]),
  ])
  func `it is asked for the families that the providers have failed, if nothing else came`(
    _ ipv6: LookupScript.Reply, _ system: LookupScript.Reply, _ expected: [String]
  ) {
    let script = LookupScript(providers: .fails, providersOfIPv6: ipv6, system: system)
    var machine = machine(for: script)
    #expect(way(script, &machine) { $0.wanted = .any } == ["provider AAAA", "provider A"] + expected)
  }

  @Test func `a family's expired addresses that came meanwhile stay beside what it says of the other one`() throws {
    var machine = machine { $0.families = .any }
    let number = try #require(begin(&machine, request(.any), at: 10_000))
    for (query, family) in zip([1, 2] as [QueryMachine.QueryNumber], [IPAddress.Family.ipv6, .ipv4]) {
      let refused = QueryMachine.Reply(
        ProviderFailure(.transport, "refused"), .connect("refused"), asked: Sample.at(10_000),
        to: .one(AddressQuestion(Self.host, family)))
      machine.ended(query, refused, at: Sample.at(10_000))
    }
    let asked = words(&machine).filter { $0.hasPrefix("system ") }
    try #require(asked.count == 2)
    let expired = CacheEntry(
      content: .addresses(Sample.addresses("2001:db8::7")), canonicalName: nil, source: SourceNames.store,
      life: Sample.life(5000, 5100))
    _ = machine.cache.store(expired, for: AddressQuestion(Self.host, .ipv6), now: Sample.at(10_000))
    let (ipv6, ipv4) = (try #require(system([asked[0]])), try #require(system([asked[1]])))
    machine.systemAnswered(ipv6, .failure(ProviderFailure(.transport, "refused")), at: Sample.at(10_001))
    machine.systemAnswered(ipv4, .success(.addresses("192.0.2.9")), at: Sample.at(10_001))
    #expect(words(&machine) == ["answer \(number): [\"2001:db8::7\", \"192.0.2.9\"] stale"])
  }

  @Test func `it is not asked once the lookup's time is over`() throws {
    var machine = machine()
    let number = try #require(begin(&machine, request()))
    machine.timePassed(at: Sample.at(5))
    #expect(words(&machine) == ["send 1 to 0: [A]", "fail \(number): timedOut"])
  }

  @Test(arguments: [
    (Duration.seconds(5), 0.0, Duration.seconds(5)), (.seconds(5), 1, .seconds(4)),
    (.milliseconds(900), 0.3, .milliseconds(600)), (.microseconds(1), 0, .milliseconds(1)),
  ])
  func `it has what is left of the lookup's time, and at least a millisecond`(
    _ timeout: Duration, _ failedAt: Double, _ expected: Duration
  ) {
    var machine = machine()
    if failedAt > 0 {
      _ = begin(&machine, request(timeout: timeout))
      machine.ended(1, failed, at: Sample.at(failedAt))
    } else {
      _ = machine.askSystemAlone(request(timeout: timeout), at: Sample.at(0))
    }
    var timeouts: [Duration] = []
    for case .askSystem(_, _, _, let timeout) in machine.takeActions() { timeouts.append(timeout) }
    #expect(timeouts == [expected])
  }

  // MARK: In the providers' place

  @Test(arguments: [
    (LookupScript(), ["system A", "192.0.2.9 fresh"]), (.init(system: .denies), ["system A", "nameNotFound"]),
    (.init(system: .fails), ["system A", "upstreamFailed"]),
    (.init(system: .isSilent), ["system A", "timedOut after 5000 ms"]),
    (.init(store: .fresh), ["store A", "192.0.2.7 fresh"]),
    (.init(store: .nothing), ["store A", "system A", "192.0.2.9 fresh"]),
    (.init(store: .stale), ["store A", "store A", "system A", "192.0.2.9 fresh"]),
    (.init(store: .stale, system: .denies), ["store A", "store A", "system A", "nameNotFound"]),
    (.init(store: .stale, system: .fails), ["store A", "store A", "system A", "192.0.2.7 stale"]),
    (.init(store: .stale, system: .isSilent), ["store A", "store A", "system A", "192.0.2.7 stale after 300 ms"]),
  ])
  func `where there are no providers it is asked in their place, after the store`(
    _ script: LookupScript, _ expected: [String]
  ) {
    var machine = machine(for: script) { $0.providers = [] }
    #expect(way(script, &machine) == expected)
  }

  @Test func `the store has nothing of names of this network, also where there are no providers`() {
    let script = LookupScript(store: .fresh)
    var machine = machine(for: script) { $0.providers = [] }
    #expect(way(script, &machine) { $0.host = Sample.name("nas.local") } == ["system A", "192.0.2.9 fresh"])
  }

  @Test func `for a lease, which says that an answer is about to be stored, it does not ask`() throws {
    var machine = machine(hasStore: true, hasLeases: true) { $0.providers = [] }
    _ = try #require(begin(&machine, request()))
    #expect(words(&machine) == ["store 2"])
    machine.storeRead(2, .nothing, at: Sample.at(0))
    #expect(words(&machine) == ["system 2: A"])
  }

  private func takeProvidersAway(_ machine: inout LookupMachine, at seconds: Double) {
    var configuration = machine.settings.configuration
    configuration.providers = []
    machine.update(ResolverSettings(configuration, system: Unused()), at: Sample.at(seconds))
  }

  @Test(arguments: [
    (LookupScript.Reply.answers, ["system A", "192.0.2.9 fresh"], ["192.0.2.9 fresh"]),
    (.denies, ["system A", "nameNotFound"], ["nameNotFound"]),
    (.fails, ["system A", "192.0.2.1 stale"], ["192.0.2.1 stale"]),
    (.isSilent, ["system A", "192.0.2.1 stale after 300 ms"], ["192.0.2.1 stale"]),
  ])
  func `its word takes the place of a former provider's answer that has expired`(
    _ reply: LookupScript.Reply, _ expected: [String], _ next: [String]
  ) {
    var machine = machine()
    _ = way(LookupScript(), &machine, at: 0)
    takeProvidersAway(&machine, at: 1)
    #expect(way(LookupScript(), &machine, at: 50) == ["192.0.2.1 fresh"])
    let script = LookupScript(system: reply)
    #expect(way(script, &machine, at: 1000) == expected)
    #expect(way(script, &machine, at: 1001) == next)
  }

  @Test func `a lookup that falls back on it as the providers go is served what the store has by then`() throws {
    var machine = machine(hasStore: true)
    let number = try #require(begin(&machine, request(), at: 10_000))
    machine.storeRead(2, .nothing, at: Sample.at(10_000))
    machine.ended(1, failed, at: Sample.at(10_000))
    let first = try #require(system(words(&machine)))
    takeProvidersAway(&machine, at: 10_001)
    machine.systemAnswered(first, .failure(ProviderFailure(.transport, "refused")), at: Sample.at(10_001))
    let entry = CacheEntry(
      content: .addresses(Sample.addresses("192.0.2.7")), canonicalName: nil, source: SourceNames.store,
      life: Sample.life(5000, 5100))
    var told: [String] = []
    while let store = words(&machine, &told).first(where: { $0.hasPrefix("store ") }), told.count < 20 {
      let number = try #require(Int(store.dropFirst(6)))
      machine.storeRead(Number(rawValue: number), .found(entry), at: Sample.at(10_001))
    }
    #expect(told.last == "answer \(number): [\"192.0.2.7\"] stale", "\(told)")
  }

  /// What there is to be told, which is added to what was told before.
  private func words(_ machine: inout LookupMachine, _ told: inout [String]) -> [String] {
    let words = words(&machine)
    told += words
    return words
  }

  // MARK: How far it is believed

  @Test(arguments: [
    (Answer.Negative.nameNotFound, "only the system's DNS says that it does not exist"),
    (.noAddress, "the system's DNS has no address for it"),
  ])
  func `while no provider answers its denial is told, and not taken for the truth`(
    _ denial: Answer.Negative, _ words: String
  ) throws {
    var machine = machine()
    _ = begin(&machine, request())
    machine.ended(1, failed, at: Sample.at(0))
    let number = try #require(system(actions(&machine)))
    machine.systemAnswered(number, .success(.negative(denial)), at: Sample.at(0))
    var errors: [DirectDNSError] = []
    for case .answer(_, .failure(let error), _) in machine.takeEndings() { errors.append(error) }
    #expect(errors.map(\.code) == [.upstreamFailed] && errors[0].message.contains(words))
    #expect(machine.cache.count == 0)
  }

  @Test func `its denial is told again for a second without asking it, and on no other network`() {
    let denying = LookupScript(providers: .fails, system: .denies)
    var machine = machine()
    #expect(way(denying, &machine, at: 0) == ["provider A", "system A", "upstreamFailed"])
    #expect(way(denying, &machine, at: 0.999) == ["upstreamFailed"])
    #expect(way(denying, &machine, at: 1) == ["provider A", "system A", "upstreamFailed"])
    #expect(way(denying, &machine, at: 1.5) == ["upstreamFailed"])
    // The providers' failure is remembered for two seconds by now, and the denial for one each time.
    #expect(way(denying, &machine, at: 2) == ["system A", "upstreamFailed"])
    machine.networkDidChange(at: Sample.at(2.1))
    #expect(way(denying, &machine, at: 2.1) == ["provider A", "system A", "upstreamFailed"])
  }

  @Test(arguments: [(UInt32?.some(300), Double?.some(60)), (60, 60), (30, 30), (5, 10), (0, nil), (nil, nil)])
  func `its answer is kept for a minute at most`(_ ttl: UInt32?, _ seconds: Double?) throws {
    var machine = machine()
    _ = begin(&machine, request())
    machine.ended(1, failed, at: Sample.at(0))
    let number = try #require(system(actions(&machine)))
    machine.systemAnswered(
      number, .success(Answer(.addresses(Sample.addresses("192.0.2.9")), ttl: ttl)), at: Sample.at(0))
    let life = machine.cache.value(Self.host)?.ipv4.entry?.life
    #expect(life == seconds.map { Sample.life(0, $0) })
  }

  @Test func `its answer takes the place of no provider's that may still be used, and ends no pause of theirs`() {
    var machine = machine()
    _ = way(LookupScript(), &machine, at: 0)
    let failing = LookupScript(providers: .fails)
    let refused = way(failing, &machine, at: 1000) { $0.expired = .refused }
    #expect(refused == ["provider A", "system A", "192.0.2.9 fresh"])
    #expect(source(machine).map { $0 != SourceNames.system } == true)
    let next = way(failing, &machine, at: 1000.5) { $0.expired = .refused }
    #expect(next == ["system A", "192.0.2.9 fresh"])
    #expect(way(failing, &machine, at: 1000.5) == ["192.0.2.1 stale"])
  }

  @Test func `its own answer is asked for again where that would be served while no provider answers`() {
    let failing = LookupScript(providers: .fails)
    var machine = machine()
    #expect(way(failing, &machine, at: 0) == ["provider A", "system A", "192.0.2.9 fresh"])
    #expect(way(failing, &machine, at: 50) == ["192.0.2.9 due", "provider A", "system A"])
    #expect(source(machine) == SourceNames.system)
    #expect(way(LookupScript(), &machine, at: 100) == ["192.0.2.9 due", "provider A"])
    #expect(source(machine).map { $0 != SourceNames.system } == true)
  }

  @Test(
    arguments: [
      (["192.0.2.1", "2001:db8::1"], ["192.0.2.1"]), (["192.0.2.1", "192.0.2.2"], ["192.0.2.1", "192.0.2.2"]),
      (["2001:db8::1"], nil), ([], nil),
    ] as [([String], [String]?)])
  func `an answer has the addresses of the family that was asked for, and without any it is none`(
    _ addresses: [String], _ expected: [String]?
  ) {
    let fitting = Answer(.addresses(addresses.map(Sample.address)), ttl: 60).fitting(Self.question)
    #expect((try? fitting.get())?.addresses == expected?.map(Sample.address))
    let denial = Answer(.negative(.noAddress), ttl: 60)
    #expect((try? denial.fitting(Self.question).get())?.content == denial.content)
  }

  // MARK: The system's DNS alone

  @Test(arguments: [
    (LookupScript(), ["system A", "192.0.2.9 fresh"]), (.init(system: .denies), ["system A", "nameNotFound"]),
    (.init(system: .fails), ["system A", "upstreamFailed"]),
    (.init(system: .isSilent), ["system A", "timedOut after 5000 ms"]),
  ])
  func `where direct connect is off its word counts, and nobody else is asked`(
    _ script: LookupScript, _ expected: [String]
  ) {
    for isOn in [true, false] {
      var machine = machine { $0.usesSystemDNS = isOn }
      #expect(wayAlone(script, &machine) == expected)
    }
  }

  @Test func `for that the cache is neither read nor written, and no failure remembered`() {
    var machine = machine()
    _ = way(LookupScript(), &machine, at: 0)
    #expect(wayAlone(LookupScript(), &machine, at: 1) == ["system A", "192.0.2.9 fresh"])
    #expect(way(LookupScript(), &machine, at: 1) == ["192.0.2.1 fresh"])
    for seconds in [2.0, 2.1] {
      #expect(wayAlone(LookupScript(system: .fails), &machine, at: seconds) == ["system A", "upstreamFailed"])
    }
    #expect(machine.systemTally.queries == 0, "what is counted are fallbacks")
  }

  @Test func `those who ask it alone at the same time share a question, and not with those who fall back on it`() throws
  {
    var machine = machine()
    let alone = (0..<2).map { _ in machine.askSystemAlone(request(), at: Sample.at(0)) }
    let first = try #require(system(words(&machine)))
    let fallback = try #require(begin(&machine, request()))
    machine.ended(1, failed, at: Sample.at(0))
    let second = try #require(system(words(&machine)))
    machine.systemAnswered(first, .success(.addresses("192.0.2.9")), at: Sample.at(1))
    #expect(words(&machine) == alone.map { "answer \($0): [\"192.0.2.9\"] fresh" })
    machine.systemAnswered(second, .success(.addresses("192.0.2.8")), at: Sample.at(1))
    #expect(words(&machine) == ["answer \(fallback): [\"192.0.2.8\"] fresh"])
  }

  @Test func `after the end it is not asked, and who waits for it is told`() {
    var machine = machine()
    let waiting = machine.askSystemAlone(request(), at: Sample.at(0))
    _ = words(&machine)
    machine.shutdown(at: Sample.at(1))
    #expect(words(&machine) == ["fail \(waiting): shutDown"])
    let late = machine.askSystemAlone(request(), at: Sample.at(2))
    #expect(words(&machine) == ["fail \(late): shutDown"])
  }
}
