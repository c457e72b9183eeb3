// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct KeepAliveMachineTests {
  private let host = Sample.name("www.example.net")

  private func machine(
    _ names: [HostName] = [], seed: UInt64 = 1, at seconds: Double = 0,
    configure: (inout ResolverConfiguration) -> Void = { _ in }
  ) -> KeepAliveMachine {
    var machine = KeepAliveMachine(configuration(configure), seed: seed)
    for host in machine.set(Set(names)) { machine.begin(host, nothing, at: Sample.at(seconds)) }
    return machine
  }

  private func configuration(_ configure: (inout ResolverConfiguration) -> Void) -> ResolverConfiguration {
    var configuration = ResolverFixture.configuration(["one"])
    configuration.families = .any
    configure(&configuration)
    return configuration
  }

  private let nothing = KeepAliveMachine.Known()

  /// A cache's name with addresses that were asked for at an instant, and live so many seconds; nil for a family of
  /// which nothing is known, and a negative number for one that has no address.
  private func known(
    _ ipv4: Double?, _ ipv6: Double?, asked: Double = 0, fresh: AddressFamilies = .any
  ) -> KeepAliveMachine.Known {
    func slot(_ ttl: Double?, _ address: String) -> CachedName.Slot {
      guard let ttl else { return .unknown }
      let content = ttl < 0 ? Answer.Content.negative(.noAddress) : .addresses([Sample.address(address)])
      return .entry(
        CacheEntry(
          content: content, canonicalName: nil, source: 2, life: Sample.life(asked, asked + abs(ttl))))
    }
    return KeepAliveMachine.Known(
      name: CachedName(ipv4: slot(ipv4, "192.0.2.1"), ipv6: slot(ipv6, "2001:db8::1")), fresh: fresh)
  }

  private func due(
    _ machine: inout KeepAliveMachine, _ known: KeepAliveMachine.Known? = nil, mayAsk: Bool = true,
    at seconds: Double
  ) -> AddressFamilies? {
    machine.takeDue(at: Sample.at(seconds)).map {
      machine.due($0, known ?? nothing, mayAsk: mayAsk, at: Sample.at(seconds))
    }
  }

  private func answered(
    _ machine: inout KeepAliveMachine, _ family: IPAddress.Family, isKept: Bool,
    _ known: KeepAliveMachine.Known? = nil, at seconds: Double
  ) {
    machine.answered(AddressQuestion(host, family), isKept: isKept, known ?? nothing, at: Sample.at(seconds))
  }

  private func next(_ machine: inout KeepAliveMachine) throws -> Double {
    let next = machine.next()
    return Double(try #require(next).nanoseconds) / 1e9
  }

  // MARK: The names

  @Test func `those that are new are told, and those that are gone are due no more`() {
    var machine = machine()
    let names = ["a.test", "b.test", "c.test"].map { Sample.name($0) }
    #expect(machine.set([names[2], names[0]]) == [names[0], names[2]])
    for name in machine.names.sorted() { machine.begin(name, nothing, at: Sample.at(0)) }
    #expect(machine.set([names[1], names[2]]) == [names[1]])
    #expect(machine.names == [names[1], names[2]])
    #expect(machine.takeDue(at: Sample.at(0)) == names[2] && machine.takeDue(at: Sample.at(9)) == nil)
  }

  @Test func `where there is no room for all, those stay that are kept alive already`() {
    let names = ["a.test", "b.test", "c.test"].map { Sample.name($0) }
    let machine = machine([names[2]]) { $0.capacity = 2 }
    #expect(machine.fitting(Set(names)) == [names[0], names[2]])
    #expect(machine.fitting([names[0], names[1]]) == [names[0], names[1]])
  }

  @Test func `another configuration takes its own names along, and not those that were added`() {
    let (own, shared, added) = (Sample.name("own.test"), Sample.name("shared.test"), Sample.name("added.test"))
    var machine = machine([own, shared, added])
    machine.keepAdded([shared, added])
    let new = Sample.name("new.test")
    #expect(machine.names([new], inPlaceOf: [own, shared]) == [new, shared, added])
  }

  // MARK: When each is due

  @Test(arguments: [AddressFamilies.any, .ipv4, .ipv6])
  func `a name of which nothing is known is due at once, in each family that is wanted`(_ families: AddressFamilies) {
    var machine = machine([host], at: 7) { $0.families = families }
    #expect(machine.next() == Sample.at(7))
    #expect(due(&machine, at: 7) == families)
    #expect(machine.next() == nil, "the answers decide when again")
  }

  @Test func `each family is due by its own lifetime, once both have been answered`() throws {
    var machine = machine([host])
    _ = due(&machine, at: 0)
    answered(&machine, .ipv6, isKept: true, known(nil, 1000), at: 0)
    #expect(machine.next() == nil)
    answered(&machine, .ipv4, isKept: true, known(100, 1000), at: 0)
    let first = try next(&machine)
    #expect((65...85).contains(first))
    #expect(due(&machine, known(100, 1000), at: first) == .ipv4)
    answered(&machine, .ipv4, isKept: true, known(1, 1000, asked: first), at: first)
    #expect((first + 0.65...first + 0.85).contains(try next(&machine)))
  }

  @Test(arguments: [(0.05, AddressFamilies.any), (0.051, .ipv4)])
  func `families that were asked for one right after the other stay together`(
    _ later: Double, _ families: AddressFamilies
  ) throws {
    func entry(_ address: String, asked: Double) -> CachedName.Slot {
      .entry(
        CacheEntry(
          content: .addresses([Sample.address(address)]), canonicalName: nil, source: 2,
          life: Sample.life(asked, asked + 100)))
    }
    let both = KeepAliveMachine.Known(
      name: CachedName(ipv4: entry("192.0.2.1", asked: 0), ipv6: entry("2001:db8::1", asked: later)), fresh: .any)
    var machine = machine([host])
    _ = due(&machine, at: 0)
    for family in IPAddress.Family.allCases { answered(&machine, family, isKept: true, both, at: 1) }
    let instant = try next(&machine)
    #expect(due(&machine, both, at: instant) == families)
  }

  @Test func `what a lookup has refreshed meanwhile is not asked for`() throws {
    var machine = machine([host])
    #expect(due(&machine, known(100, 1000), at: 1) == [])
    #expect((65...85).contains(try next(&machine)))
  }

  @Test func `what is no longer fresh is asked for, however young it is`() {
    var machine = machine([host])
    #expect(due(&machine, known(100, 1000, fresh: .ipv4), at: 1) == .ipv6)
  }

  @Test func `a family that has no address goes along with the other, and one that fails waits for itself`() throws {
    for (isKept, ipv6) in [(true, -5.0), (false, nil)] {
      var machine = machine([host])
      _ = due(&machine, at: 0)
      answered(&machine, .ipv6, isKept: isKept, known(nil, ipv6), at: 0)
      answered(&machine, .ipv4, isKept: true, known(100, ipv6), at: 0)
      let instant = try next(&machine)
      #expect((65...85).contains(instant))
      #expect(due(&machine, known(100, ipv6, fresh: []), at: instant) == .any)
    }
    var machine = machine([host])
    _ = due(&machine, at: 0)
    // It has an address, and could not be refreshed.
    answered(&machine, .ipv6, isKept: false, known(nil, 10, fresh: []), at: 0)
    answered(&machine, .ipv4, isKept: true, known(100, 10, fresh: .ipv4), at: 0)
    #expect(machine.next() == Sample.at(1))
  }

  // MARK: Failures

  @Test func `after failures it waits longer and longer, and an answer ends that`() throws {
    var machine = machine([host]) { $0.families = .ipv4 }
    var now = 0.0
    for pause in [1.0, 2, 4, 8, 16, 30, 30] {
      #expect(due(&machine, at: now) == .ipv4)
      answered(&machine, .ipv4, isKept: false, at: now)
      #expect(machine.failing == [host])
      #expect(machine.next() == Sample.at(now + pause))
      now += pause
    }
    _ = due(&machine, at: now)
    answered(&machine, .ipv4, isKept: true, known(100, nil, asked: now), at: now)
    #expect(machine.failing.isEmpty && machine.failed.isEmpty)
    #expect((now + 65...now + 85).contains(try next(&machine)))
  }

  @Test func `an answer that another brought meanwhile is no failure`() {
    var machine = machine([host]) { $0.families = .ipv4 }
    _ = due(&machine, at: 0)
    answered(&machine, .ipv4, isKept: false, known(100, nil), at: 1)
    #expect(machine.failing.isEmpty)
  }

  @Test func `where nobody may be asked nothing is, and that counts as a failure`() {
    var machine = machine([host])
    #expect(due(&machine, mayAsk: false, at: 0) == [])
    #expect(machine.failing == [host] && machine.next() == Sample.at(1))
  }

  @Test func `an answer that nobody asked for decides nothing`() {
    var machine = machine([host])
    answered(&machine, .ipv4, isKept: false, at: 0)
    #expect(machine.failing.isEmpty && machine.next() == Sample.at(0))
  }

  // MARK: Sooner

  /// A machine one of whose names has failed so often that it pauses for 30 s, from 61 s on.
  private func pausing() -> KeepAliveMachine {
    var machine = machine([host]) { $0.families = .ipv4 }
    for now in [0.0, 1, 3, 7, 15, 31, 61] {
      _ = due(&machine, at: now)
      answered(&machine, .ipv4, isKept: false, at: now)
    }
    #expect(machine.next() == Sample.at(91))
    return machine
  }

  @Test func `those that failed are asked for within two seconds, when servers have changed`() throws {
    var machine = pausing()
    machine.refreshSoon(machine.failing, at: Sample.at(65))
    #expect((65...67).contains(try next(&machine)))
    var fine = self.machine([host])
    #expect(due(&fine, known(100, 100), at: 0) == [])
    let before = try next(&fine)
    fine.refreshSoon(fine.failing, at: Sample.at(1))
    #expect(try next(&fine) == before)
    fine.refreshSoon([host], at: Sample.at(1))
    #expect((1...3).contains(try next(&fine)))
  }

  @Test func `a question that a server failed is asked once it answers again, and not before it may be`() {
    for (released, expected) in [(70.0, 70.0), (60, 65), (95, 91)] {
      var machine = pausing()
      #expect(machine.failed == [AddressQuestion(host, .ipv4)])
      for question in machine.failed { machine.released(question, from: Sample.at(released), at: Sample.at(65)) }
      #expect(machine.next() == Sample.at(expected))
    }
  }

  @Test func `so it is where the other family, which was asked for along with it, is answered only then`() {
    var machine = machine([host])
    for now in [0.0, 1, 3, 7] {
      #expect(due(&machine, at: now) == .any)
      for family in IPAddress.Family.allCases { answered(&machine, family, isKept: false, at: now) }
    }
    #expect(due(&machine, at: 15) == .any)
    answered(&machine, .ipv4, isKept: false, at: 15)
    #expect(machine.failed.contains(AddressQuestion(host, .ipv4)))
    for question in machine.failed { machine.released(question, from: Sample.at(17), at: Sample.at(16)) }
    #expect(machine.next() == nil)
    let known = known(10, 1000, asked: 15, fresh: .ipv6)
    answered(&machine, .ipv6, isKept: true, known, at: 16)
    #expect(machine.next() == Sample.at(17))
    #expect(due(&machine, known, at: 17) == .ipv4)
  }

  @Test func `a name that is forgotten is asked for anew at once, and what was under way decides nothing`() {
    var machine = machine([host])
    _ = due(&machine, at: 0)
    machine.beginAnew(host, at: Sample.at(1))
    #expect(machine.next().map { $0 <= Sample.at(1) } == true)
    answered(&machine, .ipv4, isKept: false, at: 1)
    #expect(machine.failing.isEmpty)
    #expect(due(&machine, at: 1) == .any)
  }

  @Test func `an answer that is forgotten is asked for at once, but for what is under way`() {
    var machine = machine([host])
    #expect(due(&machine, known(1000, nil), at: 0) == .ipv6)
    machine.refreshSoon([host], within: .zero, at: Sample.at(1))
    #expect(machine.next() == nil)
    let cases: [(KeepAliveMachine.Known, AddressFamilies)] = [
      (known(nil, 1000), .ipv4), (known(1000, 1000, fresh: .ipv6), .ipv4), (known(1000, 1000), []),
    ]
    for (known, asked) in cases {
      var machine = machine
      answered(&machine, .ipv6, isKept: true, known, at: 2)
      #expect(due(&machine, known, at: 2) == asked)
    }
  }

  // MARK: By chance

  @Test func `names that were asked for together are due apart, and the same ones at the same time by the same seed`()
    throws
  {
    func instants(seed: UInt64) throws -> [Double] {
      let names = (0..<40).map { Sample.name("n\($0).test") }
      var machine = machine(names, seed: seed)
      for _ in names { #expect(due(&machine, known(1000, 1000), at: 1) == []) }
      return try names.map { _ in
        let instant = try next(&machine)
        _ = machine.takeDue(at: Sample.at(1000))
        return instant
      }
    }
    let first = try instants(seed: 3)
    #expect(first.allSatisfy { (650...850).contains($0) } && Set(first).count == 40)
    #expect(try instants(seed: 3) == first)
    #expect(try instants(seed: 4) != first)
  }
}
