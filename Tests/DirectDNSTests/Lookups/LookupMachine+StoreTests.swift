// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct StoredUseTests {
  private let known = Sample.life(100, 200)
  private let younger = Sample.life(101.5, 201.5)

  @Test(arguments: [
    (CachePhase.fresh, StoredUse.answer, StoredUse.answer), (.due, .staleOnly, .newer),
    (.grace, .staleOnly, .newer), (.stale, .staleOnly, .newer), (.gone, .nothing, .nothing),
  ])
  func `a younger answer is worth what its phase says`(
    _ phase: CachePhase, _ alone: StoredUse, _ beside: StoredUse
  ) {
    #expect(StoredUse(phase: phase, life: younger, isNegative: false, known: nil) == alone)
    #expect(StoredUse(phase: phase, life: younger, isNegative: false, known: known) == beside)
  }

  @Test(arguments: [CachePhase.fresh, .due, .grace, .stale, .gone])
  func `the cache's own answer as clocks may show it, or an older one, is nothing new`(_ phase: CachePhase) {
    for asked in [0, 99.999, 100, 100.001, 101] {
      let life = Sample.life(asked, asked + 100)
      #expect(StoredUse(phase: phase, life: life, isNegative: false, known: known) == .nothing)
    }
  }

  @Test func `an answer of unknown age is better than nothing, and no better than what the cache has`() {
    let unknown = Sample.life(150, 150)
    #expect(StoredUse(phase: .stale, life: unknown, isNegative: false, known: nil) == .staleOnly)
    #expect(StoredUse(phase: .stale, life: unknown, isNegative: false, known: known) == .nothing)
  }

  @Test func `beside one that serves nobody any more an expired answer serves those who wait, if it is younger`() {
    func use(_ life: CacheLife) -> StoredUse {
      StoredUse(phase: .stale, life: life, isNegative: false, known: known, isKnownGone: true)
    }
    #expect(use(younger) == .staleOnly)
    #expect(use(Sample.life(99, 199)) == .nothing, "the name may have been deleted since")
  }

  @Test func `a negative answer is worth something while it is fresh alone`() {
    #expect(StoredUse(phase: .fresh, life: younger, isNegative: true, known: nil) == .answer)
    #expect(StoredUse(phase: .due, life: younger, isNegative: true, known: nil) == .nothing)
  }
}

/// A renewal by a process that has just started, beside a store, while nobody is expected to answer.
struct RenewalOutOfStoreTests {
  private static let host = ResolverFixture.host

  private struct Unused: SystemSource {
    func answer(
      to host: HostName, family: IPAddress.Family, timeout: Duration
    ) async throws(ProviderFailure) -> Answer {
      throw ProviderFailure(.transport, "nobody asks it here")
    }
  }

  /// When it ends, in seconds, where the store has expired answers of these families and the providers are silent.
  private func end(_ stored: AddressFamilies, isPatient: Bool) -> (at: Double, freshness: Resolution.Freshness?) {
    var configuration = ResolverFixture.configuration(["one"])
    configuration.usesSystemDNS = false
    let cache = AnswerCache(policy: configuration.cache, capacity: 100)
    var machine = LookupMachine(
      ResolverSettings(configuration, system: Unused()), cache: cache, hasStore: true, hasLeases: false, seed: 1,
      at: Sample.at(10_000))
    _ = machine.renew(
      LookupRequest(
        host: Self.host, wanted: .any, route: .providers, expired: .allowed, purpose: .keeping, prefersIPv6: true),
      isPatient: isPatient, at: Sample.at(10_000))
    for step in 0..<200 {
      let now = Double(10_000 * 20 + step) / 20
      for case .readStore(let number, let question) in machine.takeActions() {
        let address = Sample.address(question.family == .ipv4 ? "192.0.2.7" : "2001:db8::7")
        let isStored = stored.contains(question.family)
        let entry = CacheEntry(
          content: .addresses([address]), canonicalName: nil, source: 2, life: Sample.life(5000, 5100))
        machine.storeRead(number, isStored ? .found(entry) : .nothing, at: Sample.at(now))
      }
      machine.timePassed(at: Sample.at(now))
      for case .answer(_, let result, _) in machine.takeEndings() {
        return (now - 10_000, (try? result.get())?.freshness)
      }
    }
    return (.infinity, nil)
  }

  @Test(arguments: [AddressFamilies.any, .ipv4, .ipv6])
  func `waits no longer than a lookup, also where the store has one family alone`(_ stored: AddressFamilies) {
    let (instant, freshness) = end(stored, isPatient: false)
    #expect(instant < 0.5 && freshness == .stale)
  }

  @Test func `waits for the providers where somebody may answer, or nothing is stored`() {
    #expect(end(.ipv4, isPatient: true).at > 3)
    #expect(end([], isPatient: false).at > 3)
  }
}

/// The store, and what the others that share it do.
extension LookupMachineTests {
  @Test
  func
    `the store forgets a name behind what it was told before, and before anybody looks there again`()
    throws
  {
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

  @Test func `the store is looked into before anybody is asked`() throws {
    var machine = machine(hasStore: true)
    _ = begin(&machine, request())
    let looked = words(&machine)
    #expect(looked.count == 1 && looked[0].hasPrefix("store "))
    let number = try #require(Int(looked[0].dropFirst(6)))
    machine.storeRead(Number(rawValue: number), .nothing, at: Sample.at(0.01))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
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
    #expect(machine.lookupCount == 0 && machine.questionCount == 0 && machine.nextInstant() == nil)
  }

  @Test func `a store that answers in time is waited for no more`() {
    var machine = machine(hasStore: true) { $0.storeTimeout = .milliseconds(50) }
    _ = begin(&machine, request(timeout: .seconds(5)))
    machine.storeRead(2, .nothing, at: Sample.at(0.02))
    #expect(words(&machine) == ["store 2", "send 1 to 0: [A]"])
    machine.timePassed(at: Sample.at(0.05))
    #expect(words(&machine).isEmpty)
  }

  // MARK: A cache without room

  static let stored = CacheEntry(
    content: .addresses([Sample.address("192.0.2.7")]), canonicalName: nil, source: 2, life: Sample.life(5000, 5100))

  /// Has the cache, which has room for one name, evict the one that was just read.
  func evict(_ machine: LookupMachine) {
    _ = machine.cache.store(
      Self.stored, for: AddressQuestion(Sample.name("other.example"), .ipv4), now: Sample.at(10_000))
    #expect(machine.cache.value(Self.host) == nil)
  }

  private func full() -> LookupMachine {
    machine(hasStore: true, capacity: 1) {
      $0.usesSystemDNS = false
      $0.storeTimeout = .seconds(1)
    }
  }

  @Test func `an expired answer that the cache has no room for serves all the same, and its family is asked for`()
    throws
  {
    var machine = full()
    let caller = try #require(begin(&machine, request(.any), at: 10_000))
    #expect(words(&machine) == ["store 2", "store 3"])
    machine.storeRead(2, .nothing, at: Sample.at(10_000))
    machine.storeRead(3, .found(Self.stored), at: Sample.at(10_000))
    evict(machine)
    #expect(words(&machine) == ["send 1 to 0: [AAAA]"])
    machine.timePassed(at: Sample.at(10_000.05))
    #expect(words(&machine) == ["store 4"])
    // Those who look into the store meanwhile learn what it has, and whoever knows that goes on.
    machine.storeRead(4, .found(Self.stored), at: Sample.at(10_000.06))
    #expect(words(&machine) == ["send 2 to 0: [A]"])
    machine.timePassed(at: Sample.at(10_000.3))
    #expect(words(&machine) == ["answer \(caller): [\"192.0.2.7\"] stale"])
  }

  @Test func `where expired answers are refused the providers are asked, whatever the store says again`() throws {
    var machine = full()
    var request = request()
    request.expired = .refused
    let caller = try #require(begin(&machine, request, at: 10_000))
    machine.storeRead(2, .found(Self.stored), at: Sample.at(10_000))
    #expect(words(&machine) == ["store 2", "store 3"])
    evict(machine)
    machine.storeRead(3, .found(Self.stored), at: Sample.at(10_000))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    machine.ended(1, failed, at: Sample.at(10_001))
    #expect(words(&machine) == ["fail \(caller): upstreamFailed"])
  }

  @Test func `who has joined another's look into the store goes on to the providers`() throws {
    var machine = full()
    let first = try #require(begin(&machine, request(.any), at: 10_000))
    machine.storeRead(3, .found(Self.stored), at: Sample.at(10_000))
    evict(machine)
    let second = try #require(begin(&machine, request(), at: 10_000.01))
    #expect(words(&machine) == ["store 2", "store 3", "store 5"])
    machine.timePassed(at: Sample.at(10_000.05))
    #expect(words(&machine).isEmpty, "the first one waits for the second one's look")
    machine.storeRead(5, .found(Self.stored), at: Sample.at(10_000.06))
    let looks = words(&machine)
    #expect(looks == ["store 6"])
    evict(machine)
    machine.storeRead(6, .found(Self.stored), at: Sample.at(10_000.07))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    machine.ended(1, reply(.addresses("192.0.2.8"), asked: 10_000.07), at: Sample.at(10_000.1))
    machine.timePassed(at: Sample.at(10_000.3))
    #expect(
      Set(words(&machine).filter { $0.hasPrefix("answer") }) == [
        "answer \(first): [\"192.0.2.8\"] fresh", "answer \(second): [\"192.0.2.8\"] fresh",
      ])
  }

  /// A query's first steps where the store knows nothing, and has leases.
  private func leasing(_ read: Double) -> LookupMachine {
    var machine = machine(hasStore: true, hasLeases: true) { $0.storeTimeout = .milliseconds(50) }
    _ = begin(&machine, request(timeout: .seconds(5)))
    machine.storeRead(2, .nothing, at: Sample.at(read))
    _ = machine.takeActions()
    return machine
  }

  private var lease: StoreLease { StoreLease(question: Self.question, holder: "this one") }

  @Test func `another look with the lease has what is left of the store's time`() {
    var machine = leasing(0.02)
    machine.leaseTaken(2, .taken(lease), at: Sample.at(0.04))
    #expect(words(&machine) == ["store 2"])
    machine.timePassed(at: Sample.at(0.05))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
  }

  @Test func `a lease that does not come within the store's time is not waited for, and given back later`() {
    var machine = leasing(0.04)
    machine.timePassed(at: Sample.at(0.05))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    machine.leaseTaken(2, .taken(lease), at: Sample.at(0.06))
    let ends = machine.takeActions().count { if case .endLease(lease) = $0 { true } else { false } }
    #expect(ends == 1)
  }

  @Test func `each look for another's answer has the store's time anew`() {
    var machine = leasing(0.02)
    machine.leaseTaken(2, .held, at: Sample.at(0.04))
    machine.timePassed(at: Sample.at(0.09))
    #expect(words(&machine) == ["store 2"])
    machine.storeRead(2, .nothing, at: Sample.at(0.13))
    machine.leaseTaken(2, .taken(lease), at: Sample.at(0.135))
    #expect(words(&machine) == ["store 2"])
    machine.timePassed(at: Sample.at(0.14))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
  }
}
