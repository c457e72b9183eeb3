// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// What other settings mean for lookups under way: other servers, the first and the last one, names looked up elsewhere.
extension LookupMachineTests {
  // MARK: Other settings

  func settings(
    _ providers: String..., configure: (inout ResolverConfiguration) -> Void = { _ in }
  ) -> ResolverSettings {
    var configuration = ResolverFixture.configuration(providers)
    configuration.hedges = false
    configuration.usesSystemDNS = false
    configure(&configuration)
    return ResolverSettings(configuration, system: Unused())
  }

  @Test func `who asks under a new configuration waits for no server of the former one`() throws {
    var machine = machine("one") { $0.usesSystemDNS = false }
    let before = try #require(begin(&machine, request()))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    machine.update(settings("two"), at: Sample.at(1))
    let after = try #require(begin(&machine, request(), at: 1))
    #expect(words(&machine) == ["send 2 to 1: [A]"])
    machine.ended(2, reply(.addresses("192.0.2.2"), asked: 1), at: Sample.at(1.1))
    #expect(words(&machine) == ["answer \(after): [\"192.0.2.2\"] fresh"])
    // Those who waited before get what comes, and it does not replace what is known since.
    machine.ended(1, reply(.addresses("192.0.2.1")), at: Sample.at(1.2))
    #expect(words(&machine) == ["answer \(before): [\"192.0.2.1\"] fresh"])
    #expect(machine.cache.value(Self.host)?.ipv4.addresses.map(\.description) == ["192.0.2.2"])
    #expect(machine.questionCount == 0 && machine.lookupCount == 0)
  }

  @Test func `what a server failed that is gone is asked of the new ones for those who wait, once`() throws {
    var machine = machine("one") { $0.usesSystemDNS = false }
    let caller = try #require(begin(&machine, request()))
    _ = words(&machine)
    machine.update(settings("two"), at: Sample.at(1))
    #expect(words(&machine).isEmpty)
    machine.ended(1, failed, at: Sample.at(1.5))
    #expect(words(&machine) == ["send 2 to 1: [A]"])
    machine.ended(2, failed, at: Sample.at(2))
    #expect(words(&machine) == ["fail \(caller): upstreamFailed"])
  }

  @Test func `what a server failed that is gone is not remembered`() throws {
    var machine = machine("one") { $0.usesSystemDNS = false }
    let caller = try #require(begin(&machine, request()))
    machine.cancel(caller, at: Sample.at(0.5))
    machine.update(settings("two"), at: Sample.at(1))
    machine.ended(1, failed, at: Sample.at(2))
    _ = words(&machine)
    #expect(begin(&machine, request(), at: 2) != nil)
    #expect(words(&machine) == ["send 2 to 1: [A]"])
  }

  @Test(arguments: [true, false])
  func `what a provider says that is gone since serves those who waited, and is kept nowhere`(_ isGone: Bool) throws {
    var machine = machine("one", hasStore: true) { $0.usesSystemDNS = false }
    let before = try #require(begin(&machine, request()))
    let first = try #require(machine.questions.all.first?.number)
    machine.storeRead(first, .nothing, at: Sample.at(0))
    #expect(words(&machine) == ["store \(first)", "send 1 to 0: [A]"])
    machine.update(isGone ? settings("two") : settings("one", "two"), at: Sample.at(1))
    machine.ended(1, reply(.addresses("192.0.2.1")), at: Sample.at(2))
    #expect(words(&machine) == (isGone ? [] : ["keep A"]) + ["answer \(before): [\"192.0.2.1\"] fresh"])
    #expect((machine.cache.value(Self.host)?.ipv4.entry == nil) == isGone)
  }

  @Test func `settings that say the same change nothing: who asks joins, and what has failed is left alone`() throws {
    var machine = machine("one") { $0.usesSystemDNS = false }
    let first = try #require(begin(&machine, request()))
    _ = words(&machine)
    let same = settings("one")
    machine.update(same, at: Sample.at(0.1))
    #expect(machine.settings === same)
    let second = try #require(begin(&machine, request(), at: 0.2))
    #expect(words(&machine) == [])
    machine.ended(1, failed, at: Sample.at(0.3))
    #expect(words(&machine) == [first, second].map { "fail \($0): upstreamFailed" })
    machine.update(settings("one"), at: Sample.at(0.4))
    let third = try #require(begin(&machine, request(), at: 0.5))
    #expect(words(&machine) == ["fail \(third): upstreamFailed"])
  }

  @Test func `a kept-alive name that fails is asked for sooner under other settings, and not under the same`() throws {
    func settings(_ provider: String) -> ResolverSettings { self.settings(provider) { $0.families = .ipv4 } }
    var machine = machine("one") {
      $0.usesSystemDNS = false
      $0.families = .ipv4
    }
    machine.keepAlive([Self.host], at: Sample.at(0))
    var now = Sample.at(0)
    for round in 1...6 {
      let due = machine.nextInstant()
      now = try #require(due)
      machine.timePassed(at: now)
      #expect(words(&machine) == ["send \(round) to 0: [A]"])
      machine.ended(.init(rawValue: round), failed, at: now)
    }
    let next = machine.nextInstant()
    machine.update(settings("one"), at: now)
    let unchanged = machine.nextInstant()
    #expect(unchanged == next)
    machine.update(settings("two"), at: now)
    let sooner = machine.nextInstant()
    #expect(try #require(sooner) <= now + .seconds(2))
    #expect(try #require(next) > now + .seconds(2))
  }

  // MARK: The first provider, and the last one

  @Test func `whoever waits for the system's DNS as the first provider comes has that one asked instead`() throws {
    var machine = machine("one") { $0.providers = [] }
    let caller = try #require(begin(&machine, request()))
    let number = try #require(system(words(&machine)))
    machine.update(settings("one") { $0.usesSystemDNS = true }, at: Sample.at(1))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    machine.systemAnswered(number, .success(.negative(.nameNotFound)), at: Sample.at(1.5))
    #expect(words(&machine) == [])
    machine.ended(1, reply(.addresses("192.0.2.1"), asked: 1), at: Sample.at(2))
    #expect(words(&machine) == ["answer \(caller): [\"192.0.2.1\"] fresh"])
    #expect(machine.questionCount == 0 && machine.lookupCount == 0)
  }

  @Test func `a renewal goes on with the first provider, and waits for it whatever the cache has`() throws {
    var machine = machine("one") { $0.providers = [] }
    _ = try #require(begin(&machine, request()))
    let first = try #require(system(words(&machine)))
    machine.systemAnswered(first, .success(.addresses("192.0.2.9", ttl: 60)), at: Sample.at(0))
    _ = words(&machine)
    let renewal = machine.renew(request(), isPatient: true, at: Sample.at(50))
    _ = try #require(system(words(&machine)))
    machine.update(settings("one") { $0.usesSystemDNS = true }, at: Sample.at(51))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    machine.ended(1, reply(.addresses("192.0.2.1"), asked: 51), at: Sample.at(52))
    #expect(words(&machine) == ["answer \(renewal): [\"192.0.2.1\"] fresh"])
  }

  @Test func `a stale answer serves in its time, whoever is asked by then`() throws {
    var machine = machine("one")
    _ = try #require(begin(&machine, request()))
    machine.ended(1, reply(.addresses("192.0.2.1", ttl: 60)), at: Sample.at(0))
    machine.update(settings { $0.usesSystemDNS = true }, at: Sample.at(1))
    _ = words(&machine)
    let caller = try #require(begin(&machine, request(), at: 1000))
    _ = try #require(system(words(&machine)))
    machine.update(settings("two") { $0.usesSystemDNS = true }, at: Sample.at(1000.1))
    #expect(words(&machine) == ["send 2 to 1: [A]"])
    machine.timePassed(at: Sample.at(1000.31))
    #expect(words(&machine) == ["answer \(caller): [\"192.0.2.1\"] stale"])
  }

  @Test func `the last provider's answer is waited for when it goes, and the system's DNS is not asked beside it`()
    throws
  {
    var machine = machine("one")
    let caller = try #require(begin(&machine, request()))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    let gone = settings {
      $0.usesSystemDNS = true
      $0.localZones.suffixes = [Sample.name("corp.example")]
    }
    machine.update(gone, at: Sample.at(1))
    #expect(words(&machine) == [])
    machine.ended(1, reply(.addresses("192.0.2.1")), at: Sample.at(1.5))
    #expect(words(&machine) == ["answer \(caller): [\"192.0.2.1\"] fresh"])
  }

  // MARK: Names that are looked up elsewhere

  /// The server stays, and would be asked next.
  @Test func `whoever waits for a name that is pinned meanwhile gets the pin, and no server's answer covers it`()
    throws
  {
    var machine = machine("one", "two", hasStore: true) { $0.usesSystemDNS = false }
    let caller = try #require(begin(&machine, request()))
    let question = try #require(machine.questions.all.first?.number)
    machine.storeRead(question, .nothing, at: Sample.at(0))
    #expect(words(&machine) == ["store \(question)", "send 1 to 0: [A]"])
    let pinned = settings("one", "two") { $0.localZones.pins = [Self.host: Sample.addresses("192.0.2.9")] }
    machine.update(pinned, at: Sample.at(1))
    #expect(words(&machine) == ["cancel 1", "answer \(caller): [\"192.0.2.9\"] fresh"])
    machine.ended(1, reply(.addresses("192.0.2.1")), at: Sample.at(1.5))
    #expect(words(&machine) == [] && machine.cache.value(Self.host)?.ipv4.entry == nil)
    #expect(machine.questionCount == 0 && machine.lookupCount == 0)
  }

  /// The server stays, and has a request free at once by its new rate.
  @Test func `a name that waits for a request rate is asked of nobody when it is pinned and the rate is raised`() throws
  {
    var machine = machine("one") {
      $0.usesSystemDNS = false
      $0.providers[0].rateLimit = RateLimit(perSecond: 0.5, burst: 1)
    }
    let first = try #require(begin(&machine, request()))
    var other = request()
    other.host = Sample.name("other.example")
    let second = try #require(begin(&machine, other))
    machine.cancel(first, at: Sample.at(0))
    _ = words(&machine)
    let pinned = settings("one") { $0.localZones.pins = [other.host: Sample.addresses("192.0.2.9")] }
    machine.update(pinned, at: Sample.at(1))
    #expect(words(&machine) == ["answer \(second): [\"192.0.2.9\"] fresh"])
  }

  @Test func `what waits for the request rate of a server that is gone is asked of the new ones at once`() throws {
    var machine = machine("one") {
      $0.usesSystemDNS = false
      $0.providers[0].rateLimit = RateLimit(perSecond: 0.5, burst: 1)
    }
    #expect(begin(&machine, request()) != nil)
    var other = request()
    other.host = Sample.name("other.example")
    let second = try #require(begin(&machine, other))
    _ = words(&machine)
    machine.update(settings("two"), at: Sample.at(1))
    #expect(words(&machine) == ["send 2 to 1: [A]"])
    machine.ended(2, reply(.addresses("192.0.2.2"), asked: 1), at: Sample.at(1.1))
    #expect(words(&machine) == ["answer \(second): [\"192.0.2.2\"] fresh"])
  }

  @Test(arguments: [true, false])
  func `a name that becomes local is asked of the system's DNS from then on, and of no provider`(
    _ hasSystem: Bool
  ) throws {
    var machine = machine("one", "two") { $0.usesSystemDNS = false }
    let caller = try #require(begin(&machine, request()))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    let local = settings("one", "two") {
      $0.localZones.suffixes = [Self.host]
      $0.usesSystemDNS = hasSystem
    }
    machine.update(local, at: Sample.at(1))
    let told = words(&machine)
    guard hasSystem else {
      #expect(told == ["cancel 1", "fail \(caller): refused"])
      return
    }
    let number = try #require(system(told))
    #expect(told.count == 2)
    machine.ended(1, failed, at: Sample.at(1.5))
    #expect(words(&machine) == [])
    machine.systemAnswered(number, .success(.addresses("10.0.0.1")), at: Sample.at(2))
    #expect(words(&machine) == ["answer \(caller): [\"10.0.0.1\"] fresh"])
  }

  @Test func `a fallback to the system's DNS ends for a name that is pinned meanwhile, and its answer is not kept`()
    throws
  {
    var machine = machine()
    let caller = try #require(begin(&machine, request()))
    machine.ended(1, failed, at: Sample.at(0.5))
    let number = try #require(system(words(&machine)))
    let pinned = settings("one") {
      $0.usesSystemDNS = true
      $0.localZones.pins = [Self.host: Sample.addresses("192.0.2.9")]
    }
    machine.update(pinned, at: Sample.at(1))
    #expect(words(&machine) == ["answer \(caller): [\"192.0.2.9\"] fresh"])
    machine.systemAnswered(number, .success(.addresses("192.0.2.1")), at: Sample.at(2))
    #expect(machine.cache.value(Self.host)?.ipv4.entry == nil)
  }

  @Test func `a name that is local no longer is asked of the providers, and what the system says of it is not kept`()
    throws
  {
    var machine = machine { $0.localZones.suffixes = [Self.host] }
    let caller = try #require(begin(&machine, request()))
    let number = try #require(system(words(&machine)))
    machine.update(settings("one") { $0.usesSystemDNS = true }, at: Sample.at(1))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    machine.systemAnswered(number, .success(.addresses("10.0.0.1")), at: Sample.at(2))
    #expect(words(&machine) == [] && machine.cache.value(Self.host)?.ipv4.entry == nil)
    machine.ended(1, reply(.addresses("192.0.2.1"), asked: 1), at: Sample.at(3))
    #expect(words(&machine) == ["answer \(caller): [\"192.0.2.1\"] fresh"])
  }

  @Test func `a lookup by the system's DNS alone goes on, unless its name is pinned`() throws {
    var machine = machine()
    let caller = machine.askSystemAlone(request(), at: Sample.at(0))
    let number = try #require(system(words(&machine)))
    machine.update(settings("one") { $0.localZones.suffixes = [Self.host] }, at: Sample.at(1))
    #expect(words(&machine) == [])
    machine.systemAnswered(number, .success(.addresses("192.0.2.1")), at: Sample.at(2))
    #expect(words(&machine) == ["answer \(caller): [\"192.0.2.1\"] fresh"])

    let next = machine.askSystemAlone(request(), at: Sample.at(3))
    _ = words(&machine)
    machine.update(
      settings("one") { $0.localZones.pins = [Self.host: Sample.addresses("192.0.2.9")] }, at: Sample.at(4))
    #expect(words(&machine) == ["answer \(next): [\"192.0.2.9\"] fresh"])
  }
}
