// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// What is due when, and what follows from it before the machine rests.
extension LookupMachineTests {
  @Test func `of what is due at one instant a lookup comes first, and a name that is kept alive last`() {
    var machine = machine(hasStore: true) {
      $0.storeTimeout = .seconds(1)
      $0.usesSystemDNS = false
    }
    machine.keepAlive([Sample.name("kept.example")], at: Sample.at(1))
    let number = begin(&machine, request(timeout: .seconds(1)))
    #expect(machine.nextInstant() == Sample.at(1))
    var due: [String] = []
    while let next = machine.takeDue(at: Sample.at(1)) {
      switch next {
      case .lookup(let number): due.append("lookup \(number)")
      case .store: due.append("store")
      case .keepAlive(let host): due.append("\(host)")
      }
    }
    #expect(due == ["lookup \(number ?? 0)", "store", "kept.example"])
  }

  @Test func `nothing is due before its time`() {
    var machine = machine { $0.usesSystemDNS = false }
    _ = begin(&machine, request(timeout: .seconds(1)))
    #expect(machine.takeDue(at: Sample.at(1).before) == nil && machine.takeDue(at: Sample.at(1)) != nil)
  }

  @Test func `lookups and questions have ascending numbers, and no two the same`() {
    var machine = machine()
    let numbers = (0..<3).compactMap { _ in begin(&machine, request(.any)) }
    #expect(numbers == numbers.sorted())
    // One row for all, since the servers are asked under the numbers of several kinds.
    let all = numbers.map(\.rawValue) + machine.questions.all.map(\.number.rawValue)
    #expect(Set(all).count == 5)
  }

  @Test func `a caller who has read the former settings is answered by the present ones`() throws {
    let former = ResolverSettings(ResolverFixture.configuration(["one"]), system: Unused())
    var machine = machine { $0.localZones.pins = [Self.host: Sample.addresses("192.0.2.9")] }
    guard case .known(.success(let resolution)) = machine.begin(request(), routedBy: former, at: Sample.at(0)) else {
      Issue.record("it is asked for")
      return
    }
    #expect(resolution.texts == ["192.0.2.9"])
    let renewal = machine.renew(request(), routedBy: former, isPatient: true, at: Sample.at(0))
    let direct = machine.askSystemAlone(request(), routedBy: former, at: Sample.at(0))
    machine.refreshBehind(request(), routedBy: former, at: Sample.at(0))
    #expect(words(&machine) == [renewal, direct].map { "answer \($0): [\"192.0.2.9\"] fresh" })
    #expect(machine.questionCount == 0)
  }

  @Test func `the zones are not searched again for a caller who has read the present settings`() {
    var machine = machine { $0.localZones.pins = [Self.host: Sample.addresses("192.0.2.9")] }
    let present = machine.settings
    // Its route is none that the zones would give.
    guard case .waiting = machine.begin(request(), routedBy: present, at: Sample.at(0)) else {
      Issue.record("it was routed again")
      return
    }
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    machine.update(ResolverSettings(present.configuration, system: Unused()), at: Sample.at(1))
    guard case .known = machine.begin(request(), routedBy: present, at: Sample.at(1)) else {
      Issue.record("it was not routed again")
      return
    }
  }

  @Test(arguments: [true, false])
  func `who neither measures nor observes is told what the log says alone`(_ isObserved: Bool) {
    let settings = ResolverSettings(ResolverFixture.configuration(["one"]), system: Unused())
    let cache = AnswerCache(policy: settings.configuration.cache, capacity: 100)
    var machine = LookupMachine(
      settings, cache: cache, hasStore: false, hasLeases: false, isObserved: isObserved, seed: 1, at: Sample.at(0))
    _ = LookupScript(providers: .fails).way(of: &machine, at: 0) { $0.begin(request(), at: $1) }
    machine.refreshBehind(request(), at: Sample.at(50))
    var told: [String] = []
    for case .report(let notice) in machine.takeActions() {
      if case .refresh = notice { told.append("refresh") }
    }
    #expect(told == (isObserved ? ["refresh"] : []))
  }
}
