// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// Names that are kept alive.
extension LookupMachineTests {
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

  /// A machine that keeps one name alive, of which A has failed, and AAAA was answered.
  private func failing(_ ipv6: Answer) -> LookupMachine {
    var machine = machine {
      $0.families = .any
      $0.usesSystemDNS = false
    }
    machine.keepAlive([Self.host], at: Sample.at(0))
    machine.timePassed(at: Sample.at(0))
    #expect(words(&machine) == ["send 1 to 0: [AAAA]", "send 2 to 0: [A]"])
    machine.ended(1, reply(ipv6), at: Sample.at(0))
    machine.ended(2, failed, at: Sample.at(0))
    return machine
  }

  @Test func `a name that has no address is asked for again soon, although it is known that it has none of one family`()
    throws
  {
    var machine = failing(.negative(.noAddress, ttl: 300))
    #expect(machine.nextInstant() == Sample.at(1))
    machine.timePassed(at: Sample.at(1))
    #expect(words(&machine) == ["send 3 to 0: [A]"])
  }

  @Test func `a family that went along with the other is asked for by itself once only that one is wanted`() throws {
    var machine = failing(.addresses("2001:db8::1", ttl: 1000))
    let before = machine.nextInstant()
    #expect(try #require(before) > Sample.at(500))
    var configuration = machine.settings.configuration
    configuration.families = .ipv4
    machine.update(ResolverSettings(configuration, system: Unused()), at: Sample.at(10))
    let next = machine.nextInstant()
    #expect(try #require(next) <= Sample.at(12))
    machine.timePassed(at: Sample.at(12))
    #expect(words(&machine) == ["send 3 to 0: [A]"])
  }

  @Test func `a family that is wanted during the other's refresh is asked for after it`() throws {
    var machine = machine { $0.families = .ipv4 }
    machine.keepAlive([Self.host], at: Sample.at(0))
    machine.timePassed(at: Sample.at(0))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    var configuration = machine.settings.configuration
    configuration.families = .ipv6
    machine.update(ResolverSettings(configuration, system: Unused()), at: Sample.at(0.1))
    machine.ended(1, reply(.addresses("192.0.2.1", ttl: 3600)), at: Sample.at(0.2))
    let next = machine.nextInstant()
    #expect(try #require(next) <= Sample.at(2.2))
    machine.timePassed(at: Sample.at(2.2))
    #expect(words(&machine) == ["send 2 to 0: [AAAA]"])
  }

  @Test func `on another network a name that is kept alive is asked for within two seconds, however young it is`()
    throws
  {
    var machine = machine { $0.families = .any }
    machine.keepAlive([Self.host], at: Sample.at(0))
    machine.timePassed(at: Sample.at(0))
    machine.ended(1, reply(.negative(.noAddress, ttl: 300)), at: Sample.at(0))
    machine.ended(2, reply(.addresses("192.0.2.1", ttl: 3600)), at: Sample.at(0))
    _ = words(&machine)
    machine.networkDidChange(at: Sample.at(10))
    #expect(words(&machine).isEmpty)
    machine.timePassed(at: Sample.at(12))
    #expect(words(&machine) == ["send 3 to 0: [AAAA]", "send 4 to 0: [A]"])
    machine.ended(3, reply(.negative(.noAddress, ttl: 300), asked: 12), at: Sample.at(12))
    machine.ended(4, reply(.addresses("192.0.2.2", ttl: 3600), asked: 12), at: Sample.at(12))
    let next = machine.nextInstant()
    #expect(try #require(next) > Sample.at(12 + 2000))
  }

  @Test func `on another network a family that the former one answered is asked for once the other has been`() {
    var machine = machine { $0.families = .any }
    machine.keepAlive([Self.host], at: Sample.at(0))
    machine.timePassed(at: Sample.at(0))
    machine.ended(1, reply(.addresses("2001:db8::1", ttl: 3600)), at: Sample.at(0))
    _ = words(&machine)
    machine.networkDidChange(at: Sample.at(1))
    #expect(words(&machine) == ["cancel 2", "send 3 to 0: [A]"])
    machine.ended(3, reply(.addresses("192.0.2.1", ttl: 3600), asked: 1), at: Sample.at(1.1))
    machine.timePassed(at: Sample.at(1.1))
    #expect(words(&machine) == ["send 4 to 0: [AAAA]"])
  }

  @Test func `a kept-alive name that is forgotten during its refresh is asked for anew, in both families`() throws {
    var machine = machine { $0.families = .any }
    machine.keepAlive([Self.host], at: Sample.at(0))
    machine.timePassed(at: Sample.at(0))
    machine.ended(1, reply(.addresses("2001:db8::1", ttl: 3600)), at: Sample.at(0))
    machine.ended(2, reply(.addresses("192.0.2.1", ttl: 20)), at: Sample.at(0))
    machine.timePassed(at: Sample.at(18))
    #expect(words(&machine).suffix(1) == ["send 3 to 0: [A]"])
    machine.invalidate(Self.host, at: Sample.at(18))
    machine.timePassed(at: Sample.at(18))
    #expect(words(&machine) == ["send 4 to 0: [AAAA]", "send 5 to 0: [A]"])
    // The reply to the old question decides nothing.
    machine.ended(3, reply(.addresses("192.0.2.9", ttl: 20), asked: 18), at: Sample.at(18))
    machine.ended(4, reply(.addresses("2001:db8::1", ttl: 3600), asked: 18), at: Sample.at(19))
    machine.ended(5, reply(.addresses("192.0.2.2", ttl: 20), asked: 18), at: Sample.at(19))
    let next = machine.nextInstant()
    #expect(try #require(next) > Sample.at(30))
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
    let last = words(&machine)
    #expect(last.count == 1 && last.allSatisfy { $0.hasPrefix("answer ") }, "\(last)")
    // At three quarters of its minute, a tenth of that earlier or later.
    let next = machine.nextInstant()
    #expect(machine.questionCount == 0)
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

  @Test func `names that a warm-up added stay when a configuration no longer has them, until others are set`() {
    func settings(_ names: [String]) -> ResolverSettings {
      var configuration = ResolverFixture.configuration(["one"])
      configuration.keepAlive = Set(names.map { Sample.name($0) })
      return ResolverSettings(configuration, system: Unused())
    }
    let names = ["a.test", "b.test"].map { Sample.name($0) }
    var machine = machine()
    machine.update(settings(["a.test", "c.test"]), at: Sample.at(0))
    #expect(machine.keepAlive(adding: Set(names), at: Sample.at(1)) == 0)
    machine.update(settings([]), at: Sample.at(2))
    #expect(machine.keptAlive.names == Set(names))
    machine.keepAlive([], at: Sample.at(3))
    machine.update(settings(["a.test"]), at: Sample.at(4))
    machine.update(settings([]), at: Sample.at(5))
    #expect(machine.keptAlive.names.isEmpty)
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

  @Test func `without providers a name that is kept alive is asked of the system's DNS`() throws {
    var machine = machine {
      $0.providers = []
      $0.families = .ipv4
    }
    machine.keepAlive([Self.host], at: Sample.at(0))
    machine.timePassed(at: Sample.at(0))
    let number = try #require(system(words(&machine)))
    machine.systemAnswered(number, .success(.addresses("192.0.2.1", ttl: 40)), at: Sample.at(0))
    let next = machine.nextInstant()
    #expect(next.map { $0 >= Sample.at(26) && $0 <= Sample.at(34) } == true)
  }

  @Test func `after a lookup with little time a name that is kept alive is asked for once more, and then pauses`() {
    var machine = machine {
      $0.usesSystemDNS = false
      $0.families = .ipv4
    }
    _ = begin(&machine, request(timeout: .seconds(1)))
    machine.keepAlive([Self.host], at: Sample.at(0))
    machine.timePassed(at: Sample.at(0))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    machine.ended(1, late, at: Sample.at(0.98))
    #expect(words(&machine).contains("send 2 to 0: [A]"))
    machine.ended(2, late, at: Sample.at(4.9))
    #expect(words(&machine) == [] && machine.questionCount == 0)
    let next = machine.nextInstant()
    #expect(next.map { $0 > Sample.at(5.5) } == true)
  }

  @Test(arguments: [true, false])
  func `a name that is kept alive is refreshed at once where a store has an expired answer, if it still is`(
    _ isStillKept: Bool
  ) {
    var machine = machine(hasStore: true) { $0.families = .ipv4 }
    machine.keepAlive([Self.host], at: Sample.at(10_000))
    machine.timePassed(at: Sample.at(10_000))
    #expect(words(&machine) == ["store 1"])
    let expired = CacheEntry(
      content: .addresses(Sample.addresses("192.0.2.7")), canonicalName: nil, source: SourceNames.store,
      life: Sample.life(5000, 5100))
    if !isStillKept { machine.keepAlive([], at: Sample.at(10_000)) }
    machine.storeRead(1, .found(expired), at: Sample.at(10_000))
    #expect(words(&machine) == (isStillKept ? ["store 2"] : []))
    guard isStillKept else { return }
    machine.storeRead(2, .found(expired), at: Sample.at(10_000))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    #expect(machine.keptAlive.failing.isEmpty)
  }

  @Test func `of more names to keep alive than the cache has room for, the rest are counted`() {
    var machine = machine { $0.capacity = 2 }
    let names = ["a.test", "b.test", "c.test"].map { Sample.name($0) }
    #expect(machine.keepAlive([names[0], names[2]], at: Sample.at(0)) == 0)
    #expect(machine.keepAlive(Set(names), at: Sample.at(1)) == 1)
    #expect(machine.keptAlive.names == [names[0], names[2]], "who is kept alive stays so")
  }
}
