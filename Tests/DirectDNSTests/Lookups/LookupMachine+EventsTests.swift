// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// Another network, names that are forgotten, and the end.
extension LookupMachineTests {
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

  @Test func `a family of which the old network's servers had nothing to keep is asked for on the new one`() throws {
    var machine = machine { $0.usesSystemDNS = false }
    _ = try #require(begin(&machine, request(.any)))
    machine.ended(1, reply(.negative(.noAddress, ttl: nil)), at: Sample.at(0.5))
    _ = words(&machine)
    machine.networkDidChange(at: Sample.at(1))
    #expect(words(&machine) == ["cancel 2", "send 3 to 0: [A]"])
    machine.ended(3, reply(.addresses("192.0.2.1", ttl: 3600), asked: 1), at: Sample.at(1.5))
    _ = words(&machine)
    _ = try #require(begin(&machine, request(.any), at: 2))
    #expect(words(&machine) == ["send 4 to 0: [AAAA]"])
  }

  // MARK: Names that are forgotten

  @Test func `what was forgotten after a reload does not come back by a query from before both`() throws {
    var machine = machine("one", hasStore: true) { $0.usesSystemDNS = false }
    let caller = try #require(begin(&machine, request()))
    let question = try #require(machine.questions.all.first?.number)
    machine.storeRead(question, .nothing, at: Sample.at(0))
    machine.update(settings("one"), at: Sample.at(1))
    machine.invalidate(Self.host, at: Sample.at(2))
    _ = words(&machine)
    machine.ended(1, reply(.addresses("192.0.2.1")), at: Sample.at(3))
    #expect(words(&machine) == ["answer \(caller): [\"192.0.2.1\"] fresh"])
    #expect(machine.cache.value(Self.host)?.ipv4.entry == nil)
  }

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
    #expect(machine.questionCount == 0)
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
    #expect(asked.count == 1)
    let number = try #require(system(asked))
    machine.systemAnswered(number, .failure(ProviderFailure(.transport, "no name server")), at: Sample.at(2))
    #expect(words(&machine) == ["fail \(caller): upstreamFailed"])
  }

  /// Found by the simulation: it failed although an answer for another caller had come meanwhile.
  @Test func `an answer that came for others while the system's DNS was asked serves`() throws {
    var machine = machine { $0.cache.minimumFailureTTL = .zero }
    let first = try #require(begin(&machine, request()))
    _ = words(&machine)
    machine.ended(1, failed, at: Sample.at(0.1))
    let number = try #require(system(words(&machine)))
    let second = try #require(begin(&machine, request(), at: 0.2))
    #expect(words(&machine) == ["send 2 to 0: [A]"])
    machine.ended(2, reply(.addresses("192.0.2.1"), asked: 0.2), at: Sample.at(0.3))
    #expect(words(&machine) == ["answer \(second): [\"192.0.2.1\"] fresh"])
    machine.systemAnswered(number, .failure(ProviderFailure(.transport, "no name server")), at: Sample.at(0.4))
    #expect(words(&machine) == ["answer \(first): [\"192.0.2.1\"] fresh"])
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
    #expect(machine.questionCount == 0 && machine.lookupCount == 0 && machine.nextInstant() == nil)
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
}
